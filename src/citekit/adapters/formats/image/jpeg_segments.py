"""Reads the segments of a JPEG file (ITU-T T.81, annex B), and copies a JPEG without personal metadata."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from io import BytesIO
from typing import IO

SOS = 0xDA
"""Start of scan: the encoded pixels follow."""

COPY_LIMIT = 64 << 20
"""The maximum size in bytes of a file that is copied in memory."""

_APPS, _EOI = range(0xE0, 0xF0), 0xD9
_ICC, _ADOBE = (0xE2, b"ICC_PROFILE\0"), (0xEE, b"Adobe")
_ADOBE_LENGTH = 14
_IGNORED = frozenset((0xDC, 0xFE))
"""Markers of segments that readers ignore: a comment, and a number of lines before the first scan."""

_FRAME_HEADERS = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_STANDALONE = frozenset((0x01, *range(0xD0, 0xD8)))
_NEXT_MARKER = re.compile(rb"\xff+[^\x00\xff\xd0-\xd7]")
_BETWEEN_SCANS = frozenset((0xC4, SOS, 0xDB, 0xDD))


def segments(stream: IO[bytes]) -> Iterator[tuple[int, int, int]]:
    """Yield the marker of each segment, the offset of its length field, and the offset after the segment.

    Stop after the first start-of-scan segment, at the end of the image, or at damaged data.
    """
    offset = 2
    while True:
        stream.seek(offset)
        head = stream.read(4)
        if len(head) < 4 or head[0] != 0xFF:
            return
        if head[1] == 0xFF or head[1] in _STANDALONE:
            offset += 1 if head[1] == 0xFF else 2
            continue
        length = int.from_bytes(head[2:4], "big")
        if length < 2 or head[1] == _EOI:
            return
        yield head[1], offset + 2, offset + 2 + length
        if head[1] == SOS:
            return
        offset += 2 + length


def frame_height(segment: bytes) -> int:
    """Return the number of rows in a JPEG frame header, which begins with its length field."""
    return int.from_bytes(segment[3:5], "big")


def copy_without_metadata(stream: IO[bytes], dpi: tuple[float, ...]) -> bytes | None:
    """Copy the encoded image with its color profile, but without EXIF, XMP, comments, and trailing data.

    The resolution is set to `dpi`, if that is not empty. Return None if the file is damaged or too large, or if the
    copy cannot store the resolution.
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
    copied = (_copied_segment(marker, data, start, after) for marker, start, after in found if marker != SOS)
    return b"".join((b"\xff\xd8", density, *copied, data[found[-1][1] - 2 : end]))


def _end_of_image(data: bytes, offset: int) -> int | None:
    """Return the offset after the end-of-image marker, or None if it is missing or follows a segment that cannot occur
    between scans.
    """
    while found := _NEXT_MARKER.search(data, offset):
        marker, offset = data[found.end() - 1], found.end()
        if marker == _EOI:
            return offset
        if marker not in _BETWEEN_SCANS:
            return None
        offset += max(2, int.from_bytes(data[offset : offset + 2], "big"))
    return None


def _copied_segment(marker: int, data: bytes, start: int, after: int) -> bytes:
    """Return the bytes of a segment that are copied: all, none, or, for an Adobe segment, its color transform."""
    if (marker, data[start + 2 : start + 7]) == _ADOBE:
        whole = after - start >= _ADOBE_LENGTH
        return b"\xff\xee\0\x0e" + data[start + 2 : start + _ADOBE_LENGTH] if whole else b""
    dropped = marker in _IGNORED or (marker in _APPS and (marker, data[start + 2 : start + 14]) != _ICC)
    return b"" if dropped else data[start - 2 : after]


def _jfif_segment(data: bytes, found: list[tuple[int, int, int]], dpi: tuple[float, ...]) -> bytes | None:
    """Return the JFIF segment (JFIF 1.02) for the copy, b"" if it needs none, or None if it would change the colors or
    cannot store `dpi`.
    """
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
    """Return whether the file has the same colors with and without a JFIF segment: no Adobe segment, and components
    with the IDs 1, or 1 to 3.
    """
    if any(marker == 0xEE for marker, _, _ in found):
        return False
    frames = [data[start + 7 : after] for marker, start, after in found if marker in _FRAME_HEADERS]
    return len(frames) == 1 and frames[0][1::3] in (b"\1", b"\1\2\3")
