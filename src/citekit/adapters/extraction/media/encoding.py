"""Encodes pictures and sound where a copy is not possible, the same way every time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from citekit.adapters.drivers.pyav import library
from citekit.adapters.drivers.pyav_streams import frames_of
from citekit.adapters.extraction.media.timeline import rewind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from av.container import InputContainer, OutputContainer

QUALITY = {"crf": "17", "preset": "veryfast", "threads": "2"}
"""Visually the same as the source; a fixed number of threads, because the bytes depend on it."""

_COLOURS = ("color_range", "color_primaries", "color_trc", "colorspace")


def x264(video: Any, pixels: str, size: tuple[int, int], options: dict[str, str]) -> Any:
    """An H.264 encoder for pictures like those of the stream `video`, not yet opened."""
    encoder = library().CodecContext.create("libx264", "w")
    imitate(encoder, video, pixels, size)
    encoder.options = {**QUALITY, **options}
    encoder.flags |= 1 << 22  # parameter sets apart from the pictures
    return encoder


def imitate(encoder: Any, video: Any, pixels: str, size: tuple[int, int]) -> None:
    """Give an encoder the size, rate, shape of pixels and colours of the stream `video`."""
    encoder.width, encoder.height = size
    encoder.pix_fmt = pixels
    encoder.time_base = video.time_base
    encoder.framerate = video.average_rate or video.guessed_rate or 25
    if video.codec_context.sample_aspect_ratio:
        encoder.sample_aspect_ratio = video.codec_context.sample_aspect_ratio
    for name in _COLOURS:
        setattr(encoder, name, getattr(video.codec_context, name))


def decoded(container: InputContainer, stream: Any, time: float, wanted: int | None = None) -> Iterator[Any]:
    """Frames with timestamps from the key picture at or before `time` (container's own time) on.

    Of those before the tick `wanted` some may be missing.
    """
    stream.thread_type = "AUTO"
    rewind(container, stream, time)
    yield from (frame for frame in frames_of(container, stream, wanted) if frame.pts is not None)


def add_aac(output: OutputContainer, audio: Any) -> Any:
    """A new AAC stream for sound like that of `audio`."""
    encoder: Any = output.add_stream("aac", rate=_rate(audio.codec_context.sample_rate))
    encoder.layout = "mono" if audio.codec_context.channels == 1 else "stereo"
    encoder.bit_rate = 96_000 * (1 if audio.codec_context.channels == 1 else 2)
    encoder.codec_context.flags |= 1 << 23
    return encoder


def _rate(rate: int) -> int:
    return rate if rate in (8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000) else 48000


def encode_sound(container: InputContainer, audio: Any, encoder: Any, low: float, high: float) -> None:
    """Encode the sound from `low` to `high` (container's own time) so that it begins at 0."""
    av = library()
    rate = encoder.codec_context.sample_rate
    resampler = av.AudioResampler("fltp", encoder.codec_context.layout, rate)
    graph = _trimmer(av, encoder, round(low * rate), round(high * rate))
    output = encoder.container
    for frame in decoded(container, audio, low - 0.5):
        if frame.time >= high:
            break
        frame.time_base, frame.pts = _tick(rate), round(frame.time * rate)
        for part in resampler.resample(frame):
            graph.push(part)
            _drain(av, graph, encoder, output, round(low * rate))
    graph.push(None)
    _drain(av, graph, encoder, output, round(low * rate))
    output.mux(encoder.encode(None))


def _tick(rate: int) -> Any:
    from fractions import Fraction

    return Fraction(1, rate)


def _trimmer(av: Any, encoder: Any, first: int, last: int) -> Any:
    graph = av.filter.Graph()
    context = encoder.codec_context
    source = graph.add_abuffer(
        format="fltp", sample_rate=context.sample_rate, layout=context.layout.name, time_base=_tick(context.sample_rate)
    )
    trim = graph.add("atrim", f"start_pts={first}:end_pts={last}")
    frames = graph.add("asetnsamples", "n=1024:p=0")
    source.link_to(trim)
    trim.link_to(frames)
    frames.link_to(graph.add("abuffersink"))
    graph.configure()
    return graph


def _drain(av: Any, graph: Any, encoder: Any, output: Any, first: int) -> None:
    while True:
        try:
            frame = graph.pull()
        except (av.error.BlockingIOError, av.error.EOFError):
            return
        frame.pts -= first
        output.mux(encoder.encode(frame))
