"""Probes media with PyAV."""

from __future__ import annotations

from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from citekit.adapters.drivers.pyav import PIXEL_LIMIT, library, opened
from citekit.adapters.drivers.pyav_streams import codec_name, ends, origin, picture, played, readable, sound
from citekit.adapters.probing.embedded_subtitles import embedded_cues
from citekit.domain.errors import SourceUnsupported
from citekit.domain.ports.media_probe import Cue, MediaFacts

if TYPE_CHECKING:
    from av.container import InputContainer

_KEPT_TAGS = ("title", "artist", "album", "album_artist", "composer", "date", "genre", "track", "comment")
_TAG_LIMIT = 500
_CHAPTER_LIMIT = 10_000
_TRIES = 200


class PyAvProbe:
    """Asks FFmpeg's demuxers, and the packets where the container may be wrong."""

    def probe(self, path: Path) -> MediaFacts:
        """See `MediaProbe.probe`."""
        with opened(path) as container:
            streams = played(container)
            shown, heard = picture(container), sound(container)
            size = None if shown is None else _upright_size(container, shown)
            if not any(_first_frame(container, stream) for stream in streams):
                raise SourceUnsupported("Nothing in the file can be played: it is damaged.")
            end = ends(container)
            return MediaFacts(
                duration=round(end.playable, 6),
                declared=end.declared,
                container=container.format.name.split(",")[0],
                video_codec=None if shown is None else codec_name(shown),
                audio_codec=None if heard is None else codec_name(heard),
                size=size,
                frame_rate=None if shown is None else _rate(shown),
                chapters=_chapters(container, end.playable),
                subtitles=embedded_cues(container, end.playable),
                tags=_tags(container, shown or heard),
            )


def _rate(stream: Any) -> float | None:
    rate = stream.average_rate or stream.guessed_rate
    return round(float(rate), 6) if rate else None


def _upright_size(container: InputContainer, stream: Any) -> tuple[int, int]:
    """Width and height after the container's rotation, which is known with the first picture."""
    width, height = stream.width, stream.height
    if width * height > PIXEL_LIMIT:
        raise SourceUnsupported(f"The picture is too large: {width} x {height} is more than {PIXEL_LIMIT} pixels.")
    frame = _first_frame(container, stream)
    quarter = frame is not None and round(frame.rotation / 90) % 2
    return (height, width) if quarter else (width, height)


def _first_frame(container: InputContainer, stream: Any) -> Any | None:
    """The first picture or sound that can be decoded, None where there is none among the first packets."""
    container.seek(int(origin(container) * 1_000_000), backward=True)
    for packet in islice(readable(container, [stream]), _TRIES):
        try:
            frames = packet.decode()
        except library().error.FFmpegError:
            continue
        if frames:
            return frames[0]
    return None


def _chapters(container: InputContainer, duration: float) -> list[Cue]:
    """Chapter marks inside the file, in order; ends that are missing or overlap are those of the next start."""
    zero = origin(container)
    marks = []
    for mark in container.chapters()[:_CHAPTER_LIMIT]:
        base = mark["time_base"] or Fraction(1, 1000)
        start, end = (max(float(mark["start"] * base) - zero, 0.0), float(mark["end"] * base) - zero)
        if start < duration:
            marks.append((start, min(end, duration), mark["metadata"].get("title", "").strip()))
    marks.sort()
    cues = []
    for number, (start, end, title) in enumerate(marks, 1):
        following = marks[number][0] if number < len(marks) else duration
        stop = min(end, following) if end > start else following
        if stop > start:
            cues.append(Cue(start, stop, title))
    return cues


def _tags(container: InputContainer, stream: Any) -> dict[str, str]:
    """The container's descriptive tags (an Ogg file keeps them at its stream), in lower case."""
    found = stream.metadata if container.format.name == "ogg" and not container.metadata else container.metadata
    plain = {key.lower(): " ".join(str(value).split())[:_TAG_LIMIT] for key, value in found.items()}
    return {key: plain[key] for key in _KEPT_TAGS if plain.get(key)}
