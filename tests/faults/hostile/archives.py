"""Hostile archives: bombs, lying sizes, entries that overlap, names that lead out, and what no archive should hold."""

from __future__ import annotations

import io
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

from tests.faults.hostile.case import Bait, Case
from tests.faults.hostile.pictures import png
from tests.faults.hostile.zips import (
    CONTAINER,
    OFFICE,
    PAGE,
    book,
    cells,
    deflated_zeros,
    docx,
    package,
    words,
    write,
    write_raw,
    xlsx,
)

Fill = Callable[[Path, Bait], Path]

_ODD_NAMES = (
    "../../../bait.txt", "..\\..\\bait.txt", "/etc/passwd", "//host/share/x", "\\\\host\\x", "C:\\x", "C:x", "nul", "CON", "con.xhtml",
    "a\0b", "a\nb", "-rf", "~/x", "$HOME", "%2e%2e/x", "a" * 5000, "é\u0301", "\u202egpj.exe", ".", "..", "", "a/../../b", "/dev/zero", "/proc/self/mem",
)  # fmt: skip


def _bomb_book(letter: bytes, size: int) -> Fill:
    def make(folder: Path, _: Bait) -> Path:
        packed = deflated_zeros(size, letter)
        items = [
            (name.encode(), _deflated(text), len(text))
            for name, text in book().items()
            if name not in ("a.xhtml", "mimetype")
        ]
        return write_raw(folder / "a.epub", [*_start(), *items, (b"a.xhtml", packed, size)])

    return make


def _lying_book(folder: Path, _: Bait) -> Path:
    packed = deflated_zeros(2**30, b"x")
    items = [
        (name.encode(), _deflated(text), len(text))
        for name, text in book().items()
        if name not in ("a.xhtml", "mimetype")
    ]
    return write_raw(folder / "a.epub", [*_start(), *items, (b"a.xhtml", packed, 100)])


def _start() -> list[tuple[bytes, bytes, int]]:
    return [(b"mimetype", _deflated("application/epub+zip"), 20)]


