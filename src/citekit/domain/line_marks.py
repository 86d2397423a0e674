"""Where some lines of a text lie, without looking at what follows them.

Lines are counted as `line_index` says. Instead of where every line begins, what is remembered is how many ended before
each of a few places, so that a text of any size takes 16 bytes for 64 kB of it.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from threading import Lock
from typing import Protocol

from attrs import define, field

from citekit.domain.errors import LocationOutside
from citekit.domain.line_index import WIDE_END, code_unit
from citekit.domain.locations import Lines


class Read(Protocol):
    """Gives the bytes of the text."""

    def __call__(self, offset: int, size: int, *, counting: bool) -> bytes:
        """`size` bytes from `offset` on, fewer only at the end; `counting` where lines are counted, not found again."""


_FIRST_BLOCK = 1 << 13
_BLOCK = 1 << 16


@define
class LineMarks:
    """Grows as far as lines are asked for. `places[i]` is a byte, `ended[i]` how many lines ended before it.

    No place lies inside a code unit, nor between a CR and its LF. Safe for threads.
    """

    places: array[int] = field(factory=lambda: array("q", (0,)), repr=False)
    ended: array[int] = field(factory=lambda: array("q", (0,)), repr=False)
    size: int | None = None
    _wide: tuple[re.Pattern[bytes], int] | None = None
    _lock: Lock = field(factory=Lock, repr=False, eq=False)

    @property
    def weight(self) -> int:
        """Bytes of memory."""
        return 16 * len(self.places)

    def byte_range(self, lines: Lines, read: Read) -> tuple[int, int]:
        """(start, end) of the bytes of `lines`, their line ends included. Raises `LocationOutside` beyond the end."""
        with self._lock:
            while self.ended[-1] < lines.last and self.size is None:
                self._grow(read)
        if self.ended[-1] < lines.last:
            self._check(lines.last, read)
        return self._after(lines.first - 1, read), self._after(lines.last, read)

    def _grow(self, read: Read) -> None:
        """Count the lines of one more block."""
        place = self.places[-1]
        block = read(place, min(max(_FIRST_BLOCK, place), _BLOCK), counting=True)
        if place == 0:
            order, unit = code_unit(block)
            self._wide = (WIDE_END[order, unit], unit) if unit > 1 else None
        if not block:
            self.size = place
            return
        length = self._whole(block)
        self.ended.append(self.ended[-1] + self._count(block[:length] if length < len(block) else block))
        self.places.append(place + length)

    def _whole(self, block: bytes) -> int:
        """How much of a block can be counted without what follows it: a CR at its end may be half of a CR LF."""
        unit = self._wide[1] if self._wide else 1
        length = len(block) // unit * unit or len(block)
        return length - unit if length > unit and b"\r" in block[length - unit : length] else length

    def _count(self, block: bytes) -> int:
        if self._wide:
            return len(_wide_ends(block, *self._wide))
        feeds = block.count(b"\n")
        return feeds + block.count(b"\r") - block.count(b"\r\n") if b"\r" in block else feeds

    def _check(self, last: int, read: Read) -> None:
        """Whether `last` is the line without an end at the end of the text, which has fewer ends than that."""
        count, size = self.ended[-1], self.places[-1]
        if self._after(count, read) < size:
            count += 1
        if last > count:
            raise LocationOutside(f"line {last} is beyond the end: the text has {count} lines")

    def _after(self, ends: int, read: Read) -> int:
        """The byte after that many line ends, or the end of a text that has fewer."""
        if ends == 0:
            return 0
        at = bisect_left(self.ended, ends)
        if at == len(self.ended):
            return self.places[-1]
        start, end, wanted = self.places[at - 1], self.places[at], ends - self.ended[at - 1]
        block = read(start, end - start, counting=False)
        if self._wide:
            return start + _wide_ends(block, *self._wide)[wanted - 1]
        if b"\r" not in block:
            return end - len(block.split(b"\n", wanted)[-1])
        return start + sum(map(len, block.splitlines(keepends=True)[:wanted]))


def _wide_ends(block: bytes, pattern: re.Pattern[bytes], unit: int) -> list[int]:
    """The offsets after each line end in a block of code units of several bytes."""
    found, position = [], 0
    while match := pattern.search(block, position):
        if match.start() % unit:
            position = match.start() + 1
        else:
            position = match.end()
            found.append(position)
    return found
