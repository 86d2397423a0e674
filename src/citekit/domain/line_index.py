"""Where the lines of a text begin, counted as an editor counts them.

A line ends at LF, at CR LF, or at a CR that no LF follows. The last line needs no end; an end at the very end of the file
does not begin another line. In UTF-16 and UTF-32 the ends are code units, not bytes.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable
from itertools import accumulate, compress, islice

from attrs import field, frozen

from citekit.domain.errors import LocationOutside, SourceUnsupported
from citekit.domain.locations import Lines

LINES_LIMIT = 50_000_000
"""Lines of the longest text; its index takes 400 MB."""

_UNITS: tuple[tuple[bytes, str, int], ...] = (
    (b"\xff\xfe\0\0", "little", 4),
    (b"\0\0\xfe\xff", "big", 4),
    (b"\xff\xfe", "little", 2),
    (b"\xfe\xff", "big", 2),
)
_IS_LF = bytes(byte == 10 for byte in range(256))
_DENSE = 4
"""Bytes a line up to which looking at each byte is faster than making each line."""

WIDE_END = {
    ("little", 2): re.compile(rb"\r\0\n\0|\n\0|\r\0"),
    ("big", 2): re.compile(rb"\0\r\0\n|\0\n|\0\r"),
    ("little", 4): re.compile(rb"\r\0\0\0\n\0\0\0|\n\0\0\0|\r\0\0\0"),
    ("big", 4): re.compile(rb"\0\0\0\r\0\0\0\n|\0\0\0\n|\0\0\0\r"),
}
"""A line end in code units of (byte order, bytes); what it finds counts only where it begins with a code unit."""


@frozen
class LineIndex:
    """`starts[i]` is the byte where line i + 1 begins; `size` the bytes of the whole text."""

    starts: array[int] = field(repr=False)
    size: int

    @property
    def count(self) -> int:
        """How many lines there are; a text without bytes has none."""
        return len(self.starts)

    def byte_range(self, lines: Lines) -> tuple[int, int]:
        """(start, end) of the bytes of `lines`, their line ends included. Raises `LocationOutside` beyond the end."""
        if lines.last > self.count:
            raise LocationOutside(f"line {lines.last} is beyond the end: the text has {self.count} lines")
        end = self.starts[lines.last] if lines.last < self.count else self.size
        return self.starts[lines.first - 1], end


def index_lines(chunks: Iterable[bytes]) -> LineIndex:
    """The index of a text that comes in chunks of any size; memory is 8 bytes a line.

    Raises `SourceUnsupported` for more than `LINES_LIMIT` lines.
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
            raise SourceUnsupported(f"The text has more than {LINES_LIMIT} lines: part it into smaller files.")
    if first and held:
        order, unit = code_unit(held)
        starts.append(0)
    offset, _ = _scan(held, offset, order, unit, starts, final=True)
    if len(starts) > 1 and starts[-1] == offset:
        starts.pop()
    return LineIndex(starts, offset)


def code_unit(head: bytes) -> tuple[str, int]:
    """(byte order, bytes) of the code units of a text that begins with `head`, by its byte-order mark."""
    return next(((order, unit) for mark, order, unit in _UNITS if head.startswith(mark)), ("little", 1))


def _scan(data: bytes, offset: int, order: str, unit: int, starts: array[int], *, final: bool) -> tuple[int, bytes]:
    """Append the line starts found in `data`, which begins at byte `offset`; return what must be looked at again."""
    if unit > 1:
        return _scan_wide(data, offset, WIDE_END[order, unit], unit, starts, final=final)
    done = len(data) - (data.endswith(b"\r") and not final)
    if data.count(b"\n") * _DENSE > len(data) and b"\r" not in data:
        starts.extend(compress(range(offset + 1, offset + len(data) + 1), data.translate(_IS_LF)))
        return offset + len(data), b""
    end = max(data.rfind(b"\n", 0, done), data.rfind(b"\r", 0, done)) + 1
    lengths = map(len, data[:end].splitlines(keepends=True))  # of bytes: at LF, CR LF and CR, and nowhere else
    starts.extend(islice(accumulate(lengths, initial=offset), 1, None))
    return offset + done, data[done:]


def _scan_wide(
    data: bytes, offset: int, pattern: re.Pattern[bytes], unit: int, starts: array[int], *, final: bool
) -> tuple[int, bytes]:
    """As `_scan`, for code units of several bytes."""
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
