"""Writes subtitles as WebVTT (W3C, Web Video Text Tracks Format)."""

from __future__ import annotations

import re
from collections.abc import Iterable

_BLANK = re.compile(r"\n\s*\n")


def webvtt(cues: Iterable[tuple[float, float, str]]) -> str:
    """Return the text of a WebVTT file with the cues (start, end, text) in seconds."""
    blocks = ["WEBVTT\n"]
    for start, end, text in cues:
        shown = _BLANK.sub("\n", text.strip()).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        blocks.append(f"{_clock(start)} --> {_clock(end)}\n{shown}\n")
    return "\n".join(blocks)


def _clock(seconds: float) -> str:
    whole = round(seconds * 1000)
    hours, rest = divmod(whole, 3_600_000)
    minutes, rest = divmod(rest, 60_000)
    return f"{hours:02}:{minutes:02}:{rest // 1000:02}.{rest % 1000:03}"
