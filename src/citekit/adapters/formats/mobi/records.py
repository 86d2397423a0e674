"""Reads the Palm database of a Mobipocket or Kindle book: its records, its header, and its decompressed text.

The format is described at https://wiki.mobileread.com/wiki/MOBI.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from struct import unpack_from

from attrs import frozen

from citekit.adapters.formats.shared.whole_file import read_whole
from citekit.domain.errors import SourceUnsupported

SIZE_LIMIT = 512 * 1024 * 1024
"""The maximum size in bytes of a file that is read."""

TEXT_LIMIT = 64 * 1024 * 1024
"""Maximum number of bytes of decompressed text. The chapters made from it may have twice as many."""

RECORD_TEXT_LIMIT = 64 * 1024
"""Maximum number of bytes of one decompressed record. Typical records have 4096 bytes."""

NONE = 0xFFFFFFFF
_PLAIN, _PALMDOC, _HUFFMAN = 1, 2, 17480
_EXTH_FLAG = 0x40


@frozen
class Records:
    """The records of a Palm database by number. A record that does not exist is empty."""

    data: bytes
    starts: Sequence[int]

    def __getitem__(self, number: int) -> bytes:
        if not 0 <= number < len(self.starts) - 1:
            return b""
        return self.data[self.starts[number] : self.starts[number + 1]]


@frozen(kw_only=True)
class Header:
    """The header of a book. Fields for indexes contain record numbers, or `NONE` if the book has no such index."""

    compression: int
    encryption: int
    text_length: int
    text_records: int
    version: int
    encoding: str
    title: str
    locale: int
    first_picture: int
    trailing: int
    contents: int
    fragments: int
    skeletons: int
    flows: int
    guide: int
    extra: Mapping[int, Sequence[bytes]]


def read_records(path: Path) -> Records:
    """Return the records of the file at `path`.

    Raise `SourceUnsupported` if it is not a Mobipocket or Kindle book, is damaged, or is larger than `SIZE_LIMIT`, and
    `SourceUnreadable` if it cannot be read.
    """
    data = read_whole(path, SIZE_LIMIT)
    if data[60:68] != b"BOOKMOBI" or len(data) < 78:
        raise SourceUnsupported(f"{path.name} is not a Mobipocket or Kindle book.")
    (count,) = unpack_from(">H", data, 76)
    if len(data) < 78 + 8 * count or not count:
        raise SourceUnsupported(f"{path.name} is damaged: its list of records is empty or truncated.")
    starts = [unpack_from(">I", data, 78 + 8 * number)[0] for number in range(count)]
    if starts != sorted(starts) or starts[-1] > len(data):
        raise SourceUnsupported(f"{path.name} is damaged: its records are outside the file or out of order.")
    return Records(data, (*starts, len(data)))


def read_header(records: Records, name: str) -> Header:
    """Return the header of a book. `name` is its file name, for error messages.

    Raise `SourceUnsupported` if the book is damaged, is protected, uses an unsupported compression method, or declares
    more than `TEXT_LIMIT` bytes of text.
    """
    record = records[0]
    try:
        compression, length, count, _, encryption = unpack_from(">HxxIHHH", record)
        size = unpack_from(">I", record, 20)[0] if record[16:20] == b"MOBI" else 0
    except struct.error as error:
        raise SourceUnsupported(f"{name} is damaged: its header is truncated.") from error
    own = record[: 16 + size]
    header = Header(
        compression=compression,
        encryption=encryption,
        text_length=length,
        text_records=count,
        version=_word(own, 36, 6),
        encoding="utf-8" if _word(own, 28, 1252) == 65001 else "cp1252",
        title=_title(record, own),
        locale=_word(own, 92, 0),
        first_picture=_word(own, 108, NONE),
        trailing=_word(own, 240, 0) & 0xFFFF if size >= 0xE4 else 0,
        contents=_word(own, 244, NONE),
        fragments=_word(own, 248, NONE),
        skeletons=_word(own, 252, NONE),
        flows=_word(own, 192, NONE),
        guide=_word(own, 260, NONE),
        extra=_extra(record, 16 + size) if _word(own, 128, 0) & _EXTH_FLAG else {},
    )
    _check(header, name)
    return header


def _check(header: Header, name: str) -> None:
    if header.encryption:
        raise SourceUnsupported(
            f"{name} is encrypted (DRM: {'Mobipocket or Kindle' if header.encryption == 2 else 'old Mobipocket'}), "
            "so its text cannot be read; use a copy without protection."
        )
    if header.compression == _HUFFMAN:
        raise SourceUnsupported(
            f"{name} uses HUFF/CDIC compression, which is not supported; convert it to EPUB, for example with Calibre."
        )
    if header.compression not in (_PLAIN, _PALMDOC):
        raise SourceUnsupported(f"{name} is damaged: its compression type {header.compression} does not exist.")
    if header.text_length > TEXT_LIMIT:
        raise SourceUnsupported(f"{name} declares more than {TEXT_LIMIT >> 20} MB of text, the limit for books.")


def _word(data: bytes, at: int, default: int) -> int:
    return int(unpack_from(">I", data, at)[0]) if at + 4 <= len(data) else default


def _title(record: bytes, own: bytes) -> str:
    start, length = _word(own, 84, 0), _word(own, 88, 0)
    encoding = "utf-8" if _word(own, 28, 1252) == 65001 else "cp1252"
    return " ".join(record[start : start + min(length, 2000)].decode(encoding, "replace").split()) if start else ""


def _extra(record: bytes, at: int) -> dict[int, list[bytes]]:
    """Return the values in the EXTH block (additional metadata) at the offset `at` of a record, by type number."""
    if record[at : at + 4] != b"EXTH":
        return {}
    found: dict[int, list[bytes]] = {}
    position = at + 12
    for _ in range(min(_word(record, at + 8, 0), 10_000)):
        kind, size = _word(record, position, 0), _word(record, position + 4, 0)
        if size < 8:
            break
        found.setdefault(kind, []).append(record[position + 8 : position + size])
        position += size
    return found


def text_of(records: Records, header: Header, name: str) -> bytes:
    """Return the whole text of the book, including its markup. `name` is the file name, for error messages.

    Raise `SourceUnsupported` if a record cannot be decompressed or the text is too long.
    """
    pieces, size = [], 0
    for number in range(1, header.text_records + 1):
        piece = _without_trailing(records[number], header.trailing)
        if header.compression == _PALMDOC:
            piece = unpacked(piece, name)
        size += len(piece)
        if size > TEXT_LIMIT:
            raise SourceUnsupported(f"{name} has more than {TEXT_LIMIT >> 20} MB of text, the limit for books.")
        pieces.append(piece)
    return b"".join(pieces)[: header.text_length or None]


def _without_trailing(record: bytes, flags: int) -> bytes:
    """Return a text record without the entries after the text. `flags` says which entries each record has."""
    for _ in range((flags >> 1).bit_count()):
        size = 0
        for byte in record[-4:]:
            size = (0 if byte & 0x80 else size) << 7 | byte & 0x7F
        if not 0 < size <= len(record):
            return record
        record = record[:-size]
    return record[: -(record[-1] & 3) - 1] if flags & 1 and record else record


def unpacked(packed: bytes, name: str) -> bytes:
    """Decompress a PalmDOC record (LZ77) of the file `name`. Raise `SourceUnsupported` if the record is damaged."""
    out = bytearray()
    at, end = 0, len(packed)
    while at < end:
        byte = packed[at]
        at += 1
        if 1 <= byte <= 8:
            out += packed[at : at + byte]
            at += byte
        elif byte < 0x80:
            out.append(byte)
        elif byte >= 0xC0:
            out += bytes((32, byte ^ 0x80))
        elif at < end:
            pair = byte << 8 | packed[at]
            at += 1
            _repeat(out, pair >> 3 & 0x7FF, (pair & 7) + 3, name)
        if len(out) > RECORD_TEXT_LIMIT:
            raise SourceUnsupported(
                f"{name} is damaged: one of its records decompresses to more than {RECORD_TEXT_LIMIT} bytes."
            )
    return bytes(out)


def _repeat(out: bytearray, distance: int, length: int, name: str) -> None:
    if not 0 < distance <= len(out):
        raise SourceUnsupported(f"{name} is damaged: one of its text records cannot be decompressed.")
    start = len(out) - distance
    piece = bytes(out[start : start + length])
    out += (piece * (length // len(piece) + 1))[:length]
