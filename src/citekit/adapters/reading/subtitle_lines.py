"""Subtitles (SubRip, WebVTT) line by line: what is said, without numbers, times and tags."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import unescape

_TIMES = re.compile(r"\s*(?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3}\s+-->\s")
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,200}>|<\d[\d:.]{0,20}>|\{\\[^{}]{0,100}\}")
_ASIDE = re.compile(r"(?:NOTE|STYLE|REGION)(?:\s|$)")


def spoken_subtitles(lines: Sequence[str]) -> Iterator[str]:
    """Every line without its markup; an empty one for a line that is markup alone."""
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
