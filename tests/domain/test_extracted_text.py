"""Laws of manuscripts: a place found for characters leads back to them."""

from __future__ import annotations

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from citekit.domain.errors import LocationOutside
from citekit.domain.library.extracted_text import ExtractedText, SheetRows, Unit, UnitKind, Units
from citekit.domain.locations import Cells, Chapter, Lines, Pages

texts = st.text(st.sampled_from("ab é\n\t"), max_size=12)
pieces = st.lists(texts, min_size=1, max_size=8)


@st.composite
def extracted_texts(draw: st.DrawFn) -> ExtractedText:
    kind = draw(st.sampled_from(UnitKind))
    extracted_text = ExtractedText.joined(kind, draw(pieces), draw(st.sampled_from(["\n", "\n\n"])))
    sheets = [SheetRows("Data", 0, len(extracted_text.units), 3)] if kind is UnitKind.ROW else []
    return evolve(extracted_text, sheets=sheets)


@st.composite
def runs_of_lines(draw: st.DrawFn) -> ExtractedText:
    """Several units of one line, as of marked-up text, with nothing or a space between them."""
    text, units, number = "", [], 0
    for words in draw(st.lists(st.text("xyz", min_size=1, max_size=4), min_size=1, max_size=9)):
        number = max(1, number + draw(st.integers(0, 2)))
        text += draw(st.sampled_from(["", " ", "\n"]))
        units.append(Unit(number, len(text), len(text) + len(words)))
        text += words
    return ExtractedText(UnitKind.LINE, text, units)


@st.composite
def ranges(draw: st.DrawFn) -> tuple[ExtractedText, int, int]:
    extracted_text = draw(st.one_of(extracted_texts(), runs_of_lines()).filter(lambda each: bool(each.text)))
    start = draw(st.integers(0, len(extracted_text.text) - 1))
    return extracted_text, start, draw(st.integers(start + 1, len(extracted_text.text)))


@given(ranges())
def test_the_span_of_the_place_of_a_range_holds_its_words(given_range: tuple[ExtractedText, int, int]) -> None:
    extracted_text, start, end = given_range
    words = extracted_text.text[start:end]

    span = extracted_text.span_of(extracted_text.locate(start, end))

    if words.strip():
        first = start + len(words) - len(words.lstrip())
        assert span is not None
        assert span[0] <= first < first + len(words.strip()) <= span[1]


@given(ranges())
def test_a_longer_range_has_a_place_that_holds_the_shorter_ones(given_range: tuple[ExtractedText, int, int]) -> None:
    extracted_text, start, end = given_range
    if not extracted_text.text[start:end].strip():
        return

    whole = extracted_text.locate(0, len(extracted_text.text))
    part = extracted_text.locate(start, end)

    assert whole.contains(part)


@given(extracted_texts())
def test_units_hold_the_pieces_and_everything_else_is_line_feeds(extracted_text: ExtractedText) -> None:
    covered = {at for unit in extracted_text.units for at in range(unit.start, unit.end)}

    rest = {extracted_text.text[at] for at in range(len(extracted_text.text)) if at not in covered}

    assert rest <= {"\n"}
    assert sum(unit.end - unit.start for unit in extracted_text.units) == len(covered)


@given(pieces)
def test_every_piece_is_the_text_of_its_unit(given_pieces: list[str]) -> None:
    extracted_text = ExtractedText.joined(UnitKind.PAGE, given_pieces, "\n")

    found = [extracted_text.text[unit.start : unit.end] for unit in extracted_text.units]

    assert len(given_pieces) == len(found)
    assert found == given_pieces or not "".join(given_pieces).strip()
    assert list(range(1, len(given_pieces) + 1)) == [unit.number for unit in extracted_text.units]


@given(st.lists(st.tuples(st.integers(1, 99), st.integers(0, 99), st.integers(0, 99))))
def test_units_are_a_sequence_of_what_was_put_in(rows: list[tuple[int, int, int]]) -> None:
    expected = [Unit(*row) for row in rows]

    units = Units.of(expected)

    assert expected == list(units) == [units[at] for at in range(len(units))]
    assert Units.of(expected[1:]) == units[1:]
    assert units is Units.of(units)


@given(ranges())
def test_white_space_alone_has_a_place_too(given_range: tuple[ExtractedText, int, int]) -> None:
    extracted_text, start, end = given_range

    location = extracted_text.locate(start, end)

    assert isinstance(location, (Pages, Lines, Chapter, Cells))


def test_a_range_in_a_chapter_names_its_characters_and_one_over_several_the_whole_items() -> None:
    extracted_text = ExtractedText.joined(UnitKind.CHAPTER, ["one two", "", "three"], "\n\n")

    inside = extracted_text.locate(4, 8)
    across = extracted_text.locate(4, len(extracted_text.text))

    assert Chapter(1, (4, 7)) == inside
    assert Chapter(1, last=3) == across
    assert (0, 16) == extracted_text.span_of(across)


def test_a_place_of_another_kind_or_outside_has_no_span() -> None:
    pages = ExtractedText.joined(UnitKind.PAGE, ["one", "two"], "\n")
    chapters = ExtractedText.joined(UnitKind.CHAPTER, ["one", "two"], "\n")

    assert pages.span_of(Lines(1, 1)) is None
    assert pages.span_of(Pages((3,))) is None
    assert chapters.span_of(Chapter(1, (3, 5))) is None
    assert (4, 6) == chapters.span_of(Chapter(2, (0, 2)))


def test_a_text_of_blank_pages_is_empty_and_keeps_its_units() -> None:
    extracted_text = ExtractedText.joined(UnitKind.PAGE, ["", " \n", ""], "\n")

    assert "" == extracted_text.text
    assert [Unit(1, 0, 0), Unit(2, 0, 0), Unit(3, 0, 0)] == list(extracted_text.units)


@pytest.mark.parametrize(("start", "end"), [(0, 0), (2, 1), (-1, 2), (0, 4)])
def test_an_empty_range_or_one_beyond_the_text_is_outside(start: int, end: int) -> None:
    extracted_text = ExtractedText.joined(UnitKind.PAGE, ["one"], "\n")

    with pytest.raises(LocationOutside):
        extracted_text.locate(start, end)


def test_a_text_without_units_has_no_places() -> None:
    with pytest.raises(LocationOutside):
        ExtractedText(UnitKind.LINE, "", ()).unit_at(0)


def test_rows_are_placed_on_their_sheets() -> None:
    sheets = [SheetRows("One", 0, 4, 2), SheetRows("Two", 4, 3, 5)]
    extracted_text = ExtractedText(UnitKind.ROW, "a\nb\nc", [Unit(2, 0, 1), Unit(4, 2, 3), Unit(6, 4, 5)], sheets)

    assert Cells("One", (2, 1), (4, 2)) == extracted_text.locate(0, 3)
    assert Cells("Two", (2, 1), (2, 5)) == extracted_text.locate(4, 5)
    assert Cells("One", (4, 1), (4, 2)) == extracted_text.locate(2, 5)
    assert (2, 3) == extracted_text.span_of(Cells("One", (3, 2), (4, 2)))
    assert (4, 5) == extracted_text.span_of(Cells("Two"))
    assert extracted_text.span_of(Cells("Three")) is None
