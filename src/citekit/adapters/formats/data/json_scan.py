"""Finds the byte offsets of the members of a JSON value (RFC 8259, with comments) without building the values.

The time is linear in the length, nested values do not use the call stack, and each member takes 32 bytes of memory.
"""

from __future__ import annotations

import json
import re
from array import array

from attrs import define, field

_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_COMMENT = rb"//[^\r\n]*+|/\*(?s:.*?)(?:\*/|\Z)"
_LEAF = rb'[\[{][^"\[\]{}/]*+(?:' + _STRING + rb'[^"\[\]{}/]*+)*+[\]}]'
_SHALLOW = re.compile(rb"(?s)" + _LEAF + rb"|" + _STRING + rb'|[\[\]{},:"]|' + _COMMENT)
_DEEP = re.compile(rb"(?s)" + _LEAF + rb"|" + _STRING + rb'|[\[\]{}"]|' + _COMMENT)
_SPACE = re.compile(rb"(?:[ \t\r\n,]++|" + _COMMENT + rb")*+")
_OPEN, _CLOSE, _QUOTE = b"[{", b"]}", b'"'
_KEY_LIMIT = 2000


@define
class MemberOffsets:
    """The byte offsets of the members of a JSON array or object.

    `keys` and `values` contain the start and the end for each member. In an array, the start and the end of a key are
    equal. `end` is the offset after the closing bracket. `whole` is False if the data ends before that bracket.
    """

    keys: array[int] = field(factory=lambda: array("q"), repr=False)
    values: array[int] = field(factory=lambda: array("q"), repr=False)
    end: int = 0
    whole: bool = True

    @property
    def count(self) -> int:
        """The number of members of the array or object."""
        return len(self.values) // 2

    def value(self, index: int) -> tuple[int, int]:
        """Return the start and end offsets of the value of a member."""
        return self.values[2 * index], self.values[2 * index + 1]

    def begin(self, index: int) -> int:
        """Return the offset where a member starts, including its key if it has one."""
        return min(self.keys[2 * index], self.values[2 * index])

    def key(self, data: bytes, index: int) -> str | None:
        """Return the key of an object's member, or None for an element of an array."""
        start, end = self.keys[2 * index], self.keys[2 * index + 1]
        return None if start == end else text_of(data[start : min(end, start + _KEY_LIMIT)])


def text_of(token: bytes) -> str:
    """Decode a JSON string literal. Return any other value as written, and a truncated string without its quotes."""
    if not token.startswith(_QUOTE):
        return token.decode("utf-8", "replace")
    try:
        found = json.loads(token)
        return found if isinstance(found, str) else token.decode("utf-8", "replace")
    except ValueError:
        return token.decode("utf-8", "replace").strip('"')


def first_value(data: bytes, offset: int = 0, end: int | None = None) -> int:
    """Return the offset of the first value at or after `offset`, or `end` if there is none before it.

    If `end` is None, it is the length of `data`.
    """
    stop = len(data) if end is None else end
    found = _SPACE.match(data, offset, stop)
    return found.end() if found else stop


def scan(data: bytes, start: int) -> MemberOffsets:
    """Return the offsets of the members of the array or object whose opening bracket is at byte `start`."""
    parts = MemberOffsets()
    begin, position, key = start + 1, start + 1, (0, 0)
    while True:
        found = _SHALLOW.search(data, position)
        if found is None or found[0] == _QUOTE:
            parts.whole = False
            _add(parts, data, key, begin, len(data))
            parts.end = len(data)
            return parts
        position, first = found.end(), data[found.start()]
        if first == 0x2C or (first in _CLOSE and found.end() - found.start() == 1):
            _add(parts, data, key, begin, found.start())
            begin, key = position, (0, 0)
            if first != 0x2C:
                parts.end = position
                return parts
        elif first == 0x3A:
            key, begin = _trimmed(data, begin, found.start()), position
        elif first in _OPEN and found.end() - found.start() == 1:
            position = skip(data, position)


def skip(data: bytes, position: int) -> int:
    """Return the offset after the array or object whose content begins at `position`, or the length of `data` if it is
    not closed.
    """
    depth = 1
    for found in _DEEP.finditer(data, position):
        if found.end() - found.start() == 1:
            first = data[found.start()]
            if first in _OPEN:
                depth += 1
            elif first in _CLOSE:
                depth -= 1
                if not depth:
                    return found.end()
            else:
                break
    return len(data)


def _add(parts: MemberOffsets, data: bytes, key: tuple[int, int], begin: int, end: int) -> None:
    start, end = _trimmed(data, begin, end)
    if start < end or key != (0, 0):
        parts.keys.extend(key if key != (0, 0) else (start, start))
        parts.values.extend((start, end))


def _trimmed(data: bytes, begin: int, end: int) -> tuple[int, int]:
    start = first_value(data, begin, end)
    while end > start and data[end - 1] in b" \t\r\n":
        end -= 1
    return start, end
