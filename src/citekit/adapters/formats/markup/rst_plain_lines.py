"""Removes the markup of reStructuredText line by line with simple rules. Every line keeps its number."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from citekit.adapters.formats.markdown.plain_lines_by_rules import LINE_LIMIT

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1{2,}\s*$")
_TABLE = re.compile(r"\s*(?:\+[-=]{2,})+\+?\s*$|\s*={2,}(?:\s+={2,})+\s*$")
_DIRECTIVE = re.compile(r"(\s*)\.\. (?:\|[^|]+\| )?[\w:.-]{1,60}::\s*")
_TARGET = re.compile(r"\s*(?:\.\. )?(?:_[^:]{1,200}|__):(?:\s.*)?$")
_OPTION = re.compile(r"\s+:[\w-]{1,40}:(?:\s.*)?$")
_LITERAL = re.compile(r"``(.+?)``")
_ROLE = re.compile(r":[\w:.+-]{1,60}:`([^`<]{1,500}?)(?:\s*<[^`>]*>)?`")
_LINK = re.compile(r"`([^`<]{1,500}?)(?:\s*<[^`>]{0,500}>)?`_{0,2}")
_STRONG = re.compile(r"(?<![\w*])(\*{1,2})(?=[^\s*])(.{1,2000}?)(?<=[^\s*])\1(?![\w*])")
_ITEM = re.compile(r"(\s*)(?:[-*+•]|#\.)\s+")
_MARKS = (_ADORNMENT, _TABLE, _TARGET)
_HELD = re.compile("\ufdd1(\\d+)\ufdd2")


def rst_visible_lines(lines: Sequence[str]) -> Iterator[str]:
    """Yield every line without its markup. A line that is only markup becomes empty."""
    directive = False
    for line in lines:
        if any(marks.match(line) for marks in _MARKS) or (directive and _OPTION.match(line)):
            yield ""
        elif len(line) > LINE_LIMIT:
            yield line
        else:
            opened = _DIRECTIVE.match(line)
            directive = bool(opened) or (directive and not line.strip())
            yield _inline(
                line[opened.end() :] if opened else _ITEM.sub(r"\1", line, count=1) if _ITEM.match(line) else line
            )


def _inline(text: str) -> str:
    if "`" not in text and "*" not in text:
        return text[:-1] if text.endswith("::") else text
    held: list[str] = []

    def hold(match: re.Match[str]) -> str:
        held.append(match[1])
        return f"\ufdd1{len(held) - 1}\ufdd2"

    text = _LITERAL.sub(hold, _HELD.sub("", text))
    text = _STRONG.sub(r"\2", _LINK.sub(r"\1", _ROLE.sub(r"\1", text)))
    text = _HELD.sub(lambda match: held[int(match[1])], text)
    return text[:-1] if text.endswith("::") else text
