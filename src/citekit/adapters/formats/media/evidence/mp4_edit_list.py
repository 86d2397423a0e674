"""Limits the duration for which players show an MP4, using its edit lists (ISO/IEC 14496-12, 8.6.6).

FFmpeg writes files that are shown to the end of the last sample. Samples that are included only because others refer to
them must stay hidden. The durations are overwritten in place.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

_CONTAINERS = {b"moov", b"trak", b"edts", b"mdia"}
_TOP_LIMIT = 64


def limit_shown_duration(path: Path, seconds: float) -> None:
    """Change the MP4 file at `path` so that players show each track for at most `seconds`."""
    with path.open("r+b") as file:
        found = _read_moov(file)
        if found is None:
            return
        offset, moov = found
        data = bytearray(moov)
        _limit_durations(data, seconds)
        file.seek(offset)
        file.write(data)


def _read_moov(file: BinaryIO) -> tuple[int, bytes] | None:
    offset = 0
    for _ in range(_TOP_LIMIT):
        file.seek(offset)
        head = file.read(16)
        if len(head) < 8:
            return None
        size, kind = struct.unpack(">I4s", head[:8])
        if size == 1:
            size = struct.unpack(">Q", head[8:16])[0]
        if kind == b"moov":
            file.seek(offset)
            return offset, file.read(size)
        if size < 8:
            return None
        offset += size
    return None


def _limit_durations(data: bytearray, seconds: float) -> None:
    boxes = list(_boxes(data, 0, len(data)))
    headers = [offset for kind, offset in boxes if kind == b"mvhd"]
    if not headers:
        return
    header = headers[0]
    scale = struct.unpack_from(">I", data, header + (20 if data[header] else 12))[0]
    limit = round(seconds * scale)
    _limit_field(data, header + (24 if data[header] else 16), limit, wide=bool(data[header]))
    for kind, offset in boxes:
        if kind == b"tkhd":
            _limit_field(data, offset + (28 if data[offset] else 20), limit, wide=bool(data[offset]))
        elif kind == b"elst":
            _limit_edits(data, offset, limit)


def _limit_edits(data: bytearray, offset: int, limit: int) -> None:
    """Limit the total duration of the edits, including empty ones, to `limit`. The content of the box begins at
    `offset`.
    """
    wide = bool(data[offset])
    count = struct.unpack_from(">I", data, offset + 4)[0]
    entry, remaining = offset + 8, limit
    for _ in range(min(count, 1000)):
        remaining -= _limit_field(data, entry, max(remaining, 0), wide=wide)
        entry += 20 if wide else 12


def _limit_field(data: bytearray, offset: int, limit: int, *, wide: bool) -> int:
    shape = ">Q" if wide else ">I"
    value = min(struct.unpack_from(shape, data, offset)[0], limit)
    struct.pack_into(shape, data, offset, value)
    return int(value)


def _boxes(data: bytearray, start: int, end: int) -> Iterator[tuple[bytes, int]]:
    """Yield the type of each box and the offset of its content, including boxes inside `_CONTAINERS`."""
    offset = start
    while offset + 8 <= end:
        size, kind = struct.unpack_from(">I4s", data, offset)
        if size < 8 or offset + size > end:
            return
        yield bytes(kind), offset + 8
        if kind in _CONTAINERS:
            yield from _boxes(data, offset + 8, offset + size)
        offset += size
