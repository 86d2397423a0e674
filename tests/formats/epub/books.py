"""Small books, written by zipfile."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

CONTAINER = """<?xml version="1.0"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
<rootfiles><rootfile full-path="OPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>"""


def page(body: str, head: str = "<title>not shown</title>") -> str:
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE html>\n'
        '<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops" '
        f'xmlns:xlink="http://www.w3.org/1999/xlink"><head>{head}</head><body>{body}</body></html>'
    )


def package(names: Sequence[str], extra: str = "", toc: str = "") -> str:
    items = "".join(
        f'<item id="i{n}" href="{name}" media-type="application/xhtml+xml"/>' for n, name in enumerate(names)
    )
    spine = "".join(f'<itemref idref="i{n}"/>' for n in range(len(names)))
    return f"""<?xml version="1.0"?>
<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>A Small Book</dc:title><dc:creator>Ada Writer</dc:creator>
<dc:creator>Bo Author</dc:creator><dc:language>en</dc:language><dc:identifier id="id">urn:x:1</dc:identifier></metadata>
<manifest>{items}{extra}</manifest><spine{toc}>{spine}</spine></package>"""


NAV_ITEM = '<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>'
NCX_ITEM = '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>'


def write_epub(path: Path, files: Mapping[str, str | bytes]) -> Path:
    """The archive as given, the mimetype first."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/epub+zip", zipfile.ZIP_STORED)
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def book_files(bodies: Sequence[str], nav: str = "", **more: str | bytes) -> dict[str, str | bytes]:
    """A whole book: one chapter a body, `nav` the list of its navigation document."""
    names = [f"c{number}.xhtml" for number in range(1, len(bodies) + 1)]
    files: dict[str, str | bytes] = {
        "META-INF/container.xml": CONTAINER,
        "OPS/book.opf": package(names, NAV_ITEM if nav else ""),
    }
    if nav:
        files["OPS/nav.xhtml"] = page(f'<nav epub:type="toc">{nav}</nav>')
    files.update({f"OPS/{name}": page(body) for name, body in zip(names, bodies, strict=True)})
    return files | more


def write_book(path: Path, bodies: Sequence[str], nav: str = "", **more: str | bytes) -> Path:
    return write_epub(path, book_files(bodies, nav, **more))
