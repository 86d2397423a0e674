"""Cuts audio clips that are exact to the sample, in uncompressed or lossless form.

PCM is copied as bytes. Audio of other codecs is decoded, and encoded with a lossless codec.
"""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from citekit.adapters.formats.media.evidence.containers import ClipContainer
from citekit.adapters.formats.media.evidence.stream_copy import MP4_OPTIONS, ClipTimes
from citekit.adapters.formats.media.evidence.timeline import Span, nothing_readable, seek
from citekit.adapters.formats.media.streams import codec_name, decode_frames, read_packets
from citekit.adapters.libraries.pyav import create_media, library
from citekit.domain.progress import Progress

if TYPE_CHECKING:
    from av.container import InputContainer


_LINEAR = re.compile(r"pcm_[suf](\d+)(?:le|be)?")
_REPORT_EVERY = 200


def encoder_for(codec: str, target: ClipContainer) -> str | None:
    """Return the codec in which audio of `codec` is stored when it is cut exact to the sample.

    Return None if its packets are copied to `target` instead.
    """
    if target.suffix in (".wav", ".aiff"):
        return codec
    if codec == "alac" and target.suffix == ".m4a":
        return codec
    return "flac" if target.suffix == ".flac" else None


def sample_format(codec: str, decoded: str) -> str:
    """Return the sample format for encoding audio with `codec`. `decoded` is the sample format of the decoder."""
    if codec not in ("flac", "alac"):
        return decoded
    width = "s32" if decoded.rstrip("p") in ("s32", "s64", "dbl") else "s16"
    return f"{width}p" if codec == "alac" else width


def transcode_samples(
    container: InputContainer, audio: Any, span: Span, target: ClipContainer, path: Path, progress: Progress
) -> ClipTimes:
    """Decode the samples of `span`, and encode them to a file at `path`.

    Raise `ExtractionFailed` if the span contains no samples.
    """
    av = library()
    rate = audio.codec_context.sample_rate
    first, last = round(span.low * rate), max(round(span.high * rate), round(span.low * rate) + 1)
    written = 0
    with create_media(path, target.muxer, MP4_OPTIONS if target.suffix == ".m4a" else {}) as output:
        codec = encoder_for(codec_name(audio), target) or "flac"
        encoder_format = sample_format(codec, audio.codec_context.format.name)
        encoder: Any = output.add_stream(codec, rate=rate)
        encoder.layout, encoder.format = audio.codec_context.layout, encoder_format
        encoder.codec_context.flags |= 1 << 23  # bitexact: no encoder name in the tags
        graph = _trim_graph(av, audio, first, last, encoder_format)
        seek(container, audio, span.low - 0.2)
        for frame in _frames_before(container, audio, last):
            progress(max(frame.time - span.low, 0.0), span.end - span.start, "extracting")
            frame.pts, frame.time_base = round(frame.time * rate), Fraction(1, rate)
            graph.push(frame)
            written += _encode_trimmed(av, graph, encoder, output, written)
        graph.push(None)
        written += _encode_trimmed(av, graph, encoder, output, written)
        output.mux(encoder.encode(None))
    if not written:
        raise nothing_readable(Path(container.name).name)
    start = first / rate - span.zero
    return ClipTimes(max(start, 0.0), start + written / rate, max(start, 0.0))


def _trim_graph(av: Any, audio: Any, first: int, last: int, sample_format: str) -> Any:
    graph = av.filter.Graph()
    rate = audio.codec_context.sample_rate
    source = graph.add_abuffer(
        format=audio.codec_context.format.name,
        sample_rate=rate,
        layout=audio.codec_context.layout.name,
        time_base=Fraction(1, rate),
    )
    trim = graph.add("atrim", f"start_pts={first}:end_pts={last}")
    converter = graph.add("aformat", f"sample_fmts={sample_format}")
    source.link_to(trim)
    trim.link_to(converter)
    converter.link_to(graph.add("abuffersink"))
    graph.configure()
    return graph


def _frames_before(container: InputContainer, audio: Any, last: int) -> Any:
    rate = audio.codec_context.sample_rate
    for frame in decode_frames(container, audio):
        if frame.pts is None:
            continue
        if frame.time * rate >= last:
            return
        yield frame


def _encode_trimmed(av: Any, graph: Any, encoder: Any, output: Any, written: int) -> int:
    """Encode the samples that the filter graph outputs, after `written` earlier ones, and return their number."""
    count = 0
    while True:
        try:
            frame = graph.pull()
        except (av.error.BlockingIOError, av.error.EOFError):
            return count
        frame.pts = written + count
        count += frame.samples
        output.mux(encoder.encode(frame))


def sample_size(codec: str, channels: int) -> int | None:
    """Return the size in bytes of one sample of all channels; None unless `codec` is linear PCM, A-law, or mu-law."""
    linear = _LINEAR.fullmatch(codec)
    bits = 8 if codec in ("pcm_alaw", "pcm_mulaw") else int(linear.group(1)) if linear else 0
    return bits // 8 * channels or None


def copy_samples(
    container: InputContainer, audio: Any, span: Span, target: ClipContainer, path: Path, progress: Progress
) -> ClipTimes:
    """Copy the samples of `span` to a file at `path` without decoding them.

    The codec must have a `sample_size`. Raise `ExtractionFailed` if the span contains no samples.
    """
    av = library()
    rate = audio.codec_context.sample_rate
    size = sample_size(codec_name(audio), audio.codec_context.channels) or 1
    first, last = round(span.low * rate), max(round(span.high * rate), round(span.low * rate) + 1)
    written = 0
    with create_media(path, target.muxer, {}) as output:
        copied: Any = output.add_stream_from_template(audio, opaque=True)
        copied.metadata.clear()
        seek(container, audio, span.low - 0.2)
        for number, (begin, packet) in enumerate(_packets_by_sample(container, audio, rate)):
            if begin >= last:
                break
            if number % _REPORT_EVERY == 0:
                progress(max(begin - first, 0) / rate, span.end - span.start, "extracting")
            count = packet.size // size
            low, high = max(first - begin, 0), min(last - begin, count)
            if low >= high:
                continue
            if (high - low) * size < packet.size:  # a truncated file can end within a sample
                packet = av.Packet(memoryview(packet)[low * size : high * size])
            packet.time_base = audio.time_base
            packet.pts = packet.dts = round(written / rate / audio.time_base)
            packet.duration = 0
            packet.stream = copied
            output.mux_one(packet)
            written += high - low
    if not written:
        raise nothing_readable(Path(container.name).name)
    start = first / rate - span.zero
    return ClipTimes(max(start, 0.0), start + written / rate, max(start, 0.0))


def _packets_by_sample(container: InputContainer, audio: Any, rate: int) -> Any:
    """Yield the packets of the stream `audio`, each with the number of its first sample."""
    per_tick = audio.time_base * rate
    ticks_are_samples = per_tick == 1
    for packet in read_packets(container, [audio]):
        ticks = packet.dts if packet.pts is None else packet.pts
        yield ticks if ticks_are_samples else round(float(ticks * audio.time_base) * rate), packet