def _deflated(content: str | bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(content.encode() if isinstance(content, str) else content) + packer.flush()


def _many_pages(folder: Path, _: Bait) -> Path:
    names = [f"p{n}.xhtml" for n in range(3000)]
    extra = "".join(
        f'<item id="p{n}" href="{name}" media-type="application/xhtml+xml"/>' for n, name in enumerate(names)
    )
    spine = "".join(f'<itemref idref="p{n}"/>' for n in range(len(names)))
    page = PAGE.format("<p>" + "a" * 1_000_000 + "</p>")
    return write(folder / "a.epub", {**book(package=package(extra=extra, spine=spine)), **dict.fromkeys(names, page)})


def _same_page(folder: Path, _: Bait) -> Path:
    """A spine that names one large page 100,000 times."""
    spine = '<itemref idref="a"/>' * 100_000
    return write(
        folder / "a.epub", book(package=package(spine=spine), page=PAGE.format("<p>" + "word " * 200_000 + "</p>"))
    )


def _same_page_other_items(folder: Path, _: Bait) -> Path:
    """A manifest that gives one large page 20,000 ids, all in the spine."""
    extra = "".join(f'<item id="p{n}" href="a.xhtml" media-type="application/xhtml+xml"/>' for n in range(20_000))
    spine = "".join(f'<itemref idref="p{n}"/>' for n in range(20_000))
    return write(
        folder / "a.epub",
        book(package=package(extra=extra, spine=spine), page=PAGE.format("<p>" + "word " * 20_000 + "</p>")),
    )


def _overlapping(folder: Path, _: Bait) -> Path:
    """One kernel that 20,000 entries share (Fifield 2019)."""
    return write_raw(folder / "a.cbz", [(b"1.png", deflated_zeros(2**26), 2**26)], times=20_000)


def _overlapping_book(folder: Path, _: Bait) -> Path:
    items = [(name.encode(), _deflated(text), len(text)) for name, text in book().items() if name != "mimetype"]
    return write_raw(folder / "a.epub", [*_start(), *items, (b"x", deflated_zeros(2**26, b"a"), 2**26)], times=200)


def _nested(folder: Path, _: Bait) -> Path:
    inner = b"\0" * 100_000
    for _level in range(8):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            for number in range(10):
                archive.writestr(f"{number}.zip", inner)
        inner = out.getvalue()
    return write(folder / "a.epub", {**book(), "inner.zip": inner})


def _named(file: str, usual: dict[str, str | bytes]) -> Fill:
    def make(folder: Path, _: Bait) -> Path:
        path = folder / file
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in usual.items():
                archive.writestr(name, content)
            for name in _ODD_NAMES:
                item = zipfile.ZipInfo("placeholder")
                item.filename = name
                archive.writestr(item, png(4, 4))
        return path

    return make


def _pointing(href: str, file: str = "a.epub") -> Fill:
    def make(folder: Path, bait: Bait) -> Path:
        where = href.format(path=bait.file, url=bait.url, folder=bait.file.parent)
        page = PAGE.format(f'<img src="{where}"/><link href="{where}"/><p>t</p>')
        extra = f'<item id="x" href="{where}" media-type="application/xhtml+xml"/>'
        return write(folder / file, book(package=package(extra=extra, spine='<itemref idref="x"/>'), page=page))

    return make


def _container_pointing(folder: Path, bait: Bait) -> Path:
    return write(folder / "a.epub", book(container=CONTAINER.replace("book.opf", f"../../../../../..{bait.file}")))


def _links(folder: Path, bait: Bait) -> Path:
    path = write(folder / "a.epub", {name: text for name, text in book().items() if name != "a.xhtml"})
    with zipfile.ZipFile(path, "a") as archive:
        item = zipfile.ZipInfo("a.xhtml")
        item.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(item, str(bait.file))
    return path


def _comic_links(folder: Path, bait: Bait) -> Path:
    path = write(folder / "a.cbz", {"1.png": png(8, 8)})
    with zipfile.ZipFile(path, "a") as archive:
        item = zipfile.ZipInfo("2.png")
        item.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(item, str(bait.file.with_name("bait.png")))
    return path


def _twice(folder: Path, _: Bait) -> Path:
    pairs = [
        *book().items(),
        ("a.xhtml", PAGE.format("<p>other</p>")),
        ("A.XHTML", PAGE.format("")),
        ("book.opf", package("A.xhtml")),
    ]
    return write(folder / "a.epub", pairs)


def _encrypted(folder: Path, _: Bait) -> Path:
    items = [(name.encode(), _deflated(text), len(text)) for name, text in book().items() if name != "mimetype"]
    return write_raw(folder / "a.epub", [*_start(), *items], flags=1)


def _drm(folder: Path, _: Bait) -> Path:
    text = '<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container" xmlns:e="http://www.w3.org/2001/04/xmlenc#"><e:EncryptedData><e:EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#aes256-cbc"/><e:CipherData><e:CipherReference URI="a.xhtml"/></e:CipherData></e:EncryptedData></encryption>'
    return write(folder / "a.epub", {**book(page=bytes(range(256)) * 20), "META-INF/encryption.xml": text})


def _crowd(file: str, count: int, usual: dict[str, str | bytes]) -> Fill:
    def make(folder: Path, _: Bait) -> Path:
        return write(folder / file, [*usual.items(), *((f"x/{n}.png", b"") for n in range(count))])

    return make


def _prepended(folder: Path, _: Bait) -> Path:
    path = write(folder / "b", book())
    data = path.read_bytes()
    (folder / "a.epub").write_bytes(data[:60] + b"\x7fELF" + b"junk" * 1000 + data)
    return folder / "a.epub"


def _cut(file: str, usual: dict[str, str | bytes], keep: float) -> Fill:
    def make(folder: Path, _: Bait) -> Path:
        data = write(folder / "b", usual).read_bytes()
        (folder / file).write_bytes(data[: int(len(data) * keep)])
        return folder / file

    return make


def _patched(offset: int, value: bytes) -> Fill:
    """An honest book whose end record or directory says otherwise."""

    def make(folder: Path, _: Bait) -> Path:
        data = bytearray(write(folder / "b", book()).read_bytes())
        place = data.rindex(b"PK\5\6") + offset if offset >= 0 else data.index(b"PK\1\2") - offset
        data[place : place + len(value)] = value
        (folder / "a.epub").write_bytes(data)
        return folder / "a.epub"

    return make


def _comment_within(folder: Path, _: Bait) -> Path:
    """An end record in the comment of an end record."""
    data = write(folder / "b", book()).read_bytes()
    end = struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, 0, 0, 0, 0, 0)
    (folder / "a.epub").write_bytes(data[:-2] + struct.pack("<H", len(end)) + end)
    return folder / "a.epub"


