"""Places that a book names apart from its contents: pages of the printed edition, and what its guide points to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from citekit.adapters.formats.book_reader import AnyBookReader
from citekit.adapters.formats.epub.outliner import EpubOutliner
from citekit.adapters.formats.epub.reader import EpubReader
from citekit.domain.ports.reader import PageBreak
from citekit.domain.progress import silent
from tests.formats.epub.books import NCX_ITEM, book_files, package, page, write_epub
from tests.formats.media.media_samples import source
from tests.formats.mobi.kindle import mobi_text, write_mobi

BODIES = ['<p id="p1">First words.</p><p>On the <span id="p2"></span>second page.</p>', "<p>Third.</p>"]
PAGES = [PageBreak("ix", 1, 0), PageBreak("2", 1, 20), PageBreak("3", 2, 0)]


def with_nav(path: Path) -> Path:
    files = book_files(BODIES, '<ol><li><a href="c1.xhtml">One</a></li></ol>')
    links = "".join(
        f'<li><a href="{href}">{label}</a></li>'
        for label, href in (("ix", "c1.xhtml#p1"), ("2", "c1.xhtml#p2"), ("3", "c2.xhtml"), ("4", "c2.xhtml#no"))
    )
    nav = f'<nav epub:type="toc"><ol><li><a href="c1.xhtml">One</a></li></ol></nav><nav epub:type="page-list"><ol>{links}</ol></nav>'
    return write_epub(path, files | {"OPS/nav.xhtml": page(nav)})


def with_ncx(path: Path) -> Path:
    files = book_files(BODIES)
    targets = "".join(
        f'<pageTarget type="normal" value="{label}"><navLabel><text>{label}</text></navLabel><content src="{href}"/></pageTarget>'
        for label, href in (("ix", "c1.xhtml#p1"), ("2", "c1.xhtml#p2"), ("3", "c2.xhtml"))
    )
    ncx = f'<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap/><pageList>{targets}</pageList></ncx>'
    names = ["c1.xhtml", "c2.xhtml"]
    return write_epub(path, files | {"OPS/book.opf": package(names, NCX_ITEM, ' toc="ncx"'), "OPS/toc.ncx": ncx})


def with_marks(path: Path) -> Path:
    """Pages that are marked where they begin, and listed nowhere."""
    bodies = [
        '<p><span epub:type="pagebreak" aria-label=" ix "></span>First words.</p>'
        '<p>On the <span role="doc-pagebreak" title="2"/>second page.</p>',
        '<section epub:type="pagebreak"/><div epub:type="pagebreak" title="3"></div><p>Third.</p>',
    ]
    return write_epub(path, book_files(bodies))


@pytest.mark.parametrize("make", [with_nav, with_ncx, with_marks])
def test_pages_of_the_printed_edition_are_placed(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    path = make(tmp_path / "book.epub")

    assert tuple(PAGES) == EpubReader().read(path).page_breaks


def test_the_map_lists_them(tmp_path: Path) -> None:
    facts = EpubOutliner(EpubReader()).outline(source(with_nav(tmp_path / "book.epub")), silent).facts

    assert [{"label": each.label, "chapter": each.chapter, "character": each.offset} for each in PAGES] == facts[
        "page_breaks"
    ]


def test_the_guide_of_a_mobi_gives_landmarks(tmp_path: Path) -> None:
    guide = '<guide><reference type="toc" title="Contents" filepos=%010d /></guide>'
    chapters = [f"{guide % 0}<h1>One</h1><p>Words.</p>", "<h1>Contents</h1><p>One</p>"]
    chapters[0] = chapters[0].replace(guide % 0, guide % mobi_text(chapters).index(b"<h1>Contents"))

    book = AnyBookReader().read(write_mobi(tmp_path / "book.mobi", chapters))

    assert [("toc", "Contents")] == [
        (each.type, book.chapters[each.chapter - 1].text[each.offset :][:8]) for each in book.landmarks
    ]
