"""Texts of pages that a mapper collects on its way are those that a text reader reads by itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

import pymupdf
import pytest

from citekit.adapters.formats.pdf.document.hidden_text import hidden_text, may_hide, shows_all
from citekit.adapters.formats.pdf.document.text import text_flags
from citekit.adapters.formats.pdf.document.visible_text import looks_of
from citekit.adapters.formats.shared.read_pages import PagesRead, ReadPages
from citekit.adapters.sandbox.next_reads import NextReads
from citekit.adapters.sources.filesystem import FileSources
from citekit.container.parsers import Parsers
from citekit.domain.library.extracted_text import ExtractedText
from citekit.domain.source import Source
from tests.formats.pdf.test_hidden_text import HIDDEN, PLAIN, SECRET, SHOWN
from tests.representatives import representatives

MUPDF: Any = pymupdf  # the library has no types

SHAPES = [each for each in (*HIDDEN, *SHOWN) if callable(each)]
BOOKMARKS = [[1, "First part", 1], [1, "Second part", 3]]


def annotated(page: Any) -> None:
    page.add_freetext_annot((72, 300, 300, 330), "A remark of a reviewer")


def with_a_field(page: Any) -> None:
    field = MUPDF.Widget()
    field.field_name, field.field_type, field.field_value = "name", MUPDF.PDF_WIDGET_TYPE_TEXT, "What somebody typed"
    field.rect = MUPDF.Rect(72, 300, 300, 330)
    page.add_widget(field)


def annotated_and_turned(page: Any) -> None:
    annotated(page)
    page.set_rotation(90)


def document(folder: Path, draw: Callable[[Any], None], *, bookmarked: bool = False) -> Source:
    made = MUPDF.open()
    for number in range(4):
        page = made.new_page()
        page.insert_text((72, 72), f"{number + 1}. A heading", fontsize=18)
        page.insert_text((72, 120), PLAIN)
        if number % 2:
            draw(page)
    if bookmarked:
        made.set_toc(BOOKMARKS)
    path = folder / "shapes.pdf"
    made.save(path)
    return FileSources().identify(path)


def read_alone(source: Source) -> ExtractedText:
    return Parsers(ocr=False).written.read(source)


def mapped(source: Source, seconds: float = 60.0) -> Parsers:
    parsers = Parsers(ocr=False)
    parsers.read_pages.expect(source, seconds)
    parsers.mapper.map(source, "shapes")
    return parsers


@pytest.mark.parametrize("bookmarked", [False, True])
@pytest.mark.parametrize("draw", representatives(SHAPES, 12), ids=lambda each: each.__name__)
def test_collected_texts_are_those_that_are_read_alone(
    draw: Callable[[Any], None], bookmarked: bool, tmp_path: Path
) -> None:
    source = document(tmp_path, draw, bookmarked=bookmarked)
    assert mapped(source).written.read(source) == read_alone(source)


@pytest.mark.parametrize("draw", SHAPES, ids=lambda each: each.__name__)
def test_a_page_on_which_all_text_is_seen_has_no_hidden_text(draw: Callable[[Any], None]) -> None:
    page = MUPDF.open().new_page()
    page.insert_text((72, 72), PLAIN)
    draw(page)
    blocks = page.get_text("dict", flags=text_flags())["blocks"]
    if may_hide(page) and shows_all(page, looks_of(blocks)):
        assert not hidden_text(page)


def test_dark_text_in_a_shaded_table_is_seen_without_a_closer_look() -> None:
    page = MUPDF.open().new_page()
    for row in range(5):
        page.draw_rect((60, 100 + 20 * row, 400, 120 + 20 * row), color=None, fill=(0.8, 0.9, 1))
        page.insert_text((72, 115 + 20 * row), "A row of the table")
    blocks = page.get_text("dict", flags=text_flags())["blocks"]
    looks = looks_of(blocks)
    assert may_hide(page)
    assert shows_all(page, looks)
    page.draw_rect((60, 100, 400, 120), color=None, fill=(0.8, 0.9, 1))
    again = MUPDF.open("pdf", page.parent.tobytes())[0]
    assert not shows_all(again, looks)


def test_a_reader_opens_the_file_for_pages_that_took_too_long(tmp_path: Path) -> None:
    source = document(tmp_path, HIDDEN[0])
    parsers = mapped(source, seconds=0.0)
    assert parsers.read_pages.take(source) == PagesRead()
    assert parsers.written.read(source) == read_alone(source)


def test_some_collected_pages_are_not_read_again(tmp_path: Path) -> None:
    source = document(tmp_path, HIDDEN[0])
    parsers = Parsers(ocr=False)
    parsers.read_pages.expect(source)
    parsers.read_pages.put(2, "the collected page", 0.0)
    found = parsers.written.read(source)
    whole = read_alone(source)
    assert [found.text[each.start : each.end] for each in found.units] == [
        "the collected page" if each.number == 2 else whole.text[each.start : each.end] for each in whole.units
    ]


def test_texts_of_another_file_are_not_returned(tmp_path: Path) -> None:
    source = document(tmp_path, HIDDEN[0])
    (tmp_path / "other").mkdir()
    other = document(tmp_path / "other", HIDDEN[1], bookmarked=True)
    parsers = mapped(source)
    assert parsers.written.read(other) == read_alone(other)
    assert parsers.read_pages.take(source) == PagesRead()


def test_nothing_is_collected_unless_it_is_expected(tmp_path: Path) -> None:
    source = document(tmp_path, HIDDEN[0])
    parsers = Parsers(ocr=False)
    parsers.mapper.map(source, "shapes")
    assert parsers.read_pages.take(source) == PagesRead()


def test_texts_are_returned_once(tmp_path: Path) -> None:
    source = document(tmp_path, HIDDEN[0])
    parsers = mapped(source)
    found = parsers.read_pages.take(source)
    assert found.is_whole
    assert len(found.texts) == 4
    assert any(SECRET in text for text in found.texts.values())
    assert parsers.read_pages.take(source) == PagesRead()


def test_collected_pages_are_forgotten_when_one_is_damaged() -> None:
    pages = ReadPages()
    assert not pages.is_missing(1)
    pages.forget()
    assert not pages.is_missing(1)


def test_only_the_thread_that_announces_it_reads_next() -> None:
    reads, found = NextReads(), []
    with reads.announced():
        assert reads.is_next()
        thread = Thread(target=lambda: found.append(reads.is_next()))
        thread.start()
        thread.join()
        with reads.announced():
            pass
        assert reads.is_next()
    assert not reads.is_next()
    assert found == [False]


@pytest.mark.parametrize("bookmarked", [False, True])
@pytest.mark.parametrize("draw", [annotated, with_a_field, annotated_and_turned])
def test_collected_texts_have_what_annotations_say(
    draw: Callable[[Any], None], bookmarked: bool, tmp_path: Path
) -> None:
    source = document(tmp_path, draw, bookmarked=bookmarked)
    found = mapped(source).written.read(source)
    assert found == read_alone(source)
    assert "remark of a reviewer" in found.text or "somebody typed" in found.text
