"""The port that reads the metadata of video and audio files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from attrs import field, frozen


@frozen
class Cue:
    """A time range with a text, in seconds: a chapter of the container, or one subtitle."""

    start: float
    end: float
    text: str


def _tracks(tracks: Sequence[Sequence[Cue]]) -> tuple[tuple[Cue, ...], ...]:
    return tuple(tuple(cues) for cues in tracks)


@frozen(kw_only=True)
class MediaFacts:
    """Metadata of a media file. `duration` in seconds is the playable one, from the packets if the container is wrong.

    `declared` is the duration in the container. `size` is (width, height) in stored pixels, upright, or None without a
    picture. `subtitles` is the track that a player shows by default, and `other_subtitles` has each further text track.
    `remarks` are sentences about what a player would choose and about content without a time.
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
    """Reads metadata. It reads only what it needs, and opens no file that the media file refers to."""

    def probe(self, path: Path) -> MediaFacts:
        """Return the metadata. Raises `SourceUnsupported` if nothing in the file can be played."""
