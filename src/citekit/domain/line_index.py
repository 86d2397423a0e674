"""Finds the lines of a text as editors count them.

A line ends at LF, at CR LF, or at a CR without an LF after it. A line end at the end of the file does not start another
line. In UTF-16 and UTF-32, line ends are whole code units.

`LineIndex` has the start of each line. `LineMarks` finds lines without reading the rest of the text: it records the
number of line ends before selected offsets, in 16 bytes for about 64 kB of text.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterable
from itertools import accumulate, compress, islice
from threading import Lock
from typing import Protocol

from attrs import define, field, frozen

from citekit.domain.errors import LocationOutside, SourceUnsupported
from citekit.domain.locations import Lines

LINES_LIMIT = 50_000_000
"""Maximum number of lines of a text. Its index takes 400 MB."""

_UNITS: tuple[tuple[bytes, str, int], ...] = (
    (b"\xff\xfe\0\0", "little", 4),
    (b"\0\0\xfe\xff", "big", 4),
    (b"\xff\xfe", "little", 2),
    (b"\xfe\xff", "big", 2),
)
_IS_LF = bytes(byte == 10 for byte in range(256))
_DENSE = 4
"""If lines are shorter than this on average, in bytes, checking each byte is faster than splitting."""

WIDE_END = {
    ("little", 2): re.compile(rb"\r\0\n\0|\n\0|\r\0"),
    ("big", 2): re.compile(rb"\0\r\0\n|\0\n|\0\r"),
    ("little", 4): re.compile(rb"\r\0\0\0\n\0\0\0|\n\0\0\0|\r\0\0\0"),
    ("big", 4): re.compile(rb"\0\0\0\r\0\0\0\n|\0\0\0\n|\0\0\0\r"),
}
"""Patterns of a line end by (byte order, bytes per code unit). A match counts if it starts at a code unit."""


@frozen
class LineIndex:
    """The lines of a text. `starts[i]` is the byte offset of line i + 1, and `size` is the size of the text in bytes."""

    starts: array[int] = field(repr=False)
    size: int

    @property
    def count(self) -> int:
        """The number of lines."""
        return len(self.starts)

    def byte_range(self, lines: Lines) -> tuple[int, int]:
        """Return the byte offsets (start, end) of `lines`, including their line ends.

        Raise `LocationOutside` if the text has fewer lines.
        """
        if lines.last > self.count:
            raise LocationOutside.beyond("line", lines.last, "text", self.count)
        end = self.starts[lines.last] if lines.last < self.count else self.size
        return self.starts[lines.first - 1], end


def index_lines(chunks: Iterable[bytes]) -> LineIndex:
    """Return the index of a text that arrives in chunks of any size. The index takes 8 bytes per line.

    Raise `SourceUnsupported` if the text has more than `LINES_LIMIT` lines.
    """
    starts = array("q")
    held, offset, order, unit = b"", 0, "little", 1
    first = True
    for chunk in chunks:
        data = held + chunk
        if first:
            if len(data) < 4:
                held = data
                continue
            order, unit = code_unit(data)
            starts.append(0)
            first = False
        offset, held = _scan(data, offset, order, unit, starts, final=False)
        if len(starts) > LINES_LIMIT:
            raise SourceUnsupported(f"The text has more than {LINES_LIMIT:,} lines. Split it into smaller files.")
    if first and held:
        order, unit = code_unit(held)
        starts.append(0)
    offset, _ = _scan(held, offset, order, unit, starts, final=True)
    if len(starts) > 1 and starts[-1] == offset:
        starts.pop()
    return LineIndex(starts, offset)


def code_unit(head: bytes) -> tuple[str, int]:
    """Return the byte order (`little` or `big`) and the bytes per code unit of a text that begins with `head`.

    Without a byte-order mark, the result is `("little", 1)`.
    """
    return next(((order, unit) for mark, order, unit in _UNITS if head.startswith(mark)), ("little", 1))


def _scan(data: bytes, offset: int, order: str, unit: int, starts: array[int], *, final: bool) -> tuple[int, bytes]:
    """Append to `starts` the offsets of the lines that begin in `data`, which is at `offset` in the text.

    Return the offset of the first byte that was not scanned, and the bytes from there.
    """
    if unit > 1:
        return _scan_wide(data, offset, WIDE_END[order, unit], unit, starts, final=final)
    done = len(data) - (data.endswith(b"\r") and not final)
    if data.count(b"\n") * _DENSE > len(data) and b"\r" not in data:
        starts.extend(compress(range(offset + 1, offset + len(data) + 1), data.translate(_IS_LF)))
        return offset + len(data), b""
    end = max(data.rfind(b"\n", 0, done), data.rfind(b"\r", 0, done)) + 1
    lengths = map(len, data[:end].splitlines(keepends=True))  # for bytes, only at LF, CR LF, and CR
    starts.extend(islice(accumulate(lengths, initial=offset), 1, None))
    return offset + done, data[done:]


def _scan_wide(
    data: bytes, offset: int, pattern: re.Pattern[bytes], unit: int, starts: array[int], *, final: bool
) -> tuple[int, bytes]:
    """Do the same as `_scan` for UTF-16 or UTF-32."""
    limit = len(data) if final else max(0, (len(data) - 2 * unit + 1) // unit * unit)
    position = 0
    while True:
        found = pattern.search(data, position)
        if found is None or found.start() >= limit:
            break
        if found.start() % unit:
            position = found.start() + 1
            continue
        position = found.end()
        starts.append(offset + position)
    done = len(data) if final else max(position, limit)
    return offset + done, data[done:]


class Read(Protocol):
    """A function that reads bytes of the text."""

    def __call__(self, offset: int, size: int, *, counting: bool) -> bytes:
        """Return `size` bytes from `offset`, or fewer at the end of the text.

        `counting` is True when a block is read to count its lines.
        """


_FIRST_BLOCK = 1 << 13
_BLOCK = 1 << 16


@define
class LineMarks:
    """An incremental index of lines: `ends_before[i]` is the number of line ends before the byte `offsets[i]`.

    The index grows as far as the requested lines require. `size` is the size of the text in bytes, or None until the
    end is reached. Thread-safe.
    """

    offsets: array[int] = field(factory=lambda: array("q", (0,)), repr=False)
    ends_before: array[int] = field(factory=lambda: array("q", (0,)), repr=False)
    size: int | None = None
    _wide: tuple[re.Pattern[bytes], int] | None = None
    _lock: Lock = field(factory=Lock, repr=False, eq=False)

    @property
    def weight(self) -> int:
        """The approximate memory use in bytes."""
        return 16 * len(self.offsets)

    def byte_range(self, lines: Lines, read: Read) -> tuple[int, int]:
        """Return the byte offsets (start, end) of `lines`, including their line ends. `read` reads the text.

        Raise `LocationOutside` if the text has fewer lines.
        """
        with self._lock:
            while self.ends_before[-1] < lines.last and self.size is None:
                self._grow(read)
        if self.ends_before[-1] < lines.last:
            self._check(lines.last, read)
        return self._after(lines.first - 1, read), self._after(lines.last, read)

    def _grow(self, read: Read) -> None:
        """Add the line ends of the next block to the index."""
        place = self.offsets[-1]
        block = read(place, min(max(_FIRST_BLOCK, place), _BLOCK), counting=True)
        if place == 0:
            order, unit = code_unit(block)
            self._wide = (WIDE_END[order, unit], unit) if unit > 1 else None
        if not block:
            self.size = place
            return
        length = self._whole(block)
        self.ends_before.append(self.ends_before[-1] + self._count(block[:length] if length < len(block) else block))
        self.offsets.append(place + length)

    def _whole(self, block: bytes) -> int:
        """Return how many bytes of a block can be counted now: not a part of a code unit, nor a CR that may belong to a
        CR LF.
        """
        unit = self._wide[1] if self._wide else 1
        length = len(block) // unit * unit or len(block)
        return length - unit if length > unit and b"\r" in block[length - unit : length] else length

    def _count(self, block: bytes) -> int:
        if self._wide:
            return len(_wide_ends(block, *self._wide))
        feeds = block.count(b"\n")
        return feeds + block.count(b"\r") - block.count(b"\r\n") if b"\r" in block else feeds

    def _check(self, last: int, read: Read) -> None:
        """Raise `LocationOutside` if the line number `last` is beyond the end of the text."""
        count, size = self.ends_before[-1], self.offsets[-1]
        if self._after(count, read) < size:
            count += 1
        if last > count:
            raise LocationOutside.beyond("line", last, "text", count)

    def _after(self, ends: int, read: Read) -> int:
        """Return the byte offset after the first `ends` line ends, or the size of a text that has fewer."""
        if ends == 0:
            return 0
        at = bisect_left(self.ends_before, ends)
        if at == len(self.ends_before):
            return self.offsets[-1]
        start, end, wanted = self.offsets[at - 1], self.offsets[at], ends - self.ends_before[at - 1]
        block = read(start, end - start, counting=False)
        if self._wide:
            return start + _wide_ends(block, *self._wide)[wanted - 1]
        if b"\r" not in block:
            return end - len(block.split(b"\n", wanted)[-1])
        return start + sum(map(len, block.splitlines(keepends=True)[:wanted]))


def _wide_ends(block: bytes, pattern: re.Pattern[bytes], unit: int) -> list[int]:
    """Return the offset after each line end in a block of UTF-16 or UTF-32 text."""
    found, position = [], 0
    while match := pattern.search(block, position):
        if match.start() % unit:
            position = match.start() + 1
        else:
            position = match.end()
            found.append(position)
    return found
