"""Pictures of one colour and of any claimed size, written byte by byte."""

from __future__ import annotations

import struct
import zlib


def chunk(kind: bytes, data: bytes) -> bytes:
    """A PNG chunk."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def zeros(size: int) -> bytes:
    """`size` zero bytes as zlib packs them, without ever holding them."""
    packer = zlib.compressobj(9)
    piece = bytes(1 << 20)
    out = [packer.compress(piece) for _ in range(size >> 20)]
    return b"".join([*out, packer.compress(bytes(size & (1 << 20) - 1)), packer.flush()])


def png(
    width: int,
    height: int,
    *extra: bytes,
    depth: int = 8,
    colour: int = 0,
    interlaced: int = 0,
    data: bytes | None = None,
) -> bytes:
    """A black PNG; `extra` chunks stand before its pixels."""
    bits = depth * {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[colour]
    row = 1 + (width * bits + 7) // 8
    pixels = zeros(row * height) if data is None else data
    head = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlaced)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + b"".join(extra) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def tiff(directories: list[list[tuple[int, int, int, int]]], *, loop: int | None = None, tail: bytes = b"") -> bytes:
    """A TIFF of `(tag, type, count, value)` entries; the last directory leads to the directory `loop`."""
    out, places = bytearray(b"II*\0" + struct.pack("<I", 8)), []
    for number, entries in enumerate(directories):
        places.append(len(out))
        out += struct.pack("<H", len(entries))
        for entry in entries:
            out += struct.pack("<HHII", *entry)
        after = len(out) + 4 if number + 1 < len(directories) else 0 if loop is None else places[loop]
        out += struct.pack("<I", after)
    return bytes(out) + tail


def page(
    width: int, height: int, strip: int = 0, *, compression: int = 1, samples: int = 1, rows: int | None = None
) -> list[tuple[int, int, int, int]]:
    """The entries of a page whose pixels lie at `strip`."""
    return [
        (256, 4, 1, width), (257, 4, 1, height), (258, 3, 1, 8), (259, 3, 1, compression), (262, 3, 1, 1),
        (273, 4, 1, strip), (277, 3, 1, samples), (278, 4, 1, height if rows is None else rows), (279, 4, 1, width * height & 0xFFFFFFFF),
    ]  # fmt: skip
