"""Removes numbers, times, and tags from subtitles (SubRip, WebVTT, SubStation Alpha), and optionally marks pauses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import unescape

from citekit.adapters.formats.subtitles.parser import dialogue
from citekit.domain.quotes.superscripts import CUT
from citekit.domain.quotes.transcript import is_pause_between

_TIMES = re.compile(r"\s*(?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3}\s+-->\s")
_CLOCK = re.compile(r"(?:(\d+):)?(\d{1,2}):(\d{2})[.,](\d{1,3})")
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,200}>|<\d[\d:.]{0,20}>|\{\\[^{}]{0,100}\}")
_ASIDE = re.compile(r"(?:NOTE|STYLE|REGION)(?:\s|$)")


def split_subtitles(lines: Sequence[str]) -> list[str]:
    """Return the lines of `subtitle_visible_lines`, with `CUT` in place of the times of cues that follow a pause."""
    visible = list(subtitle_visible_lines(lines))
    times = [number for number, line in enumerate(lines) if _TIMES.match(line)]
    end, before = None, ""
    for index, number in enumerate(times):
        since, until = [*map(_seconds, _CLOCK.findall(lines[number])), None, None][:2]
        following = times[index + 1] if index + 1 < len(times) else len(lines)
        text = " ".join(filter(None, map(str.strip, visible[number:following])))
        if since is None or not text:
            continue
        if end is not None and is_pause_between(since - end, before, text):
            visible[number] = CUT
        before, end = text, max(end or 0.0, until or since)
    return visible


def _seconds(clock: tuple[str, str, str, str]) -> float:
    hours, minutes, seconds, fraction = clock
    return int(hours or 0) * 3600 + int(minutes) * 60 + int(seconds) + float(f"0.{fraction}")


def subtitle_visible_lines(lines: Sequence[str]) -> Iterator[str]:
    """Yield every line without its markup; numbers, times, and the blocks of WebVTT without cues become empty."""
    aside = bool(lines) and lines[0].lstrip("\ufeff").startswith("WEBVTT")
    for number, line in enumerate(lines):
        if not line.strip():
            aside = False
        elif _begins(lines, number) and _ASIDE.match(line):
            aside = True
        following = lines[number + 1] if number + 1 < len(lines) else ""
        is_mark = aside or _TIMES.match(line) or (_begins(lines, number) and _TIMES.match(following))
        yield "" if is_mark else unescape(_TAG.sub("", line))


def _begins(lines: Sequence[str], number: int) -> bool:
    return not number or not lines[number - 1].strip()


def dialogue_visible_lines(lines: Sequence[str]) -> Iterator[str]:
    """Yield a string for each line of SubStation Alpha text: the words of its event, or "" for another line."""
    words = {number: cue.text for number, cue in dialogue(lines)}
    return (words.get(number, "") for number in range(1, len(lines) + 1))
