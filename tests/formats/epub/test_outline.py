"""The contents of a book as a tree of chapters and characters, and their evidence."""

from __future__ import annotations

from pathlib import Path

import pypdfium2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from citekit.adapters.formats.epub.extractor import EpubExtractor
from citekit.adapters.formats.epub.outliner import EpubOutliner, toc_outline_items
from citekit.adapters.formats.epub.reader import EpubReader
from citekit.adapters.formats.shared.outline import Outline, OutlineItem, make_nodes
from citekit.domain.errors import FormUnsupported, LocationOutside
from citekit.domain.evidence import Form, Options
from citekit.domain.extent import Extent
from citekit.domain.formats import BY_SUFFIX
from citekit.domain.locations import Chapter, Lines
from citekit.domain.ports.reader import Book, BookChapter, Heading
from citekit.domain.progress import silent
from tests.formats.epub.books import write_book
from tests.formats.texts import source

EPUB = BY_SUFFIX[".epub"]


def book_of(lengths: list[int], contents: list[tuple[int, str, int, int]]) -> Book:
    chapters = [BookChapter(number=n, name=f"c{n}.xhtml", text="x" * length) for n, length in enumerate(lengths, 1)]
    headings = [Heading(*entry) for entry in contents]
    return Book(title=None, authors=(), language=None, identifier=None, chapters=chapters, contents=headings)


def places(outline_items: tuple[OutlineItem, ...]) -> list[tuple[str, Chapter, list[object]]]:
    return [
        (each.title, each.location, list(places(tuple(each.children))))
        for each in outline_items
        if isinstance(each.location, Chapter)
    ]


def test_entries_reach_to_the_next_of_their_own_or_a_higher_level() -> None:
    book = book_of([10, 10, 10], [(1, "A", 1, 0), (2, "a", 1, 4), (2, "b", 1, 7), (1, "B", 2, 0)])

    assert [
        (
            "A",
            Chapter(1),
            [("Introduction", Chapter(1, (0, 4)), []), ("a", Chapter(1, (4, 7)), []), ("b", Chapter(1, (7, 10)), [])],
        ),
        ("B", Chapter(2, last=3), [("Introduction", Chapter(2), []), ("xxxxxxxxxx", Chapter(3), [])]),
    ] == places(toc_outline_items(book))


def test_a_leaf_that_ends_inside_a_later_chapter_is_cut_at_the_end_of_its_own() -> None:
    book = book_of([10, 10, 10], [(1, "A", 1, 5), (1, "B", 3, 5)])

    assert [
        ("xxxxx", Chapter(1, (0, 5))),
        ("A", Chapter(1, (5, 10))),
        ("A (continued)", Chapter(2)),
        ("A (continued)", Chapter(3, (0, 5))),
        ("B", Chapter(3, (5, 10))),
    ] == [each[:2] for each in places(toc_outline_items(book))]


def test_a_parent_that_ends_inside_a_later_chapter_is_widened_to_whole_chapters() -> None:
    book = book_of([10, 10], [(1, "A", 1, 5), (2, "a", 1, 7), (1, "B", 2, 5)])

    found = places(toc_outline_items(book))

    assert ("A", Chapter(1, last=2)) == found[1][:2]
    assert [
        ("Introduction", Chapter(1, (5, 7)), []),
        ("a", Chapter(1, (7, 10)), []),
        ("a (continued)", Chapter(2, (0, 5)), []),
    ] == found[1][2]


def test_entries_of_one_level_at_one_place_are_one_node() -> None:
    book = book_of([10], [(1, "A", 1, 0), (1, "B", 1, 0), (1, "C", 1, 5)])

    assert [("A / B", Chapter(1, (0, 5))), ("C", Chapter(1, (5, 10)))] == [
        (outline_item.title, outline_item.location) for outline_item in toc_outline_items(book)
    ]


def test_an_entry_at_the_end_of_a_chapter_begins_with_the_next() -> None:
    book = book_of([10, 10], [(1, "A", 1, 0), (1, "B", 1, 10)])

    assert [Chapter(1), Chapter(2)] == [outline_item.location for outline_item in toc_outline_items(book)]


