"""Reads the properties of video and audio files with PyAV, and reports problems in their timestamps."""

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
"""Broadcast formats, which can be joined anywhere, so their timestamps can jump."""

SCAN_LIMIT = 2**30
"""The maximum size in bytes of a file that is scanned for jumps."""

FORWARD_JUMP = 10.0
"""Seconds without a packet that count as a forward jump. Gaps from bad reception are usually shorter."""

BACKWARD_JUMP = 1.0
"""The minimum number of seconds by which times go back at a jump. Smaller steps come from packet reordering."""

_REPORTED_JUMPS = 3

_TAGS = (
    "title", "artist", "album", "album_artist", "composer", "date", "genre", "track", "language", "comment", "description"
)  # fmt: skip
_TAG_ALIASES = {"comments": "comment", "year": "date", "date_released": "date", "date_recorded": "date"}
_TAG_LIMIT = 500
_PACKETS_TRIED = 200


def stream_remarks(container: InputContainer, subtitles: Sequence[Any], chosen: Any | None) -> list[str]:
    """Return remarks about which streams of the file are used, and about problems in their timestamps.

    `subtitles` are the text subtitle streams, and `chosen` is the stream among them whose cues are used.
    """
    video, audio = video_streams(container), audio_streams(container)
    used = playable_streams(container)
    choices = [
        *_stream_choice("video", video, used),
        *_stream_choice("audio", audio, used),
        *_stream_choice("subtitle", subtitles, [chosen]),
    ]
    unknown = sum(each.codec_context is None for each in (*container.streams.video, *container.streams.audio))
    if unknown:
        what = (
            "1 stream of an unknown codec, which is"
            if unknown == 1
            else f"{unknown} streams of unknown codecs, which are"
        )
        choices.append(f"The file has {what} left out.")
    return [*choices, *_pixel_aspect(used[0]), *_timestamp_jumps(container)]


def _stream_choice(kind: str, streams: Sequence[Any], used: Sequence[Any]) -> list[str]:
    number = next((n for n, stream in enumerate(streams, 1) if any(stream is each for each in used)), None)
    if len(streams) < 2 or number is None:
        return []
    language = streams[number - 1].metadata.get("language", "und")
    in_language = "" if language == "und" else f" ({language})"
    why = ", unless a sidecar file has subtitles" if kind == "subtitle" else ", because players choose it by default"
    return [f"The file has {len(streams)} {kind} streams. Number {number}{in_language} is used{why}."]


def _pixel_aspect(stream: Any) -> list[str]:
    ratio = getattr(stream, "sample_aspect_ratio", None)
    if not ratio or ratio == 1:
        return []
    width = round(stream.width * ratio)
    return [f"The pixels are not square: players show {stream.width} x {stream.height} as {width} x {stream.height}."]


def _timestamp_jumps(container: InputContainer) -> Iterator[str]:
    """Yield a remark for each of the first `_REPORTED_JUMPS` jumps in the timestamps of a broadcast recording."""
    if container.format.name not in SCANNED_FORMATS or container.size > SCAN_LIMIT:
        return
    zero = start_time(container)
    stream = playable_streams(container)[0]
    container.seek(int(zero * 1_000_000), backward=True)
    previous: float | None = None
    reported = 0
    for packet in read_packets(container, [stream]):
        time = float((packet.dts if packet.dts is not None else packet.pts) * packet.time_base) - zero
        if previous is not None and not -BACKWARD_JUMP < time - previous < FORWARD_JUMP and reported < _REPORTED_JUMPS:
            reported += 1
            yield _describe_jump(previous, time)
        previous = time


def _describe_jump(previous: float, time: float) -> str:
    edges = f"from {shortest(round(max(previous, 0.0), 1))} s to {shortest(round(max(time, 0.0), 1))} s"
    if time > previous:
        return f"The packet times jump {edges}: the recording probably has a gap there."
    return f"The packet times go back {edges}, so later times are ambiguous, and parts can be missing."


class PyAvProbe:
    """Reads the properties of a video or audio file with FFmpeg."""

    def probe(self, path: Path) -> MediaFacts:
        """See `MediaProbe.probe`."""
        with open_media(path) as container:
            streams = playable_streams(container)
            video, audio = video_stream(container), audio_stream(container)
            size = None if video is None else _upright_size(container, video)
            if not any(_first_frame(container, stream) for stream in streams):
                raise SourceUnsupported(f"{path.name} cannot be played: none of its first frames can be decoded.")
            duration = measure_duration(container)
            texts = text_subtitle_streams(container)
            chosen = preferred_subtitles(texts)
            first, *others = embedded_cues(
                container, sorted(texts, key=lambda each: each is not chosen), duration.playable
            ) or [[]]
            return MediaFacts(
                duration=round(duration.playable, 6),
                declared=duration.declared,
                container=container.format.name.split(",")[0],
                video_codec=None if video is None else codec_name(video),
                audio_codec=None if audio is None else codec_name(audio),
                size=size,
                frame_rate=None if video is None else _frame_rate(video),
                chapters=read_chapters(container, path, duration.playable),
                subtitles=first,
                other_subtitles=others,
                tags=_tags(container, video or audio, audio or video),
                remarks=stream_remarks(container, texts, chosen),
            )


def _frame_rate(stream: Any) -> float | None:
    rate = stream.average_rate or stream.guessed_rate
    return round(float(rate), 6) if rate else None


def _upright_size(container: InputContainer, stream: Any) -> tuple[int, int]:
    """Return the width and height of the video in pixels, as displayed.

    A rotation is known only after decoding a frame. Raise `SourceUnsupported` if the image has more than `PIXEL_LIMIT`
    pixels.
    """
    width, height = stream.width, stream.height
    if width * height > PIXEL_LIMIT:
        raise SourceUnsupported(
            f"The picture of {Path(container.name).name} is too large: {width} x {height} is more than {PIXEL_LIMIT:,} "
            "pixels. Use a copy with a lower resolution."
        )
    frame = _first_frame(container, stream)
    quarter = frame is not None and round(frame.rotation / 90) % 2
    return (height, width) if quarter else (width, height)


def _first_frame(container: InputContainer, stream: Any) -> Any | None:
    """Return the first video or audio frame that can be decoded, or None if the first packets contain none.

    Reading starts at or before second 0, because streams with gradual refresh may have data there that the decoder
    needs.
    """
    container.seek(min(int(start_time(container) * 1_000_000), 0), backward=True)
    for packet in islice(read_packets(container, [stream]), _PACKETS_TRIED):
        frames = decode_packet(stream, packet)
        if frames:
            return frames[0]
    return next(iter(flush_decoder(stream)), None)


def _tags(container: InputContainer, stream: Any, language_stream: Any) -> dict[str, str]:
    """Return the descriptive tags of the file, with lowercase names. Ogg files store tags in a stream.

    If the container declares no language, the language of the audio is used. `und` (ISO 639-2) means unknown.
    """
    metadata = stream.metadata if container.format.name == "ogg" and not container.metadata else container.metadata
    tags = {key.lower(): " ".join(str(value).split())[:_TAG_LIMIT] for key, value in metadata.items()}
    tags = {_TAG_ALIASES.get(key, key): value for key, value in tags.items()} | tags
    if not tags.get("language"):
        tags["language"] = str(language_stream.metadata.get("language", ""))
    if tags["language"] == "und":
        del tags["language"]
    return {key: tags[key] for key in _TAGS if tags.get(key)}
