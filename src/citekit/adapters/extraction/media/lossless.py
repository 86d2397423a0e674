"""Clips of uncompressed and losslessly compressed sound: exactly the samples asked for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from citekit.adapters.drivers.pyav import created, library
from citekit.adapters.drivers.pyav_streams import codec_name, frames_of
from citekit.adapters.extraction.media.containers import Target
from citekit.adapters.extraction.media.copying import MP4_OPTIONS, Copied
from citekit.adapters.extraction.media.timeline import Span, nothing_there, rewind
from citekit.domain.progress import Progress

if TYPE_CHECKING:
    from av.container import InputContainer


def encoder_for(codec: str, target: Target) -> str | None:
    """The codec that sound of `codec` is written with where it is cut by samples; None where it is copied."""
    if target.suffix in (".wav", ".aiff"):
        return codec
    if codec == "alac" and target.suffix == ".m4a":
        return codec
    return "flac" if target.suffix == ".flac" else None


def sample_format(codec: str, decoded: str) -> str:
    """The samples that an encoder of `codec` takes, as exact as those that come out of the decoder."""
    if codec not in ("flac", "alac"):
        return decoded
    width = "s32" if decoded.rstrip("p") in ("s32", "s64", "dbl") else "s16"
    return f"{width}p" if codec == "alac" else width


def cut_samples(
    container: InputContainer, audio: Any, span: Span, target: Target, path: Path, progress: Progress
) -> Copied:
    """Write the samples of `span` to `path`: from the one sounding at the start to the last before the end."""
    av = library()
    rate = audio.codec_context.sample_rate
    first, last = round(span.low * rate), max(round(span.high * rate), round(span.low * rate) + 1)
    written = 0
    with created(path, target.muxer, MP4_OPTIONS if target.suffix == ".m4a" else {}) as output:
        codec = encoder_for(codec_name(audio), target) or "flac"
        samples = sample_format(codec, audio.codec_context.format.name)
        encoder: Any = output.add_stream(codec, rate=rate)
        encoder.layout, encoder.format = audio.codec_context.layout, samples
        encoder.codec_context.flags |= 1 << 23  # bitexact: no encoder name in the tags
        graph = _trimming(av, audio, first, last, samples)
        rewind(container, audio, span.low - 0.2)
        for frame in _frames(container, audio, last):
            progress(max(frame.time - span.low, 0.0), span.end - span.start, "cutting")
            frame.pts, frame.time_base = round(frame.time * rate), _tick(rate)
            graph.push(frame)
            written += _drain(av, graph, encoder, output, written)
        graph.push(None)
        written += _drain(av, graph, encoder, output, written)
        output.mux(encoder.encode(None))
    if not written:
        raise nothing_there(Path(container.name).name)
    start = first / rate - span.zero
    return Copied(max(start, 0.0), start + written / rate, max(start, 0.0))


def _tick(rate: int) -> Any:
    from fractions import Fraction

    return Fraction(1, rate)


def _trimming(av: Any, audio: Any, first: int, last: int, samples: str) -> Any:
    graph = av.filter.Graph()
    rate = audio.codec_context.sample_rate
    source = graph.add_abuffer(
        format=audio.codec_context.format.name,
        sample_rate=rate,
        layout=audio.codec_context.layout.name,
        time_base=_tick(rate),
    )
    trim = graph.add("atrim", f"start_pts={first}:end_pts={last}")
    plain = graph.add("aformat", f"sample_fmts={samples}")
    source.link_to(trim)
    trim.link_to(plain)
    plain.link_to(graph.add("abuffersink"))
    graph.configure()
    return graph


def _frames(container: InputContainer, audio: Any, last: int) -> Any:
    rate = audio.codec_context.sample_rate
    for frame in frames_of(container, audio):
        if frame.pts is None:
            continue
        if frame.time * rate >= last:
            return
        yield frame


def _drain(av: Any, graph: Any, encoder: Any, output: Any, before: int) -> int:
    """Encode what the graph lets through; the number of samples."""
    count = 0
    while True:
        try:
            frame = graph.pull()
        except (av.error.BlockingIOError, av.error.EOFError):
            return count
        frame.pts = before + count
        count += frame.samples
        output.mux(encoder.encode(frame))
