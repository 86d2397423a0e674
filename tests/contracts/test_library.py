"""What every library promises."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citekit.adapters.catalogs.calibre.catalog import CalibreLibrary
from citekit.adapters.catalogs.folder import FolderLibrary
from citekit.adapters.catalogs.in_memory import MemoryLibrary
from citekit.domain.errors import BookMissing
from citekit.domain.formats import Format
from citekit.domain.library.books import BookFacts, BookFilter, BookRecord
from citekit.domain.library.extracted_text import ExtractedText, UnitKind
from citekit.domain.ports.library import Library
from citekit.domain.progress import Progress, silent
from citekit.domain.source import Source
from tests.calibre_made import MadeBook, make_library

SHELF = [
    MadeBook(
        title="Straße nach Ölüdeniz",
        authors=("Ætla Þór", "Ian Jackson"),
        languages=("deu", "eng"),
        tags=("Reise", "100% wahr"),
    ),
    MadeBook(title="100 Years", authors=("O'Brien, Flann",), languages=("eng",), tags=("Fiction", "Sea_stories")),
    MadeBook(title="ΌΔΥΣΣΕΙΑ", authors=("Ὅμηρος",), languages=("ell",), tags=("Epic", "Sea stories")),
    MadeBook(title="呐喊", authors=("鲁迅",), languages=("zho",), tags=("中文", "Fiction")),
    MadeBook(title="Café", authors=("Nobody",), tags=()),
]
"""Books in the order in which they were added."""


class TellingReader:
    """Reads facts out of files of lines `title`, authors joined by `;`, language."""

    def supports(self, format: Format) -> bool:
        return format.name == "text"

    def read(self, source: Source, progress: Progress = silent) -> ExtractedText:
        return ExtractedText(UnitKind.LINE, "", ())

    def facts(self, source: Source) -> BookFacts:
        title, authors, language = source.path.read_text("utf-8").split("\n")
        return BookFacts(title=title, authors=authors.split(";"), language=language or None)


def in_memory(books: Sequence[MadeBook], folder: Path) -> Library:
    return MemoryLibrary(
        BookRecord(id=number, title=book.title, authors=book.authors, languages=book.languages, tags=book.tags)
        for number, book in enumerate(books, 1)
    )


def in_calibre(books: Sequence[MadeBook], folder: Path) -> Library:
    dated = [(f"2024-01-{day:02d} 00:00:00+00:00", book) for day, book in enumerate(books, 1)]
    return CalibreLibrary(make_library(folder, [_at(timestamp, book) for timestamp, book in dated]))


def _at(timestamp: str, book: MadeBook) -> MadeBook:
    from attrs import evolve

    return evolve(book, timestamp=timestamp, path="nowhere")


def in_folder(books: Sequence[MadeBook], folder: Path) -> Library:
    for number, book in enumerate(books):
        below = folder / "/".join(book.tags[:1])
        below.mkdir(parents=True, exist_ok=True)
        path = below / f"{number}.txt"
        path.write_text(f"{book.title}\n{';'.join(book.authors)}\n{next(iter(book.languages), '')}", "utf-8")
        os.utime(path, ns=(10**18 + number * 10**9,) * 2)
    return FolderLibrary(folder, TellingReader())


Make = Callable[[Sequence[MadeBook], Path], Library]
MAKERS: dict[str, Make] = {"memory": in_memory, "calibre": in_calibre, "folder": in_folder}


@pytest.fixture(params=MAKERS, scope="session")
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Library:
    return MAKERS[request.param](SHELF, tmp_path_factory.mktemp("library"))


def titles(library: Library, limit: int = 100, offset: int = 0, **wanted: object) -> list[str]:
    return [book.title for book in library.find(BookFilter(**wanted), limit, offset)]  # type: ignore[arg-type]


class TestFinding:
    def test_without_a_wish_all_are_found_those_added_last_first(self, library: Library) -> None:
        assert [book.title for book in reversed(SHELF)] == titles(library)

    @pytest.mark.parametrize(
        "title", ["straße", "STRASSE", "strasse NACH", "ölüDENIZ", "O\u0308lu\u0308deniz", "aße nach öl"]
    )
    def test_a_part_of_a_title_is_found_whatever_the_case(self, library: Library, title: str) -> None:
        assert ["Straße nach Ölüdeniz"] == titles(library, title=title)

    @pytest.mark.parametrize(
        ("title", "found"), [("όδυσσεια", ["ΌΔΥΣΣΕΙΑ"]), ("呐", ["呐喊"]), ("cafe", []), ("CAFÉ", ["Café"])]
    )
    def test_cases_count_as_equal_and_accents_do_not(self, library: Library, title: str, found: list[str]) -> None:
        assert found == titles(library, title=title)

    @pytest.mark.parametrize("author", ["ætla", "ÆTLA ÞÓR", "jackson", "þór & ian"])
    def test_any_of_several_authors_is_found(self, library: Library, author: str) -> None:
        assert ["Straße nach Ölüdeniz"] == titles(library, author=author)

    @pytest.mark.parametrize("author", ["o'brien, fl", "O'BRIEN"])
    def test_quotes_and_commas_are_letters_like_others(self, library: Library, author: str) -> None:
        assert ["100 Years"] == titles(library, author=author)

    @pytest.mark.parametrize(
        "text", ["%", "_", "1_0", "1%0", "*", "?", "\\", "'; DROP TABLE books; --", "\ud800", "a\0b"]
    )
    def test_no_character_is_a_wildcard(self, library: Library, text: str) -> None:
        assert [] == titles(library, title=text)
        assert [] == titles(library, author=text)

    @pytest.mark.parametrize("code", ["el", "ell", "gre", "EL", " ell ", "el-GR"])
    def test_a_language_is_found_by_any_of_its_codes(self, library: Library, code: str) -> None:
        assert ["ΌΔΥΣΣΕΙΑ"] == titles(library, language=code)

    @pytest.mark.parametrize("code", ["e", "l", "elx", "e_l", "%"])
    def test_a_part_of_a_code_is_no_language(self, library: Library, code: str) -> None:
        assert [] == titles(library, language=code)

    def test_a_part_of_a_tag_is_found_whatever_the_case(self, library: Library) -> None:
        assert ["Straße nach Ölüdeniz"] == titles(library, tags=("REIS",))

    def test_all_wishes_must_fit(self, library: Library) -> None:
        assert ["100 Years"] == titles(library, title="100", author="flann", language="en", tags=("fic",))
        assert [] == titles(library, title="100", author="flann", language="de", tags=("fic",))

    @pytest.mark.parametrize("empty", ["", "  "])
    def test_an_empty_wish_is_none(self, library: Library, empty: str) -> None:
        everything = titles(library)

        assert everything == titles(library, title=empty, author=empty, language=empty, tags=(empty,))

    @pytest.mark.parametrize(("limit", "offset"), [(0, 0), (1, 0), (2, 1), (2, 4), (100, 5), (2**80, 2**80), (-1, -1)])
    def test_limit_and_offset_cut_a_piece_out(self, library: Library, limit: int, offset: int) -> None:
        everything = titles(library)
        start = max(offset, 0)

        assert everything[start : start + max(limit, 0)] == titles(library, limit, offset)

    def test_what_is_found_is_what_get_gives(self, library: Library) -> None:
        for book in library.find(BookFilter(), 100):
            assert book == library.get(book.id)

    @pytest.mark.parametrize("book_id", [0, -1, 999_999_999_999, 2**63, -(2**63), 2**200])
    def test_a_number_that_no_book_has_is_said(self, library: Library, book_id: int) -> None:
        with pytest.raises(BookMissing, match=f"Book with ID {book_id} not found"):
            library.get(book_id)

    def test_what_there_is_is_counted(self, library: Library) -> None:
        stats = library.stats()

        assert (5, 6) == (stats.books, stats.authors)
        assert {"deu", "ell", "eng", "zho"} == set(stats.languages)

    def test_several_threads_ask_at_once(self, library: Library) -> None:
        expected = titles(library)
        answers: list[list[str]] = []
        threads = [threading.Thread(target=lambda: answers.append(titles(library))) for _ in range(8)]

        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert [expected] * 8 == answers


TEXT = st.text(st.sampled_from("aAßsSıİéÉ\u0301 ,&|%_'中\x1f"), max_size=6)


@given(
    books=st.lists(st.tuples(TEXT, st.lists(TEXT, max_size=2), st.lists(TEXT, max_size=2)), max_size=6),
    author=TEXT,
    title=TEXT,
    tags=st.lists(TEXT, max_size=2),
)
def test_a_book_is_found_exactly_if_all_parts_are_inside_of_it(
    books: list[tuple[str, list[str], list[str]]], author: str, title: str, tags: list[str]
) -> None:
    import unicodedata

    def bare(text: str) -> str:
        composed = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
        return composed.replace("\x1f", " ")

    def fits(book: tuple[str, list[str], list[str]]) -> bool:
        name, authors, subjects = book
        return (
            (not title.strip() or folded(title) in folded(name))
            and (not author.strip() or folded(author) in folded(" & ".join(authors)))
            and all(any(bare(tag) in bare(subject) for subject in subjects) for tag in tags if tag.strip())
        )

    def folded(text: str) -> str:
        return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())

    library = MemoryLibrary(
        BookRecord(id=number, title=name, authors=authors, tags=subjects)
        for number, (name, authors, subjects) in enumerate(books)
    )
    expected = [number for number, book in enumerate(books) if fits(book)][::-1]

    found = library.find(BookFilter(author=author, title=title, tags=tags), 100)

    assert expected == [book.id for book in found]