def test_a_book_without_contents_has_a_node_a_chapter(tmp_path: Path) -> None:
    path = write_book(
        tmp_path / "b.epub", ["<h1>First</h1><p>It was a very dark night.</p>", f"<p>{'long ' * 40}</p>", ""]
    )

    found = EpubOutliner(EpubReader()).outline(source(path), silent)

    assert [("First", Chapter(1)), ("c2", Chapter(2)), ("c3", Chapter(3))] == [
        (outline_item.title, outline_item.location) for outline_item in found.items
    ]
    assert "It was a very dark night." == found.items[0].summary
    assert [31, 199, 0] == found.facts["chapter_lengths"]
    assert found.notes


entries = st.lists(st.tuples(st.integers(1, 4), st.just("T"), st.integers(1, 5), st.integers(0, 12)), max_size=12)


@given(st.lists(st.integers(0, 12), min_size=5, max_size=5), entries)
def test_every_book_is_covered_and_every_entry_placed(
    lengths: list[int], contents: list[tuple[int, str, int, int]]
) -> None:
    inside = sorted(
        ((a, f"{t}{n}", c, min(o, lengths[c - 1])) for n, (a, t, c, o) in enumerate(contents)), key=lambda e: e[2:]
    )

    outline_items = toc_outline_items(book_of(lengths, inside))

    extent = Extent(chapters=tuple(lengths))
    nodes = [node for top in make_nodes(Outline(title=None, extent=extent, items=outline_items)) for node in top.walk()]
    for node in nodes:
        assert all(node.location.contains(child.location) for child in node.children)
    placed = {title for node in nodes for title in node.title.split(" / ")}
    assert {title for _, title, chapter, offset in inside if (chapter, offset) < (5, max(1, lengths[4]))} <= placed
    tops = [outline_item.location for outline_item in outline_items if isinstance(outline_item.location, Chapter)]
    for number, length in enumerate(lengths, 1):
        for character in range(length):
            assert any(top.contains(Chapter(number, (character, character + 1))) for top in tops)
    assert sorted((n, c) for n, length in enumerate(lengths, 1) for c in range(length)) == sorted(
        (number, character)
        for node in nodes
        if not node.children and isinstance(node.location, Chapter)
        for number in range(node.location.number, node.location.last + 1)
        for character in range(*(node.location.chars or (0, lengths[number - 1])))
    )


def test_chapters_are_cut_as_text_and_as_html(tmp_path: Path) -> None:
    book = source(write_book(tmp_path / "b.epub", ["<p>one <b>x</b></p>", "<p>zwei ß</p>", "<p>three</p>"]))
    extractor = EpubExtractor(EpubReader())

    text = extractor.extract(book, Chapter(1, last=2), Options(Form.TEXT), tmp_path / "t")
    html = extractor.extract(book, Chapter(1, last=2), Options(), tmp_path / "h")

    assert (".txt", ".html", Chapter(1, last=2)) == (text.suffix, html.suffix, html.extent)
    assert "one x\nzwei ß" == (tmp_path / "t").read_bytes().decode()
    shown = (tmp_path / "h").read_text(encoding="utf-8")
    assert 1 == shown.count("</body>")
    assert ["one <b>x</b>" in shown, "zwei ß" in shown, "three" in shown] == [True, True, False]


def test_characters_are_cut_exactly(tmp_path: Path) -> None:
    book = source(write_book(tmp_path / "b.epub", ["<p>one two</p><p>three</p>"]))

    EpubExtractor(EpubReader()).extract(book, Chapter(1, (4, 9)), Options(Form.TEXT), tmp_path / "t")

    assert b"two\nt" == (tmp_path / "t").read_bytes()


def test_text_shows_powers_raised_and_nothing_hidden(tmp_path: Path) -> None:
    hidden = '<span style="display:none">secret words</span>'
    book = source(
        write_book(tmp_path / "b.epub", [f"<p>A line {hidden} of 10<sup>6</sup> m<sup>3</sup> H<sub>2</sub>O.</p>"])
    )
    extractor = EpubExtractor(EpubReader(), EpubReader(as_seen=True))

    extractor.extract(book, Chapter(1), Options(Form.TEXT), tmp_path / "whole")
    extractor.extract(book, Chapter(1, (2, 26)), Options(Form.TEXT), tmp_path / "part")

    assert "A line of 10⁶ m³ H₂O." == (tmp_path / "whole").read_text(encoding="utf-8")
    assert "line of 10⁶" == (tmp_path / "part").read_text(encoding="utf-8")


