"""Measures the duration of an animated image from the blocks of its file, without decoding a frame.

GIF: delays of the graphic control extensions (GIF89a, 23). PNG: `fcTL` chunks (PNG 3, 11.3.6). WebP: `ANMF` chunks (RFC
9649, 2.7.1.1).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import IO

_BLOCK_LIMIT = 1_000_000
_GIF_EXTENSION, _GIF_CONTROL, _GIF_IMAGE = 0x21, 0xF9, 0x2C


def animation_duration(path: Path, kind: str) -> float | None:
    """Return the duration of the animation at `path` in seconds, or None if it is unknown or 0.

    `kind` is Pillow's name of the format.
    """
    delays = {"GIF": _gif_delays, "PNG": _png_delays, "WEBP": _webp_delays}.get(kind)
    if delays is None:
        return None
    try:
        with path.open("rb") as stream:
            total = sum(delays(stream))
    except (OSError, struct.error, IndexError, ValueError):
        return None
    return round(total, 3) or None


def _gif_delays(stream: IO[bytes]) -> Iterator[float]:
    stream.seek(10)
    flags = stream.read(3)[0]
    stream.seek(_color_table_size(flags), 1)
    for _ in range(_BLOCK_LIMIT):
        kind = stream.read(1)
        if kind == bytes([_GIF_EXTENSION]):
            label = stream.read(1)
            first = next(blocks := _sub_blocks(stream), b"")
            for _rest in blocks:
                pass
            if label == bytes([_GIF_CONTROL]):
                yield struct.unpack_from("<H", first, 1)[0] / 100
        elif kind == bytes([_GIF_IMAGE]):
            stream.seek(_color_table_size(stream.read(9)[8]) + 1, 1)
            for _rest in _sub_blocks(stream):
                pass
        else:
            return


def _color_table_size(flags: int) -> int:
    """Return the size in bytes of the GIF color table that `flags` describes."""
    return 3 << ((flags & 7) + 1) if flags & 0x80 else 0


def _sub_blocks(stream: IO[bytes]) -> Iterator[bytes]:
    while size := stream.read(1)[0]:
        yield stream.read(size)


def _png_delays(stream: IO[bytes]) -> Iterator[float]:
    stream.seek(8)
    for _ in range(_BLOCK_LIMIT):
        head = stream.read(8)
        if len(head) < 8:
            return
        length, name = struct.unpack(">I4s", head)
        if name == b"fcTL":
            numerator, denominator = struct.unpack_from(">HH", stream.read(26), 20)
            yield numerator / (denominator or 100)
            length -= 26
        stream.seek(max(0, length) + 4, 1)


def _webp_delays(stream: IO[bytes]) -> Iterator[float]:
    stream.seek(12)
    for _ in range(_BLOCK_LIMIT):
        head = stream.read(8)
        if len(head) < 8:
            return
        name, length = struct.unpack("<4sI", head)
        padded = length + length % 2
        if name == b"ANMF":
            part = stream.read(16)
            yield int.from_bytes(part[12:15], "little") / 1000
            padded -= 16
        stream.seek(max(0, padded), 1)
