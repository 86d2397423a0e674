"""One small real file of every kind that the local mapper knows: made here, or shipped as a sample."""

from __future__ import annotations

import zipfile
from importlib.resources import files
from pathlib import Path

SHIPPED = ("r-intro.pdf", "PDDocument.java", "imageTextN.png", "run.mp4", "lena.ogg")

TEXTS = {
    "notes.md": "---\ntitle: Notes\n---\n\nBefore.\n\n# First\n\nText.\n\n## Inner\n\n```\n# no heading\n```\n\nSecond\n======\n\nMore.\n",
    "page.html": "<html><head><title>Page</title></head><body>\n<h1>One</h1>\n<p>Text.</p>\n<h2>Two</h2>\n<p>More.</p></body></html>\n",
    "guide.rst": "Guide\n=====\n\nText.\n\nPart\n----\n\nMore text.\n",
    "plain.txt": "CHAPTER 1\n\nIt was a bright day. The clocks struck.\n\n\nCHAPTER 2\n\nThen it rained.\n",
    "crlf.txt": "one\r\ntwo\rthree\nfour",
    "talk.srt": "1\n00:00:01,000 --> 00:00:03,000\nHello there.\n\n2\n00:00:20,000 --> 00:00:22,000\nAnd goodbye.\n",
    "module.py": 'class Shelf:\n    """Holds books."""\n\n    def add(self, book):\n        return book\n\n\ndef main():\n    pass\n',
    "data.json": '{\n  "a": [1, 2],\n  "b": {"c": 3}\n}\n',
}

CONTAINER = """<?xml version="1.0"?><container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
<rootfiles><rootfile full-path="book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>"""

PACKAGE = """<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>A Small Book</dc:title><dc:language>en</dc:language>
<dc:identifier id="id">x</dc:identifier></metadata>
<manifest><item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>
<item id="a" href="a.xhtml" media-type="application/xhtml+xml"/><item id="b" href="b.xhtml" media-type="application/xhtml+xml"/>
</manifest><spine><itemref idref="a"/><itemref idref="b"/></spine></package>"""

NAVIGATION = """<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"><body><nav epub:type="toc"><ol>
<li><a href="a.xhtml">The Beginning</a><ol><li><a href="a.xhtml#s">A Section</a></li></ol></li>
<li><a href="b.xhtml">The End</a></li></ol></nav></body></html>"""

CHAPTER = """<html xmlns="http://www.w3.org/1999/xhtml"><head><title>{title}</title></head><body><h1>{title}</h1>
<p>It begins with <b>words</b>.</p><h2 id="s">A Section</h2><p>And goes on for a while.</p></body></html>"""


def make_all(folder: Path) -> dict[str, Path]:
    """Every file by its name."""
    made = {name: Path(str(files("citekit") / "samples" / name)) for name in SHIPPED}
    for name, text in TEXTS.items():
        made[name] = folder / name
        made[name].write_bytes(text.encode("utf-8"))
    made["wide.txt"] = folder / "wide.txt"
    made["wide.txt"].write_bytes("eins\nzwei\r\ndrei\n".encode("utf-16"))
    made["book.epub"] = make_epub(folder / "book.epub")
    return made


def make_epub(path: Path) -> Path:
    """A book of two chapters with a section."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/epub+zip")
        archive.writestr("META-INF/container.xml", CONTAINER)
        archive.writestr("book.opf", PACKAGE)
        archive.writestr("nav.xhtml", NAVIGATION)
        archive.writestr("a.xhtml", CHAPTER.format(title="The Beginning"))
        archive.writestr("b.xhtml", CHAPTER.format(title="The End"))
    return path


NAMES = (*SHIPPED, *TEXTS, "wide.txt", "book.epub")
