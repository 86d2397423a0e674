"""Clips of uncompressed sound by copying its bytes: exactly the samples asked for."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from citekit.adapters.drivers.pyav import created, library
from citekit.adapters.drivers.pyav_streams import codec_name, readable
from citekit.adapters.extraction.media.containers import Target
from citekit.adapters.extraction.media.copying import Copied
from citekit.adapters.extraction.media.timeline import Span, nothing_there, rewind
from citekit.domain.progress import Progress

if TYPE_CHECKING:
    from av.container import InputContainer

_LINEAR = re.compile(r"pcm_[suf](\d+)(?:le|be)?")
_REPORT_EVERY = 200


def sample_size(codec: str, channels: int) -> int | None:
    """Bytes of one moment of sound on all channels; None where `codec` does not store samples one after the other."""
    linear = _LINEAR.fullmatch(codec)
    bits = 8 if codec in ("pcm_alaw", "pcm_mulaw") else int(linear.group(1)) if linear else 0
    return bits // 8 * channels or None


def copy_samples(
    container: InputContainer, audio: Any, span: Span, target: Target, path: Path, progress: Progress
) -> Copied:
    """Write the samples of `span` to `path`: from the one sounding at the start to the last before the end.

    The sound must be of a codec with a `sample_size`, and `target` must take that codec.
    """
    av = library()
    rate = audio.codec_context.sample_rate
    size = sample_size(codec_name(audio), audio.codec_context.channels) or 1
    first, last = round(span.low * rate), max(round(span.high * rate), round(span.low * rate) + 1)
    written = 0
    with created(path, target.muxer, {}) as output:
        copied: Any = output.add_stream_from_template(audio, opaque=True)
        copied.metadata.clear()
        rewind(container, audio, span.low - 0.2)
        for number, (begin, packet) in enumerate(_placed(container, audio, rate)):
            if begin >= last:
                break
            if number % _REPORT_EVERY == 0:
                progress(max(begin - first, 0) / rate, span.end - span.start, "cutting")
            count = packet.size // size
            low, high = max(first - begin, 0), min(last - begin, count)
            if low >= high:
                continue
            if (high - low) * size < packet.size:  # a file that was cut off may end within a sample
                packet = av.Packet(memoryview(packet)[low * size : high * size])
            packet.time_base = audio.time_base
            packet.pts = packet.dts = round(written / rate / audio.time_base)
            packet.duration = 0
            packet.stream = copied
            output.mux_one(packet)
            written += high - low
    if not written:
        raise nothing_there(Path(container.name).name)
    start = first / rate - span.zero
    return Copied(max(start, 0.0), start + written / rate, max(start, 0.0))


def _placed(container: InputContainer, audio: Any, rate: int) -> Any:
    """Packets with the number of their first sample."""
    per_tick = audio.time_base * rate
    whole = per_tick == 1
    for packet in readable(container, [audio]):
        ticks = packet.dts if packet.pts is None else packet.pts
        yield ticks if whole else round(float(ticks * audio.time_base) * rate), packet
