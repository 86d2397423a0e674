"""Defines the port that reads the metadata of video and audio files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from attrs import field, frozen


@frozen
class Cue:
    """A time range, in seconds, with a text: a chapter of a media file or one subtitle.

    `voice` is the only speaker of a subtitle (WebVTT, `<v Anna>`).
    """

    start: float
    end: float
    text: str
    voice: str = ""


def _tracks(tracks: Sequence[Sequence[Cue]]) -> tuple[tuple[Cue, ...], ...]:
    return tuple(tuple(cues) for cues in tracks)


@frozen(kw_only=True)
class MediaFacts:
    """The metadata of a media file.

    `duration` is the playable duration in seconds, and `declared` is the duration that the container states. `size` is
    the (width, height) of the upright picture in stored pixels, or None without a picture. `subtitles` is the default
    track, and `other_subtitles` has the other text tracks. `remarks` are sentences that a user should read.
    """

    duration: float
    declared: float | None
    container: str
    video_codec: str | None
    audio_codec: str | None
    size: tuple[int, int] | None
    frame_rate: float | None
    chapters: Sequence[Cue] = field(converter=tuple[Cue, ...])
    subtitles: Sequence[Cue] = field(default=(), converter=tuple[Cue, ...])
    other_subtitles: Sequence[Sequence[Cue]] = field(default=(), converter=_tracks)
    tags: Mapping[str, str] = field(factory=dict)
    remarks: Sequence[str] = field(default=(), converter=tuple[str, ...])


class MediaProbe(Protocol):
    """A component that reads the metadata of media files. Other files to which a media file refers are not opened."""

    def probe(self, path: Path) -> MediaFacts:
        """Return the metadata of the media file.

        Raise `SourceUnsupported` if nothing in the file can be played, or `SourceUnreadable` if it cannot be read.
        """
