"""Probes media with PyAV.

What a reader of the map should know of the streams of a container: which is used, and whether its times can be trusted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from citekit.adapters.formats.media.chapters import read_chapters
from citekit.adapters.formats.media.embedded_subtitles import embedded_cues, preferred_subtitles, text_subtitle_streams
from citekit.adapters.formats.media.streams import (
    audio_stream,
    audio_streams,
    codec_name,
    decode_packet,
    flush_decoder,
    measure_duration,
    playable_streams,
    read_packets,
    start_time,
    video_stream,
    video_streams,
)
from citekit.adapters.libraries.pyav import PIXEL_LIMIT, open_media
from citekit.domain.errors import SourceUnsupported
from citekit.domain.numbers import shortest
from citekit.domain.ports.media_probe import MediaFacts

if TYPE_CHECKING:
    from av.container import InputContainer


SCANNED_FORMATS = frozenset(("mpegts", "mpeg"))
"""Formats that are recorded as they come, and may be joined anywhere: their times may jump."""

SCAN_LIMIT = 2**30
"""Bytes of the largest file that is read through for that."""

FORWARD_JUMP = 10.0
"""Seconds without a packet that are a jump forward: radio and pauses of encoders leave out less."""

BACKWARD_JUMP = 1.0
"""Seconds that times go back at a jump: less is the order of packets."""

_REPORTED_JUMPS = 3


def stream_remarks(container: InputContainer, subtitles: Sequence[Any], read: Any | None) -> list[str]:
    """Sentences; `read` is the one of the text streams `subtitles` whose cues are taken."""
    shown, heard = video_streams(container), audio_streams(container)
    used = playable_streams(container)
    chosen = [
        *_stream_choice("video", shown, used),
        *_stream_choice("audio", heard, used),
        *_stream_choice("subtitle", subtitles, [read]),
    ]
    return [*chosen, *_pixel_aspect(used[0]), *_timestamp_jumps(container)]


def _stream_choice(kind: str, streams: Sequence[Any], used: Sequence[Any]) -> list[str]:
    place = next((n for n, stream in enumerate(streams, 1) if any(stream is each for each in used)), None)
    if len(streams) < 2 or place is None:
        return []
    language = streams[place - 1].metadata.get("language", "und")
    named = "" if language == "und" else f" ({language})"
    return [f"Of {len(streams)} {kind} streams, number {place}{named} is used, as players do without being asked."]


def _pixel_aspect(stream: Any) -> list[str]:
    ratio = getattr(stream, "sample_aspect_ratio", None)
    if not ratio or ratio == 1:
        return []
    width = round(stream.width * ratio)
    return [f"Its pixels are not square: players show {stream.width} x {stream.height} as {width} x {stream.height}."]


def _timestamp_jumps(container: InputContainer) -> Iterator[str]:
    """Where the times of the packets are broken off."""
    if container.format.name not in SCANNED_FORMATS or container.size > SCAN_LIMIT:
        return
    zero = start_time(container)
    stream = playable_streams(container)[0]
    container.seek(int(zero * 1_000_000), backward=True)
    last: float | None = None
    found = 0
    for packet in read_packets(container, [stream]):
        time = float((packet.dts if packet.dts is not None else packet.pts) * packet.time_base) - zero
        if last is not None and not -BACKWARD_JUMP < time - last < FORWARD_JUMP and found < _REPORTED_JUMPS:
            found += 1
            yield _describe_jump(last, time)
        last = time


def _describe_jump(last: float, time: float) -> str:
    edges = f"from {shortest(round(max(last, 0.0), 1))} s to {shortest(round(max(time, 0.0), 1))} s"
    if time > last:
        return f"The times of its packets jump {edges}: nothing lies between."
    return (
        f"The times of its packets go back {edges}: what comes after cannot be told by time, and may be missing here."
    )


_TAGS = (
    "title", "artist", "album", "album_artist", "composer", "date", "genre", "track", "language", "comment", "description"
)  # fmt: skip
_TAG_ALIASES = {"comments": "comment", "year": "date", "date_released": "date", "date_recorded": "date"}
_TAG_LIMIT = 500
_PACKETS_TRIED = 200


class PyAvProbe:
    """Asks FFmpeg's demuxers, and the packets where the container may be wrong."""

    def probe(self, path: Path) -> MediaFacts:
        """See `MediaProbe.probe`."""
        with open_media(path) as container:
            streams = playable_streams(container)
            shown, heard = video_stream(container), audio_stream(container)
            size = None if shown is None else _upright_size(container, shown)
            if not any(_first_frame(container, stream) for stream in streams):
                raise SourceUnsupported("Nothing in the file can be played: it is empty or damaged.")
            end = measure_duration(container)
            texts = text_subtitle_streams(container)
            read = preferred_subtitles(texts)
            first, *others = embedded_cues(
                container, sorted(texts, key=lambda each: each is not read), end.playable
            ) or [[]]
            return MediaFacts(
                duration=round(end.playable, 6),
                declared=end.declared,
                container=container.format.name.split(",")[0],
                video_codec=None if shown is None else codec_name(shown),
                audio_codec=None if heard is None else codec_name(heard),
                size=size,
                frame_rate=None if shown is None else _frame_rate(shown),
                chapters=read_chapters(container, path, end.playable),
                subtitles=first,
                other_subtitles=others,
                tags=_tags(container, shown or heard, heard or shown),
                remarks=stream_remarks(container, texts, read),
            )


def _frame_rate(stream: Any) -> float | None:
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
    """The first picture or sound that can be decoded, None where there is none among the first packets.

    Gone back to is what comes before second 0: there may be what a decoder needs, and nowhere else in a stream that
    refreshes its pictures bit by bit. A decoder may hold the only picture back until it is told that none follows.
    """
    container.seek(min(int(start_time(container) * 1_000_000), 0), backward=True)
    for packet in islice(read_packets(container, [stream]), _PACKETS_TRIED):
        frames = decode_packet(stream, packet)
        if frames:
            return frames[0]
    return next(iter(flush_decoder(stream)), None)


def _tags(container: InputContainer, stream: Any, spoken: Any) -> dict[str, str]:
    """The container's descriptive tags (an Ogg file keeps them at its stream), in lower case.

    The language is that of the sound where the container says none: `und` (ISO 639-2) is none.
    """
    found = stream.metadata if container.format.name == "ogg" and not container.metadata else container.metadata
    plain = {key.lower(): " ".join(str(value).split())[:_TAG_LIMIT] for key, value in found.items()}
    plain = {_TAG_ALIASES.get(key, key): value for key, value in plain.items()} | plain
    if not plain.get("language"):
        plain["language"] = str(spoken.metadata.get("language", ""))
    if plain["language"] == "und":
        del plain["language"]
    return {key: plain[key] for key in _TAGS if plain.get(key)}
