"""Writes subtitles as WebVTT (https://www.w3.org/TR/webvtt1/) and SubRip."""

from __future__ import annotations

import re
from collections.abc import Iterable

from citekit.domain.ports.media_probe import Cue

_BLANK_LINES = re.compile(r"\s*\n\s*")


def web_vtt(cues: Iterable[Cue]) -> str:
    """Return the cues as a WebVTT file. The names of speakers become voice tags."""
    blocks = [f"{_time(cue.start, '.')} --> {_time(cue.end, '.')}\n{_spoken(cue)}\n" for cue in cues]
    return "\n".join(["WEBVTT\n", *blocks])


def sub_rip(cues: Iterable[Cue]) -> str:
    """Return the cues as a SubRip file, with the names of speakers before their words."""
    return "\n".join(
        f"{number}\n{_time(cue.start, ',')} --> {_time(cue.end, ',')}\n{_lines(named(cue)).replace('-->', '->')}\n"
        for number, cue in enumerate(cues, 1)
    )


def named(cue: Cue) -> str:
    """Return the text of a subtitle, preceded by the name of its speaker, if known."""
    return f"{cue.voice}: {cue.text}" if cue.voice else cue.text


def _spoken(cue: Cue) -> str:
    name = f"<v {_escaped(cue.voice)}>" if cue.voice else ""
    return name + _escaped(_lines(cue.text))


def _lines(text: str) -> str:
    """Return the text without empty lines, which would end the cue."""
    return _BLANK_LINES.sub("\n", text.strip())


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _time(seconds: float, point: str) -> str:
    whole = round(seconds * 1000)
    return f"{whole // 3_600_000:02}:{whole // 60_000 % 60:02}:{whole // 1000 % 60:02}{point}{whole % 1000:03}"
