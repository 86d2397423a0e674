"""Rewrites shell scripts that the grammar cannot parse.

A single unusual line can make the parser miss every function of a file. Functions are therefore recognized by their
header and their closing line.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from operator import itemgetter

from attrs import frozen

from citekit.adapters.formats.code.preprocessing.blanking import blank

_HEAD = re.compile(
    rb"^(?P<indent>[ \t]*)(?:function[ \t]+[^\s(){}'\"$;&|<>#]+(?:[ \t]*\([ \t]*\))?|[^\s(){}'\"$;&|<>#=]+[ \t]*\([ \t]*\))"
    rb"\s*(?P<opener>[{(](?!\())",
    re.MULTILINE,
)
_HERE = re.compile(rb"(?<!<)<<(?!<)-?[ \t]*(?P<quote>['\"\\]?)(?P<word>\w+)(?P=quote)?")
_COMMENT = re.compile(rb"^[ \t]*#[^\r\n]*", re.MULTILINE)
_FOR = re.compile(rb"^([ \t]*for[ \t]+\w+)[ \t](?=do\b)", re.MULTILINE)
_CLOSERS = {b"{": b"}", b"(": b")"}
_SAME_LINE = {
    each: re.compile(rb"[^\r\n]*[;&\s](" + re.escape(each) + rb")[ \t]*(?=[\r\n]|\Z)") for each in _CLOSERS.values()
}
_CLOSING = re.compile(rb"^[ \t]*[})](?![^\s;&|<>#0-9)])", re.MULTILINE)
_WORD = re.compile(rb"^[ \t]*(\w+)[ \t]*(?=\r?$)", re.MULTILINE)
_ROOM = re.compile(rb"[^\r\n]")
_NESTED = 8

IsValid = Callable[[bytes], bool]
"""Returns whether the parser understands a fragment of a shell script."""


@frozen
class _Function:
    """The byte offsets of a shell function: its first byte, the byte after the opening bracket, the closing bracket,
    and the byte after it.
    """

    start: int
    body: int
    closer: int
    end: int


def prepare(data: bytes) -> bytes:
    """Return the program with the semicolon that the grammar requires in `for x do`. The length does not change."""
    return _FOR.sub(rb"\1;", data)


def skeleton(data: bytes, is_valid: IsValid) -> bytes:
    """Return the functions and the comment lines of a shell script, with the same length and lines.

    A function that is not valid is reduced to its header, its closing bracket, and the functions in it. `is_valid`
    returns whether a fragment parses without errors.
    """
    kept = bytearray(blank(data))
    for comment in _COMMENT.finditer(data):
        kept[comment.start() : comment.end()] = comment[0]
    quoted = _quoted(data)
    script = _Script(data, is_valid, kept, quoted, _closers(data, quoted))
    for each in script.outermost(0, len(data)):
        script.keep(each, _NESTED)
    return bytes(kept)


@frozen
class _Script:
    """A shell script. `quoted` has the byte ranges of here-documents. `closers` maps the indentation and closing
    bracket of a line to the offsets of such brackets.
    """

    data: bytes
    is_valid: IsValid
    kept: bytearray
    quoted: Sequence[tuple[int, int]]
    closers: dict[bytes, list[int]]

    def keep(self, each: _Function, levels: int) -> None:
        """Copy a function, or, if it is not valid, its header, its closing bracket, and `levels` levels of nested
        functions.
        """
        whole = self.data[each.start : each.end]
        if self.is_valid(whole):
            self.kept[each.start : each.end] = whole
            return
        self.kept[each.start : each.end] = blank(whole)
        self.kept[each.start : each.body] = self.data[each.start : each.body]
        self.kept[each.closer : each.end] = self.data[each.closer : each.end]
        if self.data[each.closer : each.end] == b")" and (room := _ROOM.search(self.data, each.body, each.closer)):
            self.kept[room.start()] = ord(":")
        for nested in self.outermost(each.body, each.closer) if levels else []:
            self.keep(nested, levels - 1)

    def outermost(self, start: int, end: int) -> list[_Function]:
        """Return the functions in the bytes [`start`, `end`) that are in no other function or here-document."""
        found: list[_Function] = []
        for head in _HEAD.finditer(self.data, start, end):
            inside = found and head.start() < found[-1].end
            if inside or _is_quoted(head.start(), self.quoted):
                continue
            function = self._closed(head, end)
            if function is not None:
                found.append(function)
        return found

    def _closed(self, head: re.Match[bytes], end: int) -> _Function | None:
        """Return the function that begins at the header `head`, or None if it is not closed before byte `end`."""
        mark = _CLOSERS[head["opener"]]
        same = _SAME_LINE[mark].match(self.data, head.end(), end)
        offsets = self.closers.get(head["indent"] + mark, [])
        below = bisect_left(offsets, head.end())
        closer = same.start(1) if same else offsets[below] if below < len(offsets) else end
        return (
            _Function(head.start("indent") + len(head["indent"]), head.end(), closer, closer + 1)
            if closer < end
            else None
        )


def _is_quoted(offset: int, quoted: Sequence[tuple[int, int]]) -> bool:
    before = bisect_right(quoted, offset, key=itemgetter(0)) - 1
    return before >= 0 and offset < quoted[before][1]


def _closers(data: bytes, quoted: Sequence[tuple[int, int]]) -> dict[bytes, list[int]]:
    found: dict[bytes, list[int]] = {}
    for each in _CLOSING.finditer(data):
        if _is_quoted(each.start(), quoted):
            continue
        found.setdefault(each[0], []).append(each.end() - 1)
    return found


def _quoted(data: bytes) -> list[tuple[int, int]]:
    """Return the byte ranges of the here-documents in a shell script."""
    words: dict[bytes, list[int]] = {}
    for word in _WORD.finditer(data):
        words.setdefault(word[1], []).append(word.end())
    found: list[tuple[int, int]] = []
    for begin in _HERE.finditer(data):
        ends = words.get(begin["word"], [])
        after = bisect_left(ends, begin.end() + 1)
        if after < len(ends) and not (found and begin.start() < found[-1][1]):
            found.append((begin.end(), ends[after]))
    return found