def _method(number: int) -> Fill:
    def make(folder: Path, _: Bait) -> Path:
        path = folder / "a.epub"
        with zipfile.ZipFile(path, "w") as archive:
            for name, text in book().items():
                archive.writestr(name, text, zipfile.ZIP_STORED if name == "mimetype" else number)
        return path

    return make


def _mimetype(content: str, file: str) -> Fill:
    return lambda folder, _: write(folder / file, {**book(), "mimetype": content})


def _docx_bomb(folder: Path, _: Bait) -> Path:
    head, tail = words("\n").split("\n")
    text = head.encode() + b"a" * (2**28) + tail.encode()
    return write(folder / "a.docx", docx(text))


def _docx_paragraphs(folder: Path, _: Bait) -> Path:
    inside = "<w:p><w:r><w:t>a</w:t></w:r></w:p>" * 150_000
    return write(folder / "a.docx", docx(words("x").replace("<w:body>", f"<w:body>{inside}")))


def _docx_nested_tables(folder: Path, _: Bait) -> Path:
    inside = "<w:tbl><w:tr><w:tc>" * 60 + "<w:p/>" + "</w:tc></w:tr></w:tbl>" * 60
    return write(folder / "a.docx", docx(words("x").replace("<w:body>", f"<w:body>{inside}")))


def _docx_outside(kind: str, target: str) -> Fill:
    def make(folder: Path, bait: Bait) -> Path:
        where = target.format(path=bait.file, url=bait.url)
        relation = f'<Relationship Id="o" Type="{OFFICE}/{kind}" Target="{where}" TargetMode="External"/>'
        picture = (
            '<w:drawing><wp:inline xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"><a:graphic xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><a:graphicData><pic:pic xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:blipFill>'
            '<a:blip r:link="o" r:embed="o"/></pic:blipFill></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing>'
        )
        text = words("x</w:t>" + picture + "<w:t>")
        settings = f'<w:settings xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:r="{OFFICE}"><w:attachedTemplate r:id="o"/></w:settings>'
        return write(
            folder / "a.docx",
            docx(
                text,
                relation,
                **{
                    "word/settings.xml": settings,
                    "word/_rels/settings.xml.rels": f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{relation}</Relationships>',
                },
            ),
        )

    return make


def _docx_up(folder: Path, bait: Bait) -> Path:
    relation = f'<Relationship Id="o" Type="{OFFICE}/image" Target="../../../../../../..{bait.file}"/><Relationship Id="p" Type="{OFFICE}/styles" Target="file://{bait.file}"/>'
    return write(folder / "a.docx", docx(words("x"), relation))


def _docx_loop(folder: Path, _: Bait) -> Path:
    relation = f'<Relationship Id="o" Type="{OFFICE}/styles" Target="document.xml"/><Relationship Id="p" Type="{OFFICE}/numbering" Target="document.xml"/>'
    return write(folder / "a.docx", docx(words("x"), relation))


