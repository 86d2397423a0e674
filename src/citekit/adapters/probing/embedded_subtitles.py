"""Text subtitles inside a container."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from citekit.adapters.drivers.pyav_streams import codec_name, origin, readable
from citekit.domain.ports.media_probe import Cue

if TYPE_CHECKING:
    from av.container import InputContainer

CUE_LIMIT = 100_000
"""Cues that are read at most."""

_TEXTUAL = {"subrip", "srt", "ass", "ssa", "webvtt", "mov_text", "text"}
_MARKUP = re.compile(r"<[^<>]{0,200}>|\{\\[^{}]{0,200}\}")
_ASS_FIELDS = 8


def embedded_cues(container: InputContainer, stream: Any | None, duration: float) -> list[Cue]:
    """The cues of the text subtitles `stream` that lie inside `duration`, in order of time."""
    if stream is None:
        return []
    zero = origin(container)
    codec = codec_name(stream)
    container.seek(int(zero * 1_000_000), backward=True)
    cues = []
    for packet in readable(container, [stream]):
        start = float(packet.pts * packet.time_base) - zero
        end = start + float((packet.duration or 0) * packet.time_base)
        text = _text(bytes(packet), codec)
        if text and 0 <= start < duration:
            cues.append(Cue(start, min(max(end, start + 0.001), duration), text))
        if len(cues) >= CUE_LIMIT:
            break
    return sorted(cues, key=lambda cue: cue.start)


def text_streams(container: InputContainer) -> list[Any]:
    """The subtitles that are text, not pictures."""
    return [s for s in container.streams.subtitles if s.codec_context is not None and codec_name(s) in _TEXTUAL]


def preferred(streams: Sequence[Any]) -> Any | None:
    """The default one, else the first that is not only for what is spoken in another language, else the first."""
    default = [s for s in streams if s.disposition & type(s.disposition).default]
    full = [s for s in streams if not s.disposition & type(s.disposition).forced]
    return next(iter(default or full or streams), None)


def _text(data: bytes, codec: str) -> str:
    if codec == "mov_text":
        data = data[2 : 2 + int.from_bytes(data[:2], "big")]
    text = data.decode("utf-8", "replace")
    if codec in ("ass", "ssa"):
        text = text.split(",", _ASS_FIELDS)[-1].replace("\\N", " ").replace("\\n", " ")
    return " ".join(_MARKUP.sub("", text).split())
