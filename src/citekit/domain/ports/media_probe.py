"""Tells what a video or audio file holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from attrs import field, frozen


@frozen
class Cue:
    """A titled stretch of time, in seconds: a chapter mark of the container, or one subtitle."""

    start: float
    end: float
    text: str


def _tracks(tracks: Sequence[Sequence[Cue]]) -> tuple[tuple[Cue, ...], ...]:
    return tuple(tuple(cues) for cues in tracks)


@frozen(kw_only=True)
class MediaFacts:
    """`duration` in seconds is that of what can really be played: from the packets where the container is wrong.

    `declared` is what the container says. `size` is (width, height) in stored pixels, upright, None without a picture.
    `subtitles` are those that a player shows without being asked, `other_subtitles` each further track of text.
    `remarks` are sentences about what a player would choose, or what of the file has no time of its own.
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
    """Reads only what it must; opens nothing that the file points to."""

    def probe(self, path: Path) -> MediaFacts:
        """The facts. Raises `SourceUnsupported` where nothing in the file can be played."""