def _docx_macro(folder: Path, _: Bait) -> Path:
    relation = '<Relationship Id="v" Type="http://schemas.microsoft.com/office/2006/relationships/vbaProject" Target="vbaProject.bin"/>'
    return write(
        folder / "a.docm",
        docx(
            words("x"), relation, **{"word/vbaProject.bin": b"\xd0\xcf\x11\xe0AutoOpen", "word/embeddings/o.bin": b"MZ"}
        ),
    )


def _sheet(rows: str, strings: str = "", **more: str | bytes) -> Fill:
    return lambda folder, _: write(folder / "a.xlsx", xlsx(cells(rows), strings, **more))


def _sheet_bomb(folder: Path, _: Bait) -> Path:
    text = cells("\n").encode().split(b"\n")
    return write(folder / "a.xlsx", xlsx(text[0] + b'<row r="1"><c r="A1"><v>1</v></c></row>' * 8_000_000 + text[1]))


def _sheet_strings_bomb(folder: Path, _: Bait) -> Path:
    strings = (
        '<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
        + "<si><t>"
        + "a" * 1_000_000
        + "</t></si>"
        + "</sst>"
    )
    row = '<row r="{0}"><c r="A{0}" t="s"><v>0</v></c></row>'
    return write(folder / "a.xlsx", xlsx(cells("".join(row.format(n) for n in range(1, 20_000))), strings))


def _comic(*pictures: tuple[str, bytes | Callable[[], bytes]]) -> Fill:
    """Large ones are made when they are wanted."""
    return lambda folder, _: write(
        folder / "a.cbz", {name: picture if isinstance(picture, bytes) else picture() for name, picture in pictures}
    )


_DDE = '<row r="1"><c r="A1" t="str"><f>cmd|\'/c calc\'!A1</f><v>1</v></c><c r="B1"><f>WEBSERVICE("http://127.0.0.1/bait")</f><v>2</v></c><c r="C1" t="inlineStr"><is><t>=HYPERLINK("x")</t></is></c></row>'

