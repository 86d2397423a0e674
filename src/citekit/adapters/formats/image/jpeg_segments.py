"""The segments of a JPEG file (ITU-T T.81, annex B), and a copy of one without what it says about people and places."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from io import BytesIO
from typing import IO

SOS = 0xDA
"""Start of scan: coded pixels follow."""

COPY_LIMIT = 64 << 20
"""Bytes of the largest file that is copied in memory."""

_APPS, _EOI = range(0xE0, 0xF0), 0xD9
_ICC, _ADOBE = (0xE2, b"ICC_PROFILE\0"), (0xEE, b"Adobe")
_ADOBE_LENGTH = 14
_IGNORED = frozenset((0xDC, 0xFE))
"""A number of lines, which only counts after the first scan, and a comment: readers pass over both."""

_FRAME_HEADERS = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_STANDALONE = frozenset((0x01, *range(0xD0, 0xD8)))
_NEXT_MARKER = re.compile(rb"\xff+[^\x00\xff\xd0-\xd7]")
_BETWEEN_SCANS = frozenset((0xC4, SOS, 0xDB, 0xDD))


def segments(stream: IO[bytes]) -> Iterator[tuple[int, int, int]]:
    """(marker, offset of its length field, offset after it) of each segment up to the first scan; ends where it is broken."""
    place = 2
    while True:
        stream.seek(place)
        head = stream.read(4)
        if len(head) < 4 or head[0] != 0xFF:
            return
        if head[1] == 0xFF or head[1] in _STANDALONE:
            place += 1 if head[1] == 0xFF else 2
            continue
        length = int.from_bytes(head[2:4], "big")
        if length < 2 or head[1] == _EOI:
            return
        yield head[1], place + 2, place + 2 + length
        if head[1] == SOS:
            return
        place += 2 + length


def frame_height(segment: bytes) -> int:
    """The rows that a frame header declares, from its length field on."""
    return int.from_bytes(segment[3:5], "big")


def copy_without_metadata(stream: IO[bytes], dpi: tuple[float, ...]) -> bytes | None:
    """The same picture, its pixels as they are coded: with its profile, without EXIF, XMP, comments, and what is behind it.

    Its resolution is `dpi` (across, down) where given. None for a file that is broken, too large, or cannot say that.
    """
    stream.seek(0)
    data = stream.read(COPY_LIMIT + 1)
    found = list(segments(BytesIO(data)))
    end = _end_of_image(data, found[-1][2]) if len(data) <= COPY_LIMIT and found and found[-1][0] == SOS else None
    if end is None:
        return None
    density = _jfif_segment(data, found, dpi)
    if density is None:
        return None
    kept = (_copied_segment(marker, data, start, after) for marker, start, after in found if marker != SOS)
    return b"".join((b"\xff\xd8", density, *kept, data[found[-1][1] - 2 : end]))


def _end_of_image(data: bytes, place: int) -> int | None:
    """The offset after the end mark, for scans that begin at `place`; None where it is missing, or odd things lie before."""
    while found := _NEXT_MARKER.search(data, place):
        marker, place = data[found.end() - 1], found.end()
        if marker == _EOI:
            return place
        if marker not in _BETWEEN_SCANS:
            return None
        place += max(2, int.from_bytes(data[place : place + 2], "big"))
    return None


def _copied_segment(marker: int, data: bytes, start: int, after: int) -> bytes:
    """What of a segment goes along: all of it, b"", or of what Adobe says about the colours no more than that."""
    if (marker, data[start + 2 : start + 7]) == _ADOBE:
        whole = after - start >= _ADOBE_LENGTH
        return b"\xff\xee\0\x0e" + data[start + 2 : start + _ADOBE_LENGTH] if whole else b""
    dropped = marker in _IGNORED or (marker in _APPS and (marker, data[start + 2 : start + 14]) != _ICC)
    return b"" if dropped else data[start - 2 : after]


def _jfif_segment(data: bytes, found: list[tuple[int, int, int]], dpi: tuple[float, ...]) -> bytes | None:
    """The JFIF segment (JFIF 1.02), b"" for none; None where it would change what the colours mean, or cannot hold `dpi`."""
    old = next(
        (data[start - 2 : start + 14] for marker, start, _ in found if marker == 0xE0 and _is_jfif(data, start)), b""
    )
    if not dpi:
        return old and old[:2] + b"\0\x10" + old[4:] + b"\0\0"
    if not old and not _implies_jfif(data, found):
        return None
    across, down = (round(each) for each in dpi)
    if not (0 < across < 65536 and 0 < down < 65536):
        return None
    return b"\xff\xe0" + struct.pack(">H5s2sBHHBB", 16, b"JFIF\0", b"\1\1", 1, across, down, 0, 0)


def _is_jfif(data: bytes, start: int) -> bool:
    return data.startswith(b"JFIF\0", start + 2) and int.from_bytes(data[start : start + 2], "big") >= 16


def _implies_jfif(data: bytes, found: list[tuple[int, int, int]]) -> bool:
    """Whether a file without a JFIF segment is read as one with it: no word from Adobe, and components 1 (to 3)."""
    if any(marker == 0xEE for marker, _, _ in found):
        return False
    frames = [data[start + 7 : after] for marker, start, after in found if marker in _FRAME_HEADERS]
    return len(frames) == 1 and frames[0][1::3] in (b"\1", b"\1\2\3")