def test_what_is_hidden_stays_hidden_in_html_and_pdf(tmp_path: Path) -> None:
    hidden = '<p hidden="">secret one</p><p>seen <font style="visibility: hidden">secret two</font></p>'
    book = source(write_book(tmp_path / "b.epub", [hidden]))
    extractor = EpubExtractor(EpubReader())

    extractor.extract(book, Chapter(1), Options(Form.HTML), tmp_path / "h")
    extractor.extract(book, Chapter(1), Options(Form.PDF), tmp_path / "p")

    html = (tmp_path / "h").read_text(encoding="utf-8")
    assert '<p hidden style="display:none">secret one</p>' in html
    assert '<span hidden style="display:none">secret two</span>' in html
    with pypdfium2.PdfDocument(tmp_path / "p") as document:
        assert "seen" == document[0].get_textpage().get_text_range().strip()


@pytest.mark.parametrize("form", [Form.NATIVE, Form.TEXT])
@pytest.mark.parametrize("location", [Chapter(2), Chapter(1, last=2), Chapter(1, (0, 99)), Chapter(1, (99, 100))])
def test_beyond_the_end_is_outside(tmp_path: Path, form: Form, location: Chapter) -> None:
    book = source(write_book(tmp_path / "b.epub", ["<p>one</p>"]))

    with pytest.raises(LocationOutside):
        EpubExtractor(EpubReader()).extract(book, location, Options(form), tmp_path / "t")
    assert not (tmp_path / "t").exists()


def test_other_forms_and_places_are_not_its_work(tmp_path: Path) -> None:
    book = source(write_book(tmp_path / "b.epub", ["<p>one</p>"]))
    extractor = EpubExtractor(EpubReader())

    assert (Form.NATIVE, Form.HTML, Form.TEXT, Form.PDF, Form.PNG) == tuple(extractor.forms(EPUB, Chapter(1)))
    assert () == tuple(extractor.forms(EPUB, Lines(1, 2))) == tuple(extractor.forms(BY_SUFFIX[".pdf"], Chapter(1)))
    with pytest.raises(FormUnsupported):
        extractor.extract(book, Chapter(1), Options(Form.FRAME), tmp_path / "t")


@pytest.mark.long
def test_a_chapter_laid_out_as_pdf_holds_its_text(tmp_path: Path) -> None:
    book = source(write_book(tmp_path / "b.epub", ["<p>one two</p><p>three 呐喊</p>", "<p>more</p>"]))

    for target in (tmp_path / "first.pdf", tmp_path / "second.pdf"):
        EpubExtractor(EpubReader()).extract(book, Chapter(1), Options(Form.PDF), target)

    with pypdfium2.PdfDocument(tmp_path / "first.pdf") as made:
        assert ["one", "two", "three", "呐喊"] == made[0].get_textpage().get_text_bounded().split()
    assert (tmp_path / "first.pdf").read_bytes() == (tmp_path / "second.pdf").read_bytes()


def test_a_chapter_as_a_picture_is_bounded(tmp_path: Path) -> None:
    long = "".join(f"<p>{'words ' * 200}</p>" for _ in range(60))
    book = source(write_book(tmp_path / "b.epub", ["<p>short</p>", long]))
    extractor = EpubExtractor(EpubReader())

    extractor.extract(book, Chapter(1), Options(Form.PNG), tmp_path / "short.png")
    with pytest.raises(FormUnsupported, match="pages"):
        extractor.extract(book, Chapter(2), Options(Form.PNG), tmp_path / "long.png")

    with Image.open(tmp_path / "short.png") as picture:
        assert (875, 1240) == pytest.approx(picture.size, abs=2)
        assert min(picture.convert("L").tobytes()) < 100


@pytest.mark.corpus
def test_real_books_are_covered_by_their_contents(corpus: Path) -> None:
    for path in sorted((corpus / "book").glob("*.epub")):
        found = EpubOutliner(EpubReader()).outline(source(path), silent)
        lengths = found.facts["chapter_lengths"]
        nodes = [node for top in make_nodes(found) for node in top.walk()]

        assert all(node.location.contains(child.location) for node in nodes for child in node.children)
        assert all(node.location == node.location.clamp(found.extent) for node in nodes)
        leaves = [node for node in nodes if not node.children]
        assert sum(lengths) == sum(_size(node.location, lengths) for node in leaves), path.name
        assert found.items


def _size(location: object, lengths: list[int]) -> int:
    assert isinstance(location, Chapter)
    if location.chars:
        return location.chars[1] - location.chars[0]
    return sum(lengths[location.number - 1 : location.last])