_MAKERS: dict[str, Fill] = {
    "epub-bomb-of-zeros": _bomb_book(b"\0", 2**30),
    "epub-bomb-of-letters": _bomb_book(b"a", 60 * 2**20),
    "epub-bomb-of-tags": _bomb_book(b"<", 60 * 2**20),
    "epub-lying-size": _lying_book,
    "epub-many-large-pages": _many_pages,
    "epub-one-page-100000-times": _same_page,
    "epub-one-page-under-20000-ids": _same_page_other_items,
    "epub-overlapping": _overlapping_book,
    "epub-nested-archives": _nested,
    "epub-odd-names": _named("a.epub", book()),
    "epub-href-up": _pointing("../../../../../../..{path}"),
    "epub-href-absolute": _pointing("{path}"),
    "epub-href-file": _pointing("file://{path}"),
    "epub-href-http": _pointing("{url}"),
    "epub-href-encoded": _pointing("%2e%2e/%2e%2e/%2e%2e/%2e%2e{path}"),
    "epub-href-backslash": _pointing("..\\..\\..\\bait.txt"),
    "epub-href-nul": _pointing("a.xhtml&#xFFFD;%00.png"),
    "epub-container-points-out": _container_pointing,
    "epub-links": _links,
    "epub-names-twice": _twice,
    "epub-encrypted-entries": _encrypted,
    "epub-protected": _drm,
    "epub-70000-entries": _crowd("a.epub", 70_000, book()),
    "epub-prepended": _prepended,
    "epub-without-directory": _cut("a.epub", book(), 0.7),
    "epub-half": _cut("a.epub", book(), 0.3),
    "epub-directory-count": _patched(8, b"\xff\xff\xff\xff"),
    "epub-directory-size": _patched(12, b"\xff\xff\xff\x7f"),
    "epub-directory-place": _patched(16, b"\xff\xff\xff\x7f"),
    "epub-entry-size": _patched(-24, b"\xfe\xff\xff\xff"),
    "epub-entry-name-length": _patched(-28, b"\xff\xff"),
    "epub-entry-place": _patched(-42, b"\xff\xff\xff\x7f"),
    "epub-end-in-comment": _comment_within,
    "epub-bzip2": _method(zipfile.ZIP_BZIP2),
    "epub-lzma": _method(zipfile.ZIP_LZMA),
    "epub-mimetype-of-docx": _mimetype("application/vnd.openxmlformats-officedocument", "a.epub"),
    "epub-named-docx": _mimetype("application/epub+zip", "a.docx"),
    "epub-named-pdf": _mimetype("%PDF-1.7 application/epub+zip", "a.pdf"),
    "docx-bomb": _docx_bomb,
    "docx-150000-paragraphs": _docx_paragraphs,
    "docx-nested-tables": _docx_nested_tables,
    "docx-70000-parts": _crowd("a.docx", 70_000, docx(words("x"))),
    "docx-odd-names": _named("a.docx", docx(words("x"))),
    "docx-picture-elsewhere": _docx_outside("image", "file://{path}"),
    "docx-picture-on-a-server": _docx_outside("image", "{url}"),
    "docx-template-on-a-server": _docx_outside("attachedTemplate", "{url}"),
    "docx-target-up": _docx_up,
    "docx-target-loop": _docx_loop,
    "docx-macro": _docx_macro,
    "docx-half": _cut("a.docx", docx(words("x")), 0.6),
    "xlsx-bomb-of-rows": _sheet_bomb,
    "xlsx-strings-bomb": _sheet_strings_bomb,
    "xlsx-last-cell": _sheet('<row r="1048576"><c r="XFD1048576"><v>1</v></c></row><row r="1"><c r="A1"><v>1</v></c></row>'),
    "xlsx-cell-beyond": _sheet('<row r="99999999999999"><c r="ZZZZZZZZ99999999999999"><v>1</v></c></row>'),
    "xlsx-cell-negative": _sheet('<row r="-1"><c r="A-1"><v>1</v></c></row><row r="x"><c r="&#x202e;"><v>1</v></c></row>'),
    "xlsx-string-missing": _sheet('<row r="1"><c r="A1" t="s"><v>99999999999</v></c><c r="B1" t="s"><v>-1</v></c></row>', "<sst/>"),
    "xlsx-formulas": _sheet(_DDE),
    "xlsx-merged-all": _sheet('<row r="1"><c r="A1"><v>1</v></c></row></sheetData><mergeCells><mergeCell ref="A1:XFD1048576"/></mergeCells><sheetData>'),
    "xlsx-long-numbers": _sheet(f'<row r="1"><c r="A1"><v>{"9" * 1_000_000}</v></c><c r="B1" t="d"><v>99999-99-99</v></c><c r="C1"><v>1e99999</v></c><c r="D1" t="b"><v>x</v></c></row>'),
    "cbz-overlapping": _overlapping,
    "cbz-bomb": _comic(("1.png", lambda: b"\x89PNG\r\n\x1a\n" + b"\0" * 300_000_000)),
    "cbz-picture-bomb": _comic(("1.png", lambda: png(30_000, 30_000))),
    "cbz-odd-names": _named("a.cbz", {"1.png": png(8, 8)}),
    "cbz-links": _comic_links,
    "cbz-no-picture": _comic(("1.png", b"<svg/>"), ("2.png", b"")),
    "cbz-70000-pictures": _crowd("a.cbz", 70_000, {"0.png": png(8, 8)}),
}  # fmt: skip

_BRIEF = set[str]()
_REFUSED = {
    "epub-bomb-of-zeros",
    "epub-lying-size",
    "epub-without-directory",
    "epub-70000-entries",
    "docx-bomb",
    "docx-70000-parts",
    "cbz-70000-pictures",
}

CASES = [
    Case(
        "archives", name, make, brief=name in _BRIEF, refused=True if name in _REFUSED else None, seconds=40, output=128
    )
    for name, make in _MAKERS.items()
]
