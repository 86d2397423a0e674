"""Decodes a region of an image without decoding more than necessary. The pixels equal those of a complete decoding.

Rows are stored from top to bottom, so the rows below the region are not needed. The header of a JPEG is changed to
declare fewer rows, PNG decoding stops early, and of uncompressed images, only the rows of the region are read. A
truncated file is decoded completely, so that it fails in the usual way.
"""

from __future__ import annotations

import os
from typing import IO, TYPE_CHECKING, Any, cast

from attrs import define, frozen

from citekit.adapters.formats.image.jpeg_segments import SOS, frame_height, segments
from citekit.adapters.libraries import pillow

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageFile import ImageFile

Rectangle = tuple[int, int, int, int]
"""(left, top, right, bottom) in stored pixels; right and bottom are exclusive."""

_MCU_ROWS = 16
"""The number of rows of the tallest JPEG minimum coded unit (ITU-T T.81, A.2).

The decoder smooths the edges between units, so it also needs the unit below a region.
"""

_TAIL_SIZE = 64
"""The number of bytes at the end of a file that may contain the end marker."""

_END_MARKERS = {"JPEG": b"\xff\xd9", "PNG": b"IEND\xaeB`\x82"}

_PIXEL_SIZES = {("L", "L"): 1, ("I;16", "I;16"): 2, ("I;16B", "I;16B"): 2, ("RGB", "RGB"): 3, ("RGBA", "RGBA"): 4}
"""Bytes per pixel by the modes of the picture and of its stored rows, which have the same layout."""

_SPARSE_FACTOR = 16
"""If a row is more than this many times as long as its needed part, the parts are read one by one."""

_BLOCK_SIZE = 1 << 18
"""The number of bytes of whole rows that are read at once, which stay in the cache of the processor."""

_ORIENTATION = 274


def decode_region(picture: ImageFile, part: Rectangle) -> Image:
    """Return the pixels of the region `part` of an image that is open but not decoded yet.

    Afterward, `picture` may contain undefined pixels below the region.
    """
    uncompressed = _read_uncompressed(picture, part)
    if uncompressed is not None:
        return uncompressed
    if part[3] < picture.height and _is_complete(picture):
        _stop_after(picture, part[3])
    picture.load()
    return picture.crop(part)


def _is_complete(picture: ImageFile) -> bool:
    mark, stream = _END_MARKERS.get(picture.format or ""), picture.fp
    if mark is None or stream is None:
        return False
    position = stream.tell()
    try:
        stream.seek(-min(_TAIL_SIZE, stream.seek(0, os.SEEK_END)), os.SEEK_END)
        return mark in stream.read(_TAIL_SIZE)
    finally:
        stream.seek(position)


def _stop_after(picture: ImageFile, bottom: int) -> None:
    """Make the decoder skip rows below the row `bottom`, if possible. Skipped pixels are undefined."""
    if len(picture.tile) != 1 or picture.tile[0].extents != (0, 0, *picture.size):
        return
    if picture.format == "JPEG":
        height = min(bottom + 2 * _MCU_ROWS, picture.height)
        patch = _with_fewer_rows(cast("IO[bytes]", picture.fp), picture.height, height)
        if patch is None:
            return
        picture.fp = cast("Any", patch)
    elif picture.info.get("interlace"):
        return
    else:
        height = bottom
    picture.tile = [picture.tile[0]._replace(extents=(0, 0, picture.width, height))]


def _with_fewer_rows(stream: IO[bytes], declared: int, height: int) -> _PatchedStream | None:
    """Return a JPEG stream whose header declares only `height` rows, or None if it does not declare `declared` rows."""
    position = stream.tell()
    try:
        for marker, start, _ in segments(stream):
            if marker == SOS:
                return None
            if marker in (0xC0, 0xC1, 0xC2):
                stream.seek(start)
                same = frame_height(stream.read(7)) == declared
                return _PatchedStream(stream, start + 3, height.to_bytes(2, "big")) if same else None
    finally:
        stream.seek(position)
    return None


