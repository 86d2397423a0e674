"""Cuts FLAC clips that are exact to the sample. Only partial frames are decoded and encoded again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from attrs import define, field

from citekit.adapters.formats.media.evidence.containers import UncopyableError
from citekit.adapters.formats.media.evidence.flac_frames import FrameHeader, bits_per_sample, renumber, stream_info
from citekit.adapters.formats.media.evidence.stream_copy import ClipTimes
from citekit.adapters.formats.media.evidence.timeline import Span, seek
from citekit.adapters.formats.media.streams import read_packets
from citekit.adapters.libraries.pyav import library
from citekit.domain.progress import Progress

if TYPE_CHECKING:
    from av.container import InputContainer

MIN_BLOCK_SIZE = 16
"""The minimum number of samples of a frame, except the last frame (RFC 9639, 9.1.1)."""

_REPORT_EVERY = 100


@define
class _FlacWriter:
    """Writes the FLAC frames of a clip. `blocks` contains the number of samples of each frame."""

    file: BinaryIO
    audio: Any
    written: int = 0
    blocks: list[int] = field(factory=list)

    def add(self, frame: bytes) -> None:
        header = FrameHeader.read(frame)
        if header is None:
            raise UncopyableError
        self.file.write(renumber(frame, header, self.written))
        self.written += header.samples
        self.blocks.append(header.samples)

    def add_samples(self, sound: bytes) -> None:
        """Encode and write the decoded samples `sound` as frames of equal length, except for the last frame."""
        context = self.audio.codec_context
        size = context.channels * context.format.bytes
        count = len(sound) // size
        parts = -(-count // _new_encoder(self.audio).frame_size)
        step = -(-count // parts)
        for begin in range(0, count, step):
            for packet in _encode_frame(self.audio, sound[begin * size : (begin + step) * size]):
                self.add(packet)


def copy_flac(container: InputContainer, audio: Any, span: Span, path: Path, progress: Progress) -> ClipTimes:
    """Write the samples of `span` to a FLAC file at `path`. Raise `UncopyableError` if that is not possible."""
    rate = audio.codec_context.sample_rate
    info = bytes(audio.codec_context.extradata or b"")
    if (
        len(info) != 34
        or audio.time_base * rate != 1
        or (bits_per_sample(info), _sample_width(audio)) not in ((16, 2), (24, 4))
    ):
        raise UncopyableError
    first, last = round(span.low * rate), max(round(span.high * rate), round(span.low * rate) + 1)
    seek(container, audio, span.low - 0.2)
    with path.open("wb") as file:
        file.write(bytes(42))
        clip = _FlacWriter(file, audio)
        _copy_range(clip, _with_progress(read_packets(container, [audio]), rate, span, progress), first, last)
        if not clip.written:
            raise UncopyableError
        inner = clip.blocks[:-1] or clip.blocks
        file.seek(0)
        file.write(
            stream_info(info, (max(min(inner), MIN_BLOCK_SIZE), max(*clip.blocks, MIN_BLOCK_SIZE)), clip.written)
        )
    start = first / rate - span.zero
    return ClipTimes(max(start, 0.0), start + clip.written / rate, max(start, 0.0))


def _with_progress(packets: Iterator[Any], rate: int, span: Span, progress: Progress) -> Iterator[Any]:
    for number, packet in enumerate(packets):
        if number % _REPORT_EVERY == 0:
            progress(max((packet.pts or 0) / rate - span.low, 0.0), span.end - span.start, "extracting")
        yield packet


def _copy_range(clip: _FlacWriter, packets: Iterator[Any], first: int, last: int) -> None:
    """Add the samples from `first` to `last` (exclusive) to the clip. Only partial frames are encoded again."""
    partial = b""
    expected: int | None = None
    copied: Any = None
    copied_samples = 0
    for packet in packets:
        begin, frame = packet.pts, bytes(packet)
        samples = _validated_sample_count(clip.audio, frame, begin, expected)
        expected = begin + samples
        low, high = max(first - begin, 0), min(last - begin, samples)
        if begin >= last:
            break
        if low >= high:
            continue
        if high - low == samples and not partial:
            clip.add(frame)
            copied, copied_samples = packet, samples
            continue
        partial += _decode_samples(clip.audio, packet, low, high)
        if len(partial) >= MIN_BLOCK_SIZE * clip.audio.codec_context.channels * _sample_width(clip.audio):
            clip.add_samples(partial)
            partial = b""
    if partial:
        clip.add_samples(partial)
    if copied is not None:
        _decode_samples(clip.audio, copied, 0, copied_samples)  # checks the last frame, which can be truncated


def _validated_sample_count(audio: Any, frame: bytes, begin: int | None, expected: int | None) -> int:
    """Return the number of samples in `frame`.

    Raise `UncopyableError` if its header is invalid or its position is not `begin` and `expected` (if known), which
    happens in damaged files, because FFmpeg merges or omits frames.
    """
    header = FrameHeader.read(frame)
    if header is None:
        raise UncopyableError
    longest = int.from_bytes(audio.codec_context.extradata[2:4], "big")
    if begin != (header.number if header.has_variable_size else header.number * longest) or expected not in (
        None,
        begin,
    ):
        raise UncopyableError
    return header.samples


def _sample_width(audio: Any) -> int:
    """Return the size of one decoded sample in bytes, or 0 for planar audio."""
    sample = audio.codec_context.format
    return 0 if sample.is_planar else int(sample.bytes)


def _decode_samples(audio: Any, packet: Any, low: int, high: int) -> bytes:
    """Return the samples from `low` to `high` (exclusive) of a frame. Raise `UncopyableError` if that fails."""
    decoder = library().CodecContext.create("flac", "r")
    decoder.extradata = audio.codec_context.extradata
    decoder.thread_count = 1
    size = audio.codec_context.channels * _sample_width(audio)
    try:
        frames = [*decoder.decode(packet), *decoder.decode(None)]
    except library().error.FFmpegError as error:
        raise UncopyableError from error
    sound = b"".join(bytes(frame.planes[0])[: frame.samples * size] for frame in frames)
    if len(sound) < high * size or any(frame.format.name != audio.codec_context.format.name for frame in frames):
        raise UncopyableError
    return sound[low * size : high * size]


def _encode_frame(audio: Any, sound: bytes) -> list[bytes]:
    av = library()
    context = audio.codec_context
    encoder = _new_encoder(audio)
    frame = av.AudioFrame(context.format, context.layout, len(sound) // (context.channels * _sample_width(audio)))
    frame.planes[0].update(sound)
    frame.sample_rate, frame.pts = context.sample_rate, 0
    return [bytes(packet) for packet in (*encoder.encode(frame), *encoder.encode(None)) if packet.size]


def _new_encoder(audio: Any) -> Any:
    encoder: Any = library().CodecContext.create("flac", "w")
    context = audio.codec_context
    encoder.sample_rate, encoder.layout, encoder.format = context.sample_rate, context.layout, context.format
    encoder.open()
    return encoder
