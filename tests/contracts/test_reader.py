"""What every Reader promises."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citekit.adapters.formats.epub.reader import EpubReader
from citekit.domain.errors import LocationOutside, SourceUnsupported
from citekit.domain.ports.reader import Reader
from tests.formats.epub.books import write_book

words = st.text(st.characters(categories=("L", "N", "P", "S"), exclude_characters="\u00ad"), min_size=1, max_size=12)
paragraphs = st.lists(words, min_size=1, max_size=8).map(" ".join)
inline = st.sampled_from(["<em>{}</em>", "{}", "<a href='x'>{}</a>", "<span> {}</span>", "{}<br/>", "\n  {}"])
block = st.sampled_from(["<p>{}</p>", "<h2>{}</h2>", "<div><p>{}</p></div>", "<ul><li>{}</li></ul>", "<pre>{}</pre>"])


class Visible(HTMLParser):
    """The text of a document by the standard library's parser, which shares nothing with ours."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.hidden += tag in ("head", "script", "style")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        self.hidden -= tag in ("head", "script", "style")

    def handle_data(self, data: str) -> None:
        if not self.hidden:
            self.pieces.append(data)


def visible(document: str) -> Visible:
    parser = Visible()
    parser.feed(document)
    parser.close()
    return parser


def letters(text: str) -> str:
    return re.sub(r"[ \t\r\n\f]", "", text)


def escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def bodies_of(blocks: st.SearchStrategy[str]) -> st.SearchStrategy[list[tuple[str, list[str]]]]:
    """Chapters, each as its markup and the paragraphs in it."""
    chapter = st.lists(st.tuples(blocks, inline, paragraphs), max_size=6).map(
        lambda parts: ("".join(b.format(i.format(escaped(p))) for b, i, p in parts), [p for _, _, p in parts])
    )
    return st.lists(chapter, min_size=1, max_size=4)


bodies = bodies_of(block)


@pytest.fixture
def reader() -> Reader:
    return EpubReader()


@pytest.fixture(scope="session")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("shelf")


@given(bodies)
def test_every_character_is_in_exactly_one_chapter_in_reading_order(
    shelf: Path, chapters: list[tuple[str, list[str]]]
) -> None:
    path = write_book(shelf / "law.epub", [body for body, _ in chapters])

    book = EpubReader().read(path)

    assert [letters("".join(said)) for _, said in chapters] == [letters(chapter.text) for chapter in book.chapters]
    assert list(range(1, len(chapters) + 1)) == [chapter.number for chapter in book.chapters]


@pytest.mark.long
@given(bodies_of(block.filter(lambda each: "pre" not in each)))
def test_paragraphs_are_parted_by_newlines_and_their_words_by_single_spaces(
    shelf: Path, chapters: list[tuple[str, list[str]]]
) -> None:
    path = write_book(shelf / "lines.epub", [body for body, _ in chapters])

    book = EpubReader().read(path)

    assert ["\n".join(said) for _, said in chapters] == [chapter.text for chapter in book.chapters]


@pytest.mark.long
@given(bodies, st.data())
def test_the_html_of_a_range_shows_exactly_those_characters(
    shelf: Path, chapters: list[tuple[str, list[str]]], data: st.DataObject
) -> None:
    path = write_book(shelf / "range.epub", [body for body, _ in chapters])
    chapter = data.draw(st.sampled_from(EpubReader().read(path).chapters))
    start = data.draw(st.integers(0, max(0, len(chapter.text) - 1)))
    end = data.draw(st.integers(start + 1, max(start + 1, len(chapter.text))))
    chars = (start, end) if chapter.text else None

    document = EpubReader().html(path, chapter.number, chars)

    assert letters(chapter.text[start:end]) == letters("".join(visible(document).pieces))


def test_the_contents_point_at_their_words(reader: Reader, tmp_path: Path) -> None:
    nav = """<ol><li><a href="c1.xhtml">One</a><ol><li><a href="c1.xhtml#deep">Deep</a></li></ol></li>
        <li><a href="c2.xhtml">Two</a></li></ol>"""
    path = write_book(tmp_path / "b.epub", ["<p>first</p><h2 id='deep'>Deep water</h2>", "<p>second</p>"], nav)

    book = reader.read(path)

    assert [(1, "One", 1, 0), (2, "Deep", 1, 6), (1, "Two", 2, 0)] == [
        (each.level, each.title, each.chapter, each.offset) for each in book.contents
    ]
    assert book.chapters[0].text[6:].startswith("Deep water")


def test_a_chapter_beyond_the_end_is_outside(reader: Reader, tmp_path: Path) -> None:
    path = write_book(tmp_path / "b.epub", ["<p>only</p>"])

    with pytest.raises(LocationOutside, match="1 chapter"):
        reader.html(path, 2)
    with pytest.raises(LocationOutside):
        reader.html(path, 0)


def test_characters_beyond_the_end_are_outside(reader: Reader, tmp_path: Path) -> None:
    path = write_book(tmp_path / "b.epub", ["<p>only</p>"])

    with pytest.raises(LocationOutside, match="4 characters"):
        reader.html(path, 1, (2, 5))


def test_what_is_no_book_is_unsupported(reader: Reader, tmp_path: Path) -> None:
    path = tmp_path / "b.epub"
    path.write_bytes(b"PK\x03\x04 but not really")

    with pytest.raises(SourceUnsupported, match=r"b\.epub"):
        reader.read(path)


def test_the_source_is_untouched(reader: Reader, tmp_path: Path) -> None:
    path = write_book(tmp_path / "b.epub", ["<p>only</p>"])
    before = path.read_bytes()

    reader.read(path)
    reader.html(path, 1)

    assert before == path.read_bytes()


def test_the_same_chapter_gives_the_same_document(reader: Reader, tmp_path: Path) -> None:
    path = write_book(tmp_path / "b.epub", ["<p id='a'>only <b>this</b></p>"])

    assert reader.html(path, 1) == reader.html(path, 1)


@pytest.mark.corpus
def test_chapters_of_real_books_agree_with_another_parser(reader: Reader, corpus: Path) -> None:
    import zipfile

    checked = 0
    for path in sorted((corpus / "book").glob("*.epub")):
        with zipfile.ZipFile(path) as archive:
            for chapter in reader.read(path).chapters:
                if chapter.name in archive.namelist():
                    page = archive.read(chapter.name).decode()
                    page = re.sub(
                        r"<(\w+)([^<>]*)/>", r"<\1\2></\1>", re.sub(r"<\?xml.*?\?>|<!DOCTYPE[^>]*>", "", page)
                    )
                    expected = letters("".join(visible(page).pieces))
                    assert expected == letters(chapter.text), (path.name, chapter.name)
                    checked += 1

    assert checked > 500


@pytest.mark.corpus
def test_documents_of_real_books_show_their_text_and_lead_nowhere(reader: Reader, corpus: Path) -> None:
    for path in sorted((corpus / "book").glob("*.epub")):
        for chapter in reader.read(path).chapters[:30]:
            shown = visible(reader.html(path, chapter.number))

            assert letters(chapter.text) == letters("".join(shown.pieces)), (path.name, chapter.name)
            assert_self_contained(shown)


def assert_self_contained(shown: Visible) -> None:
    for tag, said in shown.tags:
        assert tag not in ("script", "link", "iframe", "object", "embed", "base", "form", "source")
        assert not [name for name in said if name.startswith("on") or name in ("srcset", "style", "poster", "data")]
        assert not said.get("src") or str(said["src"]).startswith("data:image/")
        if tag == "a" and said.get("href"):
            assert re.match(r"(https?:|mailto:|#)", said["href"] or "")
