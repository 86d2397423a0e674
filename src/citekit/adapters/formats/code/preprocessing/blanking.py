"""Replaces parts of a program with blanks, so that the rest keeps its position.

Removes conditional directives (`#if` and similar) that a grammar cannot parse.
"""

from __future__ import annotations

import re
from itertools import accumulate, pairwise

from attrs import frozen

_BLANKS = bytes(each if each in b"\r\n" else ord(" ") for each in range(256))


def blank(text: bytes) -> bytes:
    """As many blanks as `text` has bytes; its line ends stay."""
    return text.translate(_BLANKS)


_CONDITION = re.compile(rb"[ \t]*#[ \t]*(if|ifdef|ifndef|elif|elseif|else|endif)\b")


def without_conditions(data: bytes) -> bytes:
    """The program without `#if` and similar directives: with all branches where the braces of each are even, else
    with the first."""
    lines = data.splitlines(keepends=True)
    edges = [0] * (len(lines) + 1)
    open_: list[_Condition] = []
    depth, going_on = 0, False
    for number, line in enumerate(lines):
        mark = None if going_on else _CONDITION.match(line)
        if mark or going_on:
            lines[number] = blank(line)
            going_on = line.rstrip(b"\r\n").endswith(b"\\")
        else:
            depth += line.count(b"{") - line.count(b"}")
        if mark and mark[1].startswith(b"if"):
            open_.append(_Condition([number], [depth]))
        elif mark and open_:
            open_[-1].marks.append(number)
            open_[-1].depths.append(depth)
            if mark[1] == b"endif":
                depth = _keep_one(edges, open_.pop())
    left_out = accumulate(edges)
    return b"".join(blank(line) if out else line for line, out in zip(lines, left_out, strict=False))


@frozen
class _Condition:
    """The lines of an `#if`, its other branches and its end, and how many braces were open at each."""

    marks: list[int]
    depths: list[int]


def _keep_one(edges: list[int], condition: _Condition) -> int:
    """How many braces are open behind a condition; `edges` gain where its lines that go begin (1) and end (-1)."""
    marks, depths = condition.marks, condition.depths
    if len(marks) == 2 or all(before == after for before, after in pairwise(depths)):
        return depths[-1]
    edges[marks[1]] += 1
    edges[marks[-1]] -= 1
    return depths[1]
