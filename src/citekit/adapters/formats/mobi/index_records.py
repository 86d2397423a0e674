"""Reads the indexes of a Kindle book, such as its table of contents, from INDX records.

An index consists of rows, each with a name and numbers by tag, and of the texts that these numbers refer to.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from struct import unpack_from

from attrs import frozen

from citekit.adapters.formats.mobi.records import NONE, Records

ROWS_LIMIT = 200_000
"""Maximum number of rows in an index. An index with more counts as damaged."""


@frozen
class Row:
    """A row of an index in a Kindle book: its name, and numbers by tag, some of which are keys of `Index.texts`."""

    name: bytes
    tags: Mapping[int, Sequence[int]]


@frozen
class Index:
    """An index of a Kindle book: its rows in order, and its texts by offset."""

    rows: Sequence[Row] = ()
    texts: Mapping[int, bytes] = {}


def read_index(records: Records, number: int) -> Index:
    """Return the index that starts at the record `number`; empty if it is missing, damaged, or larger than
    `ROWS_LIMIT`.
    """
    if number == NONE or records[number][:4] != b"INDX":
        return Index()
    try:
        return _read(records, number)
    except (struct.error, IndexError):
        return Index()


def _read(records: Records, number: int) -> Index:
    head = records[number]
    (header_size,) = unpack_from(">I", head, 4)
    (count,) = unpack_from(">I", head, 24)
    (text_records,) = unpack_from(">I", head, 52)
    table, control = _tag_table(head, header_size)
    rows: list[Row] = []
    for each in range(number + 1, number + 1 + min(count, 10_000)):
        rows += _rows(records[each], table, control)
        if len(rows) > ROWS_LIMIT:
            return Index()
    first = number + 1 + count
    texts: dict[int, bytes] = {}
    for position, each in enumerate(range(first, first + min(text_records, 1000))):
        texts.update(_texts(records[each], position << 16))
    return Index(rows, texts)


def _tag_table(head: bytes, at: int) -> tuple[list[bytes], int]:
    if head[at : at + 4] != b"TAGX":
        return [], 0
    size, control = unpack_from(">II", head, at + 4)
    end = min(at + size, len(head) - 3)
    return [head[each : each + 4] for each in range(at + 12, end, 4)], control


def _rows(record: bytes, table: Sequence[bytes], control: int) -> Iterator[Row]:
    if record[:4] != b"INDX":
        return
    start, count = unpack_from(">II", record, 20)
    places = unpack_from(f">{count}H", record, start + 4)
    for place, end in pairwise((*places, start)):
        size = record[place]
        yield Row(record[place + 1 : place + 1 + size], _tags(record[place + 1 + size : end], table, control))


def _tags(data: bytes, table: Sequence[bytes], control: int) -> dict[int, list[int]]:
    wanted: list[tuple[int, int, bool]] = []
    byte, at = 0, control
    for tag, width, mask, is_end in table:
        if is_end:
            byte += 1
            continue
        value = data[byte] & mask
        if value and value == mask and mask.bit_count() > 1:
            length, at = _number(data, at)
            wanted.append((tag, length, True))
        elif value:
            shift = (mask & -mask).bit_length() - 1
            wanted.append((tag, (value >> shift) * width, False))
    found: dict[int, list[int]] = {}
    for tag, amount, in_bytes in wanted:
        end = at + amount
        values: list[int] = []
        while (at < end) if in_bytes else (len(values) < amount):
            value, at = _number(data, at)
            values.append(value)
        found[tag] = values
    return found


def _number(data: bytes, at: int) -> tuple[int, int]:
    """Return the number at the offset `at`, in seven bits per byte up to a byte with its high bit set, and the offset
    after it.

    Raise `IndexError` if the data ends before that byte.
    """
    value = 0
    while at < len(data):
        byte = data[at]
        at += 1
        value = value << 7 | byte & 0x7F
        if byte & 0x80:
            return value, at
    raise IndexError(at)


def _texts(record: bytes, base: int) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at < len(record) and record[at]:
        start = at
        size, at = _number(record, at)
        yield base + start, record[at : at + size]
        at += size
