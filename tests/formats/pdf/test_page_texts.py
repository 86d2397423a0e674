"""Laws of the values that PDF pages are read into: the order in which they are asked does not matter."""

# mypy: disable-error-code="no-untyped-call"
# PyMuPDF has no annotations of its own.

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pymupdf
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citekit.adapters.formats.pdf.lazy import Lazy
from citekit.adapters.formats.pdf.outline.page_reader import PageReader
from citekit.adapters.formats.pdf.outline.pages import PageTexts
from citekit.adapters.libraries.mupdf.engine import opened
from citekit.domain.progress import silent

PAGES = 4
PAGE = st.integers(1, PAGES)

ASKING: dict[str, Callable[[PageTexts, int], object]] = {
    "read": lambda texts, page: texts.read(page),
    "lines": lambda texts, page: texts.lines(page),
    "displayed lines": lambda texts, page: texts.displayed_lines(page),
    "matching lines": lambda texts, page: texts.lines_matching(f"Term {page} and its meaning", page),
}
MAKING: dict[str, Callable[[PageTexts, int], PageTexts]] = {
    "quickly": lambda texts, _: texts.quickly(),
    "exactly": lambda texts, _: texts.exactly(),
    "exactly on a page": lambda texts, page: texts.exactly_on([page]),
    "all headers": lambda texts, _: texts.with_all_headers_footers(),
    "recognized": lambda texts, page: texts.with_recognized({page: texts.read(page)[:1]}),
}


@given(st.dictionaries(st.integers(0, 9), st.integers()), st.lists(st.integers(0, 9)))
def test_each_value_is_made_once_whatever_is_asked_first(given_values: dict[int, int], asked: list[int]) -> None:
    made: list[int] = []

    def square(number: int) -> int:
        made.append(number)
        return number * number

    values = Lazy(square, given_values)
    said = [values[number] for number in asked]

    assert [given_values.get(number, number * number) for number in asked] == said
    assert sorted(set(asked) - set(given_values)) == sorted(made)
    assert set(given_values).union(asked) == set(values)


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pdf") / "a.pdf"
    with pymupdf.open() as document:
        for number in range(1, PAGES + 1):
            page = document.new_page()
            writer = pymupdf.TextWriter(page.rect)
            writer.append((60, 30), "The same header on each page", pymupdf.Font("helv"))
            writer.append((60, 200), f"Term {number}", pymupdf.Font("hebo"))  # bold if the page is read quickly
            writer.append(writer.last_point, " and its meaning", pymupdf.Font("helv"))
            writer.write_text(page)
            page.set_rotation(90 if number == PAGES else 0)
        document.save(path)
    return path


@pytest.mark.long
@settings(max_examples=25)
@given(
    st.booleans(),
    st.lists(st.tuples(st.sampled_from(sorted(ASKING)), PAGE), max_size=4),
    st.lists(st.tuples(st.sampled_from(sorted(MAKING)), PAGE, st.sampled_from(sorted(ASKING)), PAGE), max_size=4),
)
def test_texts_say_the_same_whatever_was_asked_or_made_of_them_before(
    document: Path, quick: bool, first: list[tuple[str, int]], others: list[tuple[str, int, str, int]]
) -> None:
    def all_that(texts: PageTexts) -> list[object]:
        return [ask(texts, page) for page in range(1, PAGES + 1) for ask in ASKING.values()]

    with opened(document) as file:
        expected = all_that(PageTexts(PageReader(file, silent), quick))
        texts = PageTexts(PageReader(file, silent), quick)
        for asked, page in first:
            ASKING[asked](texts, page)
        for way, where, asked, page in others:
            ASKING[asked](MAKING[way](texts, where), page)

        assert expected == all_that(texts)
