"""Small Mobipocket and FictionBook books, written byte by byte."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from struct import pack

RECORD = 4096


def mobi_text(chapters: Sequence[str]) -> bytes:
    """The HTML of MOBI 6: chapters parted by page breaks."""
    return ("<html><head><guide></guide></head><body>" + "<mbp:pagebreak/>".join(chapters) + "</body></html>").encode()


def exth(values: Mapping[int, str]) -> bytes:
    """The block of metadata, by the types of EXTH."""
    rows = b"".join(pack(">II", kind, 8 + len(text.encode())) + text.encode() for kind, text in values.items())
    return b"EXTH" + pack(">II", 12 + len(rows), len(values)) + rows


def header(
    text: bytes, records: int, title: str, values: Mapping[int, str], *, encryption: int = 0, compression: int = 1,
    contents: int = 0xFFFFFFFF,
) -> bytes:  # fmt: skip
    """Record 0: the PalmDOC header, the MOBI header (232 bytes), EXTH and the full name."""
    size = 232 + 16
    own = bytearray(size)
    own[0:16] = b"MOBI" + pack(">III", size, 2, 65001)
    own[20:24] = pack(">I", 6)
    extra = exth(values)
    name = title.encode()
    own[68:76] = pack(">II", 16 + size + len(extra), len(name))
    own[76:80] = pack(">I", 9)
    own[92:96] = pack(">I", records + 1)
    own[112:116] = pack(">I", 0x40)
    own[228:232] = pack(">I", contents)
    palm = pack(">HHIHHHH", compression, 0, len(text), records, RECORD, encryption, 0)
    return palm + bytes(own) + extra + name


def write_mobi(
    path: Path, chapters: Sequence[str], title: str = "A Small Book", values: Mapping[int, str] | None = None,
    *, encryption: int = 0, compression: int = 1, picture: bytes = b"", contents: Sequence[tuple[str, int, int]] = (),
) -> Path:  # fmt: skip
    """A MOBI 6 without compression; `contents` are (title, byte of the text, depth from 0)."""
    text = mobi_text(chapters)
    texts = [text[at : at + RECORD] for at in range(0, len(text), RECORD)]
    said = {100: "Ada Writer", 524: "en"} if values is None else values
    index = list(ncx(contents)) if contents else []
    at = 1 + len(texts) + 1 if contents else 0xFFFFFFFF
    first = header(text, len(texts), title, said, encryption=encryption, compression=compression, contents=at)
    records = [first, *texts, picture or b"\0\0", *index]
    start = 78 + 8 * len(records) + 2
    rows, bodies = b"", b""
    for number, record in enumerate(records):
        rows += pack(">II", start + len(bodies), number)
        bodies += record
    head = b"Small_Book".ljust(32, b"\0") + pack(">HHIIIIII", 0, 0, 0, 0, 0, 0, 0, 0) + b"BOOKMOBI"
    path.write_bytes(head + pack(">IIH", 2 * len(records), 0, len(records)) + rows + b"\0\0" + bodies)
    return path


def ncx(entries: Sequence[tuple[str, int, int]]) -> tuple[bytes, bytes, bytes]:
    """The contents as an index: its header with the table of tags, its rows, its texts."""
    table = b"".join(bytes(row) for row in ((1, 1, 1, 0), (3, 1, 2, 0), (4, 1, 4, 0), (0, 0, 0, 1)))
    tags = b"TAGX" + pack(">II", 12 + len(table), 1) + table
    main = b"INDX" + pack(">IIIIII", 192, 0, 0, 0, 0, 1) + bytes(24) + pack(">I", 1)
    texts, rows, places = b"", b"", []
    for number, (title, place, depth) in enumerate(entries):
        places.append(192 + len(rows))
        name = b"%03d" % number
        rows += bytes((len(name),)) + name + b"\7" + number_of(place) + number_of(len(texts)) + number_of(depth)
        texts += number_of(len(title.encode())) + title.encode()
    table_at = 192 + len(rows)
    data = b"INDX" + pack(">IIIIII", 192, 0, 0, 0, table_at, len(entries))
    body = data.ljust(192, b"\0") + rows + b"IDXT" + b"".join(pack(">H", place) for place in places)
    return main.ljust(192, b"\0") + tags, body, texts + b"\0"


def number_of(value: int) -> bytes:
    """Seven bits a byte, the last one marked."""
    digits = [value & 0x7F | 0x80]
    while value := value >> 7:
        digits.append(value & 0x7F)
    return bytes(reversed(digits))


def write_fb2(path: Path, bodies: str, described: str = "") -> Path:
    """A FictionBook with those bodies; `described` goes into the title-info."""
    said = described or (
        "<author><first-name>Ada</first-name><last-name>Writer</last-name></author>"
        "<book-title>A Small Book</book-title><lang>en</lang>"
    )
    path.write_text(
        '<?xml version="1.0" encoding="UTF-8"?>\n<FictionBook xmlns="http://www.gribuser.ru/xml/fictionbook/2.0" '
        f'xmlns:l="http://www.w3.org/1999/xlink"><description><title-info>{said}</title-info>'
        "<document-info><id>urn:x:1</id></document-info><publish-info><isbn>978-0-13-468599-1</isbn></publish-info>"
        f"</description>{bodies}</FictionBook>",
        encoding="utf-8",
    )
    return path
