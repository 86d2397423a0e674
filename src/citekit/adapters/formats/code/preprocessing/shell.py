"""Rewrites shell scripts that their grammar cannot parse: one unusual line makes it lose every function of a file.

Functions are recognized by their lines instead: the header, and the closing line with the same indentation.
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
    """The offsets of a function's first byte, the byte after its opener, its closer, and the byte after that."""

    start: int
    body: int
    closer: int
    end: int


def prepare(data: bytes) -> bytes:
    """Returns the program for the parser, with the same length: adds the semicolon that `for x do` lacks."""
    return _FOR.sub(rb"\1;", data)


def skeleton(data: bytes, is_valid: IsValid) -> bytes:
    """Returns the functions of a program and the comments around them, with the same length and the same lines.

    A body that is not valid is reduced to the functions in it.
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
    """A program and the analysis of its lines.

    `kept` is the result so far. `quoted` lists the ranges of here-documents. `closers` maps the indentation and the closing
    character of a line to the offsets of such lines.
    """

    data: bytes
    is_valid: IsValid
    kept: bytearray
    quoted: Sequence[tuple[int, int]]
    closers: dict[bytes, list[int]]

    def keep(self, each: _Function, levels: int) -> None:
        """Keep a function: all of it if it is valid, otherwise its header, its closer, and the functions inside."""
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
        """Returns the functions in the bytes [start, end) that are not inside another function or a here-document."""
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
        """Returns the function that begins at a header.

        It ends with the closer at the end of the same line, or on the first line that has the indentation of the header.
        """
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
    """Returns the byte ranges of here-documents."""
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
