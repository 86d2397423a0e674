"""Shell scripts that their grammar does not understand as a whole: it loses every function of a file to one odd line.

Functions are then recognized by their lines: a head, and the line with the same indentation that closes it.
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

Fits = Callable[[bytes], bool]
"""Whether a piece of shell is understood by the parser."""


@frozen
class _Function:
    """Bytes: its first, that after its opener, that of its closer, and that after it."""

    start: int
    body: int
    closer: int
    end: int


def readable(data: bytes) -> bytes:
    """The program for the parser, of the same length: `for x do` has a semicolon."""
    return _FOR.sub(rb"\1;", data)


def skeleton(data: bytes, fits: Fits) -> bytes:
    """The functions of a program and the comments around them, of the same length and with the same lines.

    A body that does not fit is reduced to the functions in it.
    """
    kept = bytearray(blank(data))
    for comment in _COMMENT.finditer(data):
        kept[comment.start() : comment.end()] = comment[0]
    quoted = _quoted(data)
    script = _Script(data, fits, kept, quoted, _closers(data, quoted))
    for each in script.outermost(0, len(data)):
        script.keep(each, _NESTED)
    return bytes(kept)


@frozen
class _Script:
    """A program, what is kept of it, the texts of its here-documents, and where lines close something, by indent and mark."""

    data: bytes
    fits: Fits
    kept: bytearray
    quoted: Sequence[tuple[int, int]]
    closers: dict[bytes, list[int]]

    def keep(self, each: _Function, levels: int) -> None:
        """Keep a function: as it is where it fits, else its head, its closer and the functions between them."""
        whole = self.data[each.start : each.end]
        if self.fits(whole):
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
        """The functions between two places that stand in no other there, nor in the texts of here-documents."""
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
        """The function of a head, to the closer at the end of its line or on the first line indented as the head is."""
        mark = _CLOSERS[head["opener"]]
        same = _SAME_LINE[mark].match(self.data, head.end(), end)
        places = self.closers.get(head["indent"] + mark, [])
        below = bisect_left(places, head.end())
        place = same.start(1) if same else places[below] if below < len(places) else end
        return (
            _Function(head.start("indent") + len(head["indent"]), head.end(), place, place + 1) if place < end else None
        )


def _is_quoted(place: int, quoted: Sequence[tuple[int, int]]) -> bool:
    before = bisect_right(quoted, place, key=itemgetter(0)) - 1
    return before >= 0 and place < quoted[before][1]


def _closers(data: bytes, quoted: Sequence[tuple[int, int]]) -> dict[bytes, list[int]]:
    found: dict[bytes, list[int]] = {}
    for each in _CLOSING.finditer(data):
        if _is_quoted(each.start(), quoted):
            continue
        found.setdefault(each[0], []).append(each.end() - 1)
    return found


def _quoted(data: bytes) -> list[tuple[int, int]]:
    """Where the texts of here-documents are."""
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
