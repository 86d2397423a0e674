"""Headings below the contents, landmarks, captions, and what is mended, of books made by zipfile."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from citekit.adapters.formats.epub.outline_items import _terms
from citekit.adapters.formats.epub.outliner import EpubOutliner
from citekit.adapters.formats.epub.reader import EpubReader
from citekit.adapters.formats.shared.outline import Outline, OutlineItem
from citekit.domain.errors import SourceUnsupported
from citekit.domain.locations import Chapter
from citekit.domain.progress import silent
from tests.formats.epub.books import CONTAINER, NCX_ITEM, book_files, package, page, write_book, write_epub
from tests.formats.texts import source


def outline(path: Path) -> Outline:
    return EpubOutliner(EpubReader()).outline(source(path), silent)


def tree(outline_items: tuple[OutlineItem, ...]) -> list[object]:
    return [(each.type, each.title, tree(tuple(each.children))) for each in outline_items]


def nav(*entries: str) -> str:
    return f"<ol>{''.join(entries)}</ol>"


def test_headings_below_the_contents_are_sections_that_nest(tmp_path: Path) -> None:
    body = "<h1>One</h1><p>Intro.</p><h2>Aa</h2><p>a</p><h3>Deep</h3><p>d</p><h2>Bb</h2><p>b</p>"
    path = write_book(tmp_path / "b.epub", [body], nav('<li><a href="c1.xhtml">One</a></li>'))

    found = outline(path)

    inner: list[object] = [("opening", "Introduction", []), ("section", "Deep", [])]
    assert [
        ("chapter", "One", [("opening", "Introduction", []), ("section", "Aa", inner), ("section", "Bb", [])])
    ] == tree(tuple(found.items))


@pytest.mark.parametrize("length", [20, 2000])
def test_a_title_at_the_end_of_a_file_stays_there(tmp_path: Path, length: int) -> None:
    """The chapters of the part are in the next file, so that they cannot begin with it."""
    first = f"<h1>Part One</h1><p>{'word ' * 400}</p><h1 id='two'>Part Two</h1>"
    second = f"<h2>Aa</h2><p>{'a' * length}</p><h2 id='bb'>Bb</h2><p>b</p>"
    chapters = nav('<li><a href="c2.xhtml">Aa</a></li>', '<li><a href="c2.xhtml#bb">Bb</a></li>')
    contents = nav(
        '<li><a href="c1.xhtml">Part One</a></li>', f'<li><a href="c1.xhtml#two">Part Two</a>{chapters}</li>'
    )
    path = write_book(tmp_path / "b.epub", [first, second], contents)

    part = outline(path).items[-1]
    places = [each.location for each in part.children]

    assert ["Part Two", "Aa", "Bb"] == [each.title for each in part.children]
    assert [1, 2, 2] == [each.number for each in places if isinstance(each, Chapter)]
    assert [0] == [each.chars[0] for each in places[1:2] if isinstance(each, Chapter) and each.chars]


@pytest.mark.parametrize(
    ("written", "title"),
    [
        ("Table of Contents", "The Lakes"),
        ("Untitled", "The Lakes"),
        ("Unknown Lakes", "Unknown Lakes"),
        ("1984", "1984"),
    ],
)
def test_a_placeholder_in_the_metadata_is_not_the_title(tmp_path: Path, written: str, title: str) -> None:
    files = book_files(["<h1>Introduction</h1><h1>The Lakes</h1><p>a</p>", "<h1>Chapter 1</h1><p>b</p>"])
    files["OPS/book.opf"] = str(files["OPS/book.opf"]).replace("A Small Book", written)

    assert outline(write_epub(tmp_path / "b.epub", files)).title == title


def test_a_heading_with_other_words_than_the_contents_begins_the_first_section(tmp_path: Path) -> None:
    body = "<h1>Chapter 1: One, in short</h1><h2>Aa</h2><p>a</p><h2>Bb</h2><p>b</p>"
    path = write_book(tmp_path / "b.epub", [body], nav('<li><a href="c1.xhtml">1 One</a></li>'))

    (chapter,) = outline(path).items

    assert [("chapter", "1 One", [("section", "Aa", []), ("section", "Bb", [])])] == tree((chapter,))
    assert isinstance(chapter.children[0].location, Chapter)
    assert chapter.children[0].location.chars is not None
    assert chapter.children[0].location.chars[0] == 0


def test_headings_of_landmarks_and_page_lists_are_no_sections(tmp_path: Path) -> None:
    lists = "".join(
        f"<nav epub:type='{kind}' hidden=''><h2>{kind}</h2><p>Elsewhere.</p></nav>"
        for kind in ("landmarks", "page-list")
    )
    body = f"<h1>Contents</h1><nav epub:type='toc'><h2>Parts</h2><p>One.</p></nav>{lists}<h2>After</h2><p>b</p>"
    path = write_book(tmp_path / "b.epub", [body], nav('<li><a href="c1.xhtml">Contents</a></li>'))

    found = tree(tuple(outline(path).items))

    below: list[object] = [("section", "Parts", []), ("section", "After", [])]
    assert [("toc", "Contents", below)] == found


def test_chapters_of_a_flat_table_of_contents_are_below_the_parts_that_its_words_name(tmp_path: Path) -> None:
    titles = ["Preface", "BOOK I", "Chapter 1", "Chapter II", "BOOK TWO", "Chapter 1", "Epilogue"]
    bodies = [f"<h1>{title}</h1><p>Long ago there was a house by the sea.</p>" for title in titles]
    entries = [f'<li><a href="c{number}.xhtml">{title}</a></li>' for number, title in enumerate(titles, 1)]

    found = tree(tuple(outline(write_book(tmp_path / "b.epub", bodies, nav(*entries))).items))

    chapters: list[object] = [("chapter", "Chapter 1", []), ("chapter", "Chapter II", [])]
    assert [
        ("chapter", "Preface", []),
        ("part", "BOOK I", [("opening", "Introduction", []), *chapters]),
        ("part", "BOOK TWO", [("opening", "Introduction", []), chapters[0]]),
        ("chapter", "Epilogue", []),
    ] == found


def test_a_subtitle_is_no_section(tmp_path: Path) -> None:
    body = "<h1>Chapter 1</h1><h2>In which it begins</h2><p>Long ago there was a house.</p>"
    path = write_book(tmp_path / "b.epub", [body], nav('<li><a href="c1.xhtml">Chapter 1</a></li>'))

    assert [("chapter", "Chapter 1", [])] == tree(tuple(outline(path).items))


def test_a_book_without_contents_is_nested_by_its_headings(tmp_path: Path) -> None:
    bodies = ["<h1>Part One</h1>", "<h2>CHAPTER I</h2><h2>Morning</h2><p>x</p>", "<h2>CHAPTER II</h2><p>y</p>"]
    path = write_book(tmp_path / "b.epub", bodies)

    found = outline(path)

    assert [
        (
            "part",
            "Part One",
            [("opening", "Part One", []), ("chapter", "CHAPTER I Morning", []), ("chapter", "CHAPTER II", [])],
        )
    ] == tree(tuple(found.items))
    assert "no usable table of contents" in found.notes[0]


def test_a_page_that_lists_headings_is_not_parted_by_them(tmp_path: Path) -> None:
    body = "".join(f"<h3>Chapter {n}</h3>" for n in range(12))
    path = write_book(tmp_path / "b.epub", [body], nav('<li><a href="c1.xhtml">Contents</a></li>'))

    assert [("toc", "Contents", [])] == tree(tuple(outline(path).items))


def test_a_missing_fragment_is_found_by_its_title(tmp_path: Path) -> None:
    body = "<h1>One</h1><p>x</p><h2>Second</h2><p>y</p>"
    entries = '<li><a href="c1.xhtml">One</a></li>', '<li><a href="c1.xhtml#gone">Second</a></li>'
    path = write_book(tmp_path / "b.epub", [body], nav(*entries))

    assert [Chapter(1, (0, 6)), Chapter(1, (6, 14))] == [outline_item.location for outline_item in outline(path).items]


def test_a_fragment_behind_its_heading_begins_with_it(tmp_path: Path) -> None:
    body = '<h1>One</h1><p>x</p><h2>Second</h2><p id="s">y</p>'
    entries = '<li><a href="c1.xhtml">One</a></li>', '<li><a href="c1.xhtml#s">Second</a></li>'
    path = write_book(tmp_path / "b.epub", [body], nav(*entries))

    assert Chapter(1, (6, 14)) == outline(path).items[1].location


def test_landmarks_and_the_types_of_parts_are_types_of_nodes(tmp_path: Path) -> None:
    marks = '</nav><nav epub:type="landmarks"><ol><li><a epub:type="titlepage" href="c1.xhtml">T</a></li></ol>'
    bodies = ["<p>The Book</p>", '<section epub:type="preface"><h1>Before</h1><p>x</p></section>', "<h1>One</h1>"]
    entries = [f'<li><a href="c{n}.xhtml">{title}</a></li>' for n, title in enumerate(("T", "Before", "One"), 1)]
    path = write_book(tmp_path / "b.epub", bodies, nav(*entries) + marks)

    found = outline(path)

    assert ["titlepage", "preface", "chapter"] == [outline_item.type for outline_item in found.items]
    assert [{"type": "titlepage", "chapter": 1, "character": 0}] == found.facts["landmarks"]


def test_a_role_that_is_declared_under_two_names_is_one_node(tmp_path: Path) -> None:
    marks = '</nav><nav epub:type="landmarks"><ol><li><a epub:type="rearnotes" href="c1.xhtml">N</a></li></ol>'
    body = '<section epub:type="endnotes"><section epub:type="rearnotes"><h1>Notes</h1><p>x</p></section></section>'
    path = write_book(tmp_path / "b.epub", [body], nav('<li><a href="c1.xhtml">Notes</a></li>') + marks)

    assert [["endnotes"]] == list(_terms(EpubReader().read(path)).values())


def test_a_cover_and_printed_contents_are_no_chapters_although_nothing_declares_them(tmp_path: Path) -> None:
    names = ["Cover", "Title Page", "Copyright", "Table of Contents", "One"]
    entries = [f'<li><a href="c{n}.xhtml">{name}</a></li>' for n, name in enumerate(names, 1)]
    path = write_book(tmp_path / "b.epub", [f"<h1>{name}</h1><p>x</p>" for name in names], nav(*entries[1:]))

    assert [each.type for each in outline(path).items] == ["cover", "titlepage", "copyright-page", "toc", "chapter"]


def test_the_guide_of_epub_2_tells_types_too(tmp_path: Path) -> None:
    opf = package(["c1.xhtml"]).replace("</spine>", '</spine><guide><reference type="cover" href="c1.xhtml"/></guide>')
    path = write_epub(
        tmp_path / "b.epub",
        {"META-INF/container.xml": CONTAINER, "OPS/book.opf": opf, "OPS/c1.xhtml": page("<p>Cover</p>")},
    )

    assert "cover" == outline(path).items[0].type


def test_captions_are_listed_with_their_characters(tmp_path: Path) -> None:
    body = "<p>Text.</p><figure><img src='x.png'/><figcaption>Figure 1: A cat</figcaption></figure><p>More.</p>"
    path = write_book(tmp_path / "b.epub", [body])

    assert [{"type": "figure", "title": "Figure 1: A cat", "chapter": 1, "chars": [6, 21]}] == outline(path).facts[
        "figures"
    ]


def test_missing_and_repeated_chapter_files_are_said(tmp_path: Path) -> None:
    files = book_files(["<p>one</p>", "<p>two</p>", "<p>three</p>"])
    del files["OPS/c2.xhtml"]
    files["OPS/book.opf"] = str(files["OPS/book.opf"]).replace("</spine>", '<itemref idref="i0"/></spine>')
    path = write_epub(tmp_path / "b.epub", files)

    found = outline(path)

    assert [3, 0, 5, 0] == found.facts["chapter_lengths"]
    assert ("1 of the 4 chapter files that the book lists is missing from it.",) == tuple(found.notes[:1])
    assert "is a duplicate" in found.notes[1]


def test_an_ncx_that_nests_without_end_is_a_map(tmp_path: Path) -> None:
    points = "<navPoint><navLabel><text>A</text></navLabel><content src='c1.xhtml'/>" * 300 + "</navPoint>" * 300
    ncx = f"<ncx><navMap>{points}</navMap></ncx>"
    files = book_files(["<p>one</p>"]) | {"OPS/toc.ncx": ncx}
    files["OPS/book.opf"] = package(["c1.xhtml"], NCX_ITEM, ' toc="ncx"')

    found = outline(write_epub(tmp_path / "b.epub", files))

    assert ["A"] == [outline_item.title for outline_item in found.items]


LAUGHS = (
    '<!DOCTYPE html [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">'
    '<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">]>'
)


@pytest.mark.parametrize(
    "change",
    [
        {"OPS/c1.xhtml": f"{LAUGHS}<html><body><p>one &c;</p></body></html>"},
        {"OPS/book.opf": ""},
        {"META-INF/container.xml": "<container><"},
        {"OPS/c1.xhtml": b"\0" * 1000},
        {"OPS/c1.xhtml": "<p>" + "<div>" * 5000 + "deep"},
    ],
)
def test_a_hostile_book_is_a_small_map_or_one_clear_error(tmp_path: Path, change: dict[str, str | bytes]) -> None:
    path = write_epub(tmp_path / "b.epub", book_files(["<p>one</p>", "<p>two</p>"]) | change)

    with suppress(SourceUnsupported):
        found = outline(path)
        assert sum(found.facts["chapter_lengths"]) < 1000
        assert found.items
