"""Reads the text subtitles inside a video or audio file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import unescape
from typing import TYPE_CHECKING, Any

from citekit.adapters.formats.media.streams import codec_name, read_packets, start_time
from citekit.adapters.formats.subtitles.parser import voice_of
from citekit.domain.ports.media_probe import Cue

if TYPE_CHECKING:
    from av.container import InputContainer

CUE_LIMIT = 100_000
"""The maximum number of cues that are read."""

_UTF_16 = (b"\xfe\xff", b"\xff\xfe")
_TEXTUAL = {"subrip", "srt", "ass", "ssa", "webvtt", "mov_text", "text"}
_MARKUP = re.compile(r"</?[A-Za-z][^<>]{0,200}>|<\d[\d:.]{0,20}>|\{\\[^{}]{0,200}\}")
_DRAWING = re.compile(r"\{[^{}]{0,200}\\p[1-9][^{}]{0,200}\}.*?(?:\{[^{}]{0,200}\\p0[^{}]{0,200}\}|\Z)", re.DOTALL)
_OVERRIDE = re.compile(r"\{[^{}]{0,2000}\}")
_BREAK = re.compile(r"\\[Nnh]")
_ASS_FIELDS = 8


def embedded_cues(container: InputContainer, streams: Sequence[Any], duration: float) -> list[list[Cue]]:
    """Read the cues of the text subtitle `streams` in one pass.

    Return one list per stream, sorted by time, with the cues before `duration` (seconds).
    """
    if not streams:
        return []
    zero, count = start_time(container), 0
    cues_by_stream: dict[int, list[Cue]] = {stream.index: [] for stream in streams}
    codecs = {stream.index: codec_name(stream) for stream in streams}
    container.seek(int(zero * 1_000_000), backward=True)
    for packet in read_packets(container, list(streams)):
        index = packet.stream.index
        start = float((packet.dts if packet.pts is None else packet.pts) * packet.time_base) - zero
        end = start + float((packet.duration or 0) * packet.time_base)
        data = bytes(packet)
        text = _text(data, codecs[index])
        if text and 0 <= start < duration:
            cues_by_stream[index].append(
                Cue(start, min(max(end, start + 0.001), duration), text, _voice(data, codecs[index]))
            )
            count += 1
        if count >= CUE_LIMIT:
            break
    return [sorted(cues, key=lambda cue: cue.start) for cues in cues_by_stream.values()]


def text_subtitle_streams(container: InputContainer) -> list[Any]:
    """Return the subtitle streams that contain text. Other subtitle streams contain images."""
    return [s for s in container.streams.subtitles if s.codec_context is not None and codec_name(s) in _TEXTUAL]


def preferred_subtitles(streams: Sequence[Any]) -> Any | None:
    """Return the preferred subtitle stream: the default, or else the first that is not forced, or else the first, or
    None.

    Forced subtitles cover only speech in foreign languages.
    """
    default = [s for s in streams if s.disposition & type(s.disposition).default]
    full = [s for s in streams if not s.disposition & type(s.disposition).forced]
    return next(iter(default or full or streams), None)


def _voice(data: bytes, codec: str) -> str:
    return voice_of(data.decode("utf-8", "replace")) if codec == "webvtt" else ""


def _text(data: bytes, codec: str) -> str:
    if codec == "mov_text":
        data = data[2 : 2 + int.from_bytes(data[:2], "big")]
    text = data.decode("utf-16" if data[:2] in _UTF_16 else "utf-8", "replace")
    if codec in ("ass", "ssa"):
        without_drawings = _DRAWING.sub("", text.split(",", _ASS_FIELDS)[-1])
        return " ".join(_BREAK.sub(" ", _OVERRIDE.sub("", without_drawings)).split())
    without_markup = _MARKUP.sub("", text)
    return " ".join((unescape(without_markup) if codec != "mov_text" else without_markup).split())