@define
class _PatchedStream:
    """A stream in which the bytes at `offset` are replaced by `patch`."""

    stream: IO[bytes]
    offset: int
    patch: bytes

    def read(self, size: int = -1) -> bytes:
        start = self.stream.tell()
        data = self.stream.read(size)
        if start >= self.offset + len(self.patch) or start + len(data) <= self.offset:
            return data
        patched = bytearray(data)
        for number, byte in enumerate(self.patch, self.offset - start):
            if 0 <= number < len(patched):
                patched[number] = byte
        return bytes(patched)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return self.stream.seek(offset, whence)

    def tell(self) -> int:
        return self.stream.tell()

    def close(self) -> None:
        self.stream.close()


@frozen
class _Strip:
    """Uncompressed rows `first` to `end` (exclusive) of an image, stored at `offset`.

    `depth` is the number of bytes per pixel, and `mode` Pillow's raw mode.
    """

    first: int
    end: int
    offset: int
    depth: int
    mode: str


def _read_uncompressed(picture: ImageFile, part: Rectangle) -> Image | None:
    """Read a region of an uncompressed image row by row, or return None if the image has no `_strips`."""
    left, top, right, bottom = part
    strips = _strips(picture)
    if not strips:
        return None
    width, depth = right - left, strips[0].depth
    data = memoryview(bytearray(width * (bottom - top) * depth))
    for strip in strips:
        low, high = max(strip.first, top), min(strip.end, bottom)
        if low < high:
            begin = strip.offset + ((low - strip.first) * picture.width + left) * depth
            rows = data[(low - top) * width * depth : (high - top) * width * depth]
            _read_pieces(rows, picture.fp, begin, width * depth, picture.width * depth)
    image: Image = pillow.library().frombuffer(picture.mode, (width, bottom - top), data, "raw", strips[0].mode, 0, 1)
    return image


def _strips(picture: ImageFile) -> list[_Strip]:
    """Return the strips of an image from top to bottom, or an empty list if they cannot be read directly."""
    if picture.format not in ("TIFF", "BMP", "PPM") or getattr(picture, "tag_v2", {}).get(_ORIENTATION, 1) != 1:
        return []
    strips: list[_Strip] = []
    next_row = 0
    for tile in sorted(picture.tile, key=lambda tile: tile.offset):
        strip = _strip(picture, tile)
        if strip is None or strip.first != next_row:
            return []
        strips.append(strip)
        next_row = strip.end
    return strips if next_row == picture.height else []


def _strip(picture: ImageFile, tile: Any) -> _Strip | None:
    kind, extents, offset, args = tile
    mode, stride, orientation = (
        (args, 0, 1) if isinstance(args, str) else args if len(args or ()) == 3 else (None, 0, 0)
    )
    depth = _PIXEL_SIZES.get((picture.mode, str(mode)), 0)
    is_plain = kind == "raw" and orientation == 1 and offset >= 0 and stride in (0, picture.width * depth)
    if not is_plain or not depth or extents is None or (extents[0], extents[2]) != (0, picture.width):
        return None
    return _Strip(extents[1], extents[3], offset, depth, str(mode))


def _read_pieces(rows: memoryview, stream: Any, begin: int, length: int, stride: int) -> None:
    """Fill `rows` with blocks of `length` bytes, which begin every `stride` bytes from the offset `begin`."""
    stream = getattr(stream, "raw", stream)  # a buffered stream would read more than needed, and copy it
    if length == stride:
        return _read_into(rows, stream, begin)
    if length * _SPARSE_FACTOR < stride:
        for number, offset in enumerate(range(0, len(rows), length)):
            _read_into(rows[offset : offset + length], stream, begin + number * stride)
        return None
    block = memoryview(bytearray(max(1, _BLOCK_SIZE // stride) * stride))
    count = len(rows) // length
    for first in range(0, count, len(block) // stride):
        rows_in_block = min(len(block) // stride, count - first)
        _read_into(block[: (rows_in_block - 1) * stride + length], stream, begin + first * stride)
        for number in range(rows_in_block):
            offset = (first + number) * length
            rows[offset : offset + length] = block[number * stride : number * stride + length]
    return None


def _read_into(out: memoryview, stream: Any, begin: int) -> None:
    stream.seek(begin)
    while out:
        count = stream.readinto(out)
        if not count:
            raise OSError("image file is truncated")
        out = out[count:]
