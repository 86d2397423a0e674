"""Replaces parts of a program, such as `#if` directives, with spaces, so that all other text keeps its byte offset."""

from __future__ import annotations

import re
from itertools import accumulate, pairwise

from attrs import frozen

_BLANKS = bytes(each if each in b"\r\n" else ord(" ") for each in range(256))


def blank(text: bytes) -> bytes:
    """Replace every byte of `text` except line breaks with a space."""
    return text.translate(_BLANKS)


_CONDITION = re.compile(rb"[ \t]*#[ \t]*(if|ifdef|ifndef|elif|elseif|else|endif)\b")


def without_conditions(data: bytes) -> bytes:
    """Return the program with `#if` and similar directives replaced by spaces.

    If there are several branches, and the braces in one of them are not balanced, only the first branch is kept.
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
    """A conditional block. `marks` are the line numbers of its directives, and `depths` the numbers of open braces
    there.
    """

    marks: list[int]
    depths: list[int]


def _keep_one(edges: list[int], condition: _Condition) -> int:
    """Mark all branches except the first for removal in `edges`, if the braces in one of several branches are
    unbalanced.

    Return the number of open braces after the condition.
    """
    marks, depths = condition.marks, condition.depths
    if len(marks) == 2 or all(before == after for before, after in pairwise(depths)):
        return depths[-1]
    edges[marks[1]] += 1
    edges[marks[-1]] -= 1
    return depths[1]
