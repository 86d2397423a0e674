"""Replaces parts of a program with spaces, so that all other text keeps its position.

Also removes the conditional directives (`#if` and similar) that a grammar cannot parse.
"""

from __future__ import annotations

import re
from itertools import accumulate, pairwise

from attrs import frozen

_BLANKS = bytes(each if each in b"\r\n" else ord(" ") for each in range(256))


def blank(text: bytes) -> bytes:
    """Returns as many spaces as `text` has bytes; line breaks are kept."""
    return text.translate(_BLANKS)


_CONDITION = re.compile(rb"[ \t]*#[ \t]*(if|ifdef|ifndef|elif|elseif|else|endif)\b")


def without_conditions(data: bytes) -> bytes:
    """Returns the program without `#if` and similar directives.

    All branches of a condition are kept if the braces in each of them are balanced, otherwise only the first one.
    """
    lines = data.splitlines(keepends=True)
    edges = [0] * (len(lines) + 1)
    open_: list[_Condition] = []
    depth, continues = 0, False
    for number, line in enumerate(lines):
        mark = None if continues else _CONDITION.match(line)
        if mark or continues:
            lines[number] = blank(line)
            continues = line.rstrip(b"\r\n").endswith(b"\\")
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
    """The lines of an `#if`, its other branches, and its `#endif`, and the number of open braces at each."""

    marks: list[int]
    depths: list[int]


def _keep_one(edges: list[int], condition: _Condition) -> int:
    """Returns the number of open braces after a condition.

    `edges` receives 1 where the lines to be removed begin, and -1 where they end.
    """
    marks, depths = condition.marks, condition.depths
    if len(marks) == 2 or all(before == after for before, after in pairwise(depths)):
        return depths[-1]
    edges[marks[1]] += 1
    edges[marks[-1]] -= 1
    return depths[1]
