"""An EPUB of a hundred chapters, by zipfile alone."""

from __future__ import annotations

import zipfile
from pathlib import Path

from benchmarks.homes import sentences

CHAPTERS, PARAGRAPHS = 100, 120

_CONTAINER = """<?xml version="1.0"?><container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
<rootfiles><rootfile full-path="book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>"""
_PACKAGE = """<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:identifier id="id">urn:made</dc:identifier>
<dc:title>A made novel</dc:title><dc:language>en</dc:language>
<meta property="dcterms:modified">2026-01-01T00:00:00Z</meta></metadata>
<manifest><item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>{items}</manifest>
<spine>{spine}</spine></package>"""
_PAGE = """<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops">
<head><title>{title}</title></head><body>{body}</body></html>"""


def write(path: Path) -> None:
    """Write it to `path`."""
    numbers = range(1, CHAPTERS + 1)
    items = "".join(f'<item id="c{n}" href="c{n}.xhtml" media-type="application/xhtml+xml"/>' for n in numbers)
    spine = "".join(f'<itemref idref="c{n}"/>' for n in numbers)
    links = "".join(f'<li><a href="c{n}.xhtml">Chapter {n}</a></li>' for n in numbers)
    nav = _PAGE.format(title="Contents", body=f'<nav epub:type="toc"><ol>{links}</ol></nav>')
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
        book.writestr("mimetype", "application/epub+zip", zipfile.ZIP_STORED)
        book.writestr("META-INF/container.xml", _CONTAINER)
        book.writestr("book.opf", _PACKAGE.format(items=items, spine=spine))
        book.writestr("nav.xhtml", nav)
        for number in numbers:
            book.writestr(f"c{number}.xhtml", _PAGE.format(title=f"Chapter {number}", body=_chapter(number)))


def _chapter(number: int) -> str:
    texts = sentences(30)
    first = number * PARAGRAPHS
    paragraphs = "".join(f"<p>{texts[(first + n) % len(texts)]}.</p>" for n in range(PARAGRAPHS))
    return f"<h1>Chapter {number}</h1>{paragraphs}"
