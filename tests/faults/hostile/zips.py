"""ZIP archives as no honest program writes them, and small honest EPUB, DOCX, PPTX and XLSX packages to hide things in."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

CONTAINER = (
    '<?xml version="1.0"?><container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">'
    '<rootfiles><rootfile full-path="book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
)
PAGE = '<html xmlns="http://www.w3.org/1999/xhtml"><head><title>x</title></head><body><h1>One</h1><p>Text.</p>{}</body></html>'
_TYPES = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/>'
    '<Override PartName="/{part}" ContentType="application/vnd.openxmlformats-officedocument.{kind}.main+xml"/></Types>'
)
_RELATIONS = '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{}</Relationships>'
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_MAIN = f'<Relationship Id="r1" Type="{OFFICE}/officeDocument" Target="{{}}"/>'
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


def package(href: str = "a.xhtml", extra: str = "", spine: str = "") -> str:
    """The package document of a book of one chapter."""
    return (
        '<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="i">'
        '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>T</dc:title><dc:language>en</dc:language>'
        f'<dc:identifier id="i">x</dc:identifier></metadata><manifest><item id="a" href="{href}" '
        f'media-type="application/xhtml+xml"/>{extra}</manifest><spine><itemref idref="a"/>{spine}</spine></package>'
    )


def book(**parts: str | bytes) -> dict[str, str | bytes]:
    """The items of a book of one chapter; `parts` replace some: `container`, `package`, `page`, or by their names."""
    names = {"container": "META-INF/container.xml", "package": "book.opf", "page": "a.xhtml"}
    usual: dict[str, str | bytes] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": CONTAINER,
        "book.opf": package(),
        "a.xhtml": PAGE.format(""),
    }
    return {**usual, **{names.get(name, name): content for name, content in parts.items()}}


def office(
    part: str, kind: str, content: str | bytes, relations: str = "", **more: str | bytes
) -> dict[str, str | bytes]:
    """The parts of an Office file whose main part is `part`."""
    folder, _, last = part.rpartition("/")
    return {
        "[Content_Types].xml": _TYPES.format(part=part, kind=kind),
        "_rels/.rels": _RELATIONS.format(_MAIN.format(part)),
        part: content,
        f"{folder}/_rels/{last}.rels": _RELATIONS.format(relations),
        **more,
    }


def docx(content: str | bytes, relations: str = "", **more: str | bytes) -> dict[str, str | bytes]:
    """The parts of a Word document."""
    return office("word/document.xml", "wordprocessingml.document", content, relations, **more)


def words(text: str, before: str = "") -> str:
    """The main part of a Word document of one heading and one paragraph."""
    return (
        f'<?xml version="1.0"?>{before}<w:document xmlns:w="{WORD}" xmlns:r="{OFFICE}"><w:body><w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>One'
        f"</w:t></w:r></w:p><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:body></w:document>"
    )


def xlsx(sheet: str | bytes, strings: str | bytes = "", **more: str | bytes) -> dict[str, str | bytes]:
    """The parts of a workbook of one sheet."""
    relations = f'<Relationship Id="s1" Type="{OFFICE}/worksheet" Target="worksheets/sheet1.xml"/>'
    relations += f'<Relationship Id="s2" Type="{OFFICE}/sharedStrings" Target="sharedStrings.xml"/>' if strings else ""
    main = f'<workbook xmlns="{SHEET}" xmlns:r="{OFFICE}"><sheets><sheet name="S" sheetId="1" r:id="s1"/></sheets></workbook>'
    parts: dict[str, str | bytes] = {"xl/worksheets/sheet1.xml": sheet, **more}
    if strings:
        parts["xl/sharedStrings.xml"] = strings
    return office("xl/workbook.xml", "spreadsheetml.sheet", main, relations, **parts)


def cells(rows: str, before: str = "") -> str:
    """A sheet."""
    return f'<?xml version="1.0"?>{before}<worksheet xmlns="{SHEET}"><sheetData>{rows}</sheetData></worksheet>'


def write(path: Path, items: Mapping[str, str | bytes] | Sequence[tuple[str, str | bytes]]) -> Path:
    """An archive as zipfile writes it; a sequence may hold one name twice."""
    pairs: Iterable[tuple[str, str | bytes]] = items.items() if isinstance(items, Mapping) else items
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in pairs:
            stored = zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED
            archive.writestr(zipfile.ZipInfo(name), content, stored)
    return path


def deflated_zeros(size: int, letter: bytes = b"\0") -> bytes:
    """`size` bytes of one letter, deflated, without ever holding them."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    piece = letter * (1 << 20)
    out = [packer.compress(piece) for _ in range(size >> 20)]
    return b"".join([*out, packer.compress(letter * (size & (1 << 20) - 1)), packer.flush()])


def raw_item(
    name: bytes, packed: bytes, size: int, *, crc: int = 0, method: int = 8, flags: int = 0
) -> tuple[bytes, bytes]:
    """A local header with its data, and a directory entry without its place; sizes and checksums as claimed."""
    head = struct.pack("<HHHHHIIIHH", 20, flags, method, 0, 33, crc, len(packed), min(size, 0xFFFFFFFE), len(name), 0)
    entry = struct.pack(
        "<4sHHHHHHIIIHHHHHI",
        b"PK\1\2",
        20,
        20,
        flags,
        method,
        0,
        33,
        crc,
        len(packed),
        min(size, 0xFFFFFFFE),
        len(name),
        0,
        0,
        0,
        0,
        0,
    )
    return b"PK\3\4" + head + name + packed, entry


def write_raw(path: Path, items: Sequence[tuple[bytes, bytes, int]], *, times: int = 1, flags: int = 0) -> Path:
    """An archive of `(name, deflated data, claimed size)`; each is listed `times` times (overlapping entries)."""
    body, directory, count = io.BytesIO(), [], 0
    for name, packed, size in items:
        place = body.tell()
        local, entry = raw_item(name, packed, size, flags=flags, crc=0)
        body.write(local)
        for number in range(times):
            suffix = b"" if number == 0 else b"%d.png" % number
            fixed = bytearray(entry + struct.pack("<I", place)[:0])
            fixed[42:46] = struct.pack("<I", place)
            fixed[28:30] = struct.pack("<H", len(name) + len(suffix))
            directory.append(bytes(fixed) + name + suffix)
            count += 1
    listed = b"".join(directory)
    end = struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, count & 0xFFFF, count & 0xFFFF, len(listed), body.tell(), 0)
    path.write_bytes(body.getvalue() + listed + end)
    return path
