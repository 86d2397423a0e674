from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from citekit.domain.errors import LocationMalformed, LocationOutside
from citekit.domain.extent import Extent
from citekit.domain.locations import Box, Cells, Chapter, Lines, Location, Pages, TimeSpan, Virtual
from citekit.domain.modality import Modality
from tests.strategies import SOME_BOUNDS, boxes, locations

NAN, INFINITE = float("nan"), float("inf")
SMALL = st.integers(1, 4)
CLOSE: st.SearchStrategy[Location] = st.one_of(
    st.sets(SMALL, min_size=1).map(Pages.of),
    st.builds(lambda page, box: Pages((page,), box), SMALL, st.sampled_from([Box(0, 0, 1, 1), Box(0, 0, 0.5, 0.5)])),
    st.tuples(SMALL, SMALL).map(lambda pair: Lines(min(pair), max(pair))),
    st.builds(lambda start, length: TimeSpan(start, start + length if length < 4 else None), SMALL, SMALL),
    st.builds(lambda number, more: Chapter(number, last=number + more), SMALL, st.integers(0, 2)),
    st.builds(lambda number, start, more: Chapter(number, (start, start + more)), SMALL, SMALL, SMALL),
    st.builds(
        lambda sheet, one, two: Cells(
            sheet, (min(one[0], two[0]), min(one[1], two[1])), (max(one[0], two[0]), max(one[1], two[1]))
        ),
        st.sampled_from(["S", "T"]),
        st.tuples(SMALL, SMALL),
        st.tuples(SMALL, SMALL),
    ),
    st.sampled_from([Cells("S"), Cells("T")]),
    st.sampled_from([Box(0, 0, 1, 1), Box(0, 0, 0.5, 0.5), Box(0.25, 0.25, 0.5, 0.5), Box(0.5, 0.5, 1, 1)]),
    st.sampled_from([Virtual("a"), Virtual("b")]),
)
"""Places close enough to one another to be inside or across one another often."""


@given(locations())
def test_a_place_contains_and_overlaps_itself(place: Location) -> None:
    assert place.contains(place)
    assert place.overlaps(place)


@given(CLOSE, CLOSE, CLOSE)
def test_containment_is_transitive(outer: Location, middle: Location, inner: Location) -> None:
    if outer.contains(middle) and middle.contains(inner):
        assert outer.contains(inner)


@given(CLOSE, CLOSE)
def test_two_places_that_contain_each_other_are_equal(one: Location, other: Location) -> None:
    assert (one.contains(other) and other.contains(one)) == (one == other)


@given(CLOSE | locations(), CLOSE | locations())
def test_overlap_is_symmetric_and_follows_from_containment(one: Location, other: Location) -> None:
    assert one.overlaps(other) == other.overlaps(one)
    if one.contains(other):
        assert one.overlaps(other)


@given(CLOSE, CLOSE, CLOSE)
def test_what_overlaps_a_part_overlaps_the_whole(outer: Location, inner: Location, third: Location) -> None:
    if outer.contains(inner) and inner.overlaps(third):
        assert outer.overlaps(third)


@given(CLOSE | locations(), SOME_BOUNDS)
def test_clamping_stays_inside_the_place_and_the_bounds(place: Location, extent: Extent) -> None:
    try:
        clamped = place.clamp(extent)
    except LocationOutside:
        assume(False)
        return

    assert place.contains(clamped)
    assert clamped == clamped.clamp(extent)
    assert _fits(clamped, extent)


def _fits(place: Location, extent: Extent) -> bool:
    match place:
        case Pages(numbers=numbers):
            return extent.pages is None or numbers[-1] <= extent.pages
        case Lines(last=last):
            return extent.lines is None or last <= extent.lines
        case TimeSpan(end=end):
            return extent.seconds is None or (end is not None and end <= extent.seconds)
        case Chapter(number=number, last=last, chars=chars):
            lengths = extent.chapters
            return lengths is None or (last <= len(lengths) and (chars is None or chars[1] <= lengths[number - 1]))
        case Cells(sheet=sheet, last=corner):
            sizes = {name: size for name, *size in extent.sheets or ()}
            inside = extent.sheets is None or corner is None or corner <= tuple(sizes[sheet])
            return inside and (extent.sheets is None or sheet in sizes)
    return True


@pytest.mark.parametrize(
    ("place", "extent", "expected"),
    [
        (Pages((2, 9)), Extent(pages=5), Pages((2,))),
        (Lines(3, 90), Extent(lines=7), Lines(3, 7)),
        (TimeSpan(3), Extent(seconds=7.5), TimeSpan(3, 7.5)),
        (TimeSpan(3, 9), Extent(seconds=7.5), TimeSpan(3, 7.5)),
        (Chapter(3, last=9), Extent(chapters=(5, 5, 5, 5)), Chapter(3, last=4)),
        (Chapter(1, (2, 9)), Extent(chapters=(5,)), Chapter(1, (2, 5))),
        (Cells.read("S", "B2:F20"), Extent(sheets=(("S", 9, 4),)), Cells.read("S", "B2:D9")),
    ],
)
def test_what_lies_beyond_the_end_is_cut_off(place: Location, extent: Extent, expected: Location) -> None:
    assert expected == place.clamp(extent)


@pytest.mark.parametrize(
    ("place", "extent", "named"),
    [
        (Pages((6, 7)), Extent(pages=5), "Page 6"),
        (Lines(8, 9), Extent(lines=7), "Line 8"),
        (TimeSpan(7.5, 9), Extent(seconds=7.5), "7.5 s"),
        (Chapter(5), Extent(chapters=(5, 5, 5, 5)), "Chapter 5"),
        (Chapter(1, (5, 9)), Extent(chapters=(5,)), "Character 5"),
        (Cells.read("S", "C1"), Extent(sheets=(("S", 9, 2),)), "C1 is beyond the end: the sheet 'S' ends at B9"),
        (Cells.read("S", "A1"), Extent(sheets=(("S", 0, 0),)), "the sheet 'S' is empty"),
        (Cells("T"), Extent(sheets=(("S", 9, 2),)), "no sheet 'T'; the workbook has these sheets: 'S'"),
    ],
)
def test_a_place_wholly_beyond_the_end_is_refused(place: Location, extent: Extent, named: str) -> None:
    with pytest.raises(LocationOutside, match=named):
        place.clamp(extent)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Pages(()),
        lambda: Pages((0,)),
        lambda: Pages((2, 1)),
        lambda: Pages((1, 1)),
        lambda: Pages((True,)),
        lambda: Pages((1.0,)),  # type: ignore[arg-type]
        lambda: Pages((1, 2), Box(0, 0, 1, 1)),
        lambda: Pages.span(5, 4),
        lambda: Lines(0, 1),
        lambda: Lines(2, 1),
        lambda: Lines(1.0, 2),  # type: ignore[arg-type]
        lambda: TimeSpan(NAN),
        lambda: TimeSpan(INFINITE),
        lambda: TimeSpan(-1, 2),
        lambda: TimeSpan(2, 2),
        lambda: TimeSpan(1, NAN),
        lambda: TimeSpan(1, INFINITE),
        lambda: TimeSpan(1, 2, Modality.TEXT),
        lambda: Box(0.5, 0, 0.5, 1),
        lambda: Box(0, 0.6, 1, 0.5),
        lambda: Box(-0.1, 0, 1, 1),
        lambda: Box(0, 0, 1, 1.01),
        lambda: Box(NAN, 0, 1, 1),
        lambda: Chapter(0),
        lambda: Chapter(3, last=2),
        lambda: Chapter(1, (3, 3)),
        lambda: Chapter(1, (-1, 3)),
        lambda: Chapter(1, (0, 5), last=2),
        lambda: Lines(1, 10**12),
        lambda: Lines(1, 10**5000),
        lambda: Lines(-(10**5000), 1),
        lambda: Pages((10**12,)),
        lambda: Pages((-(10**5000),)),
        lambda: Pages(tuple(range(1, 100_002))),
        lambda: Pages.span(1, 100_001),
        lambda: Pages.span(1, 10**18),
        lambda: Chapter(10**12),
        lambda: Chapter(1, last=10**5000),
        lambda: Chapter(1, (0, 10**12)),
        lambda: TimeSpan(10**400),
        lambda: TimeSpan(0, 10**400),
        lambda: Box(0, 0, 10**400, 1),
        lambda: Virtual(""),
        lambda: Virtual("two\nlines"),
    ],
)
def test_a_place_that_no_file_could_have_is_refused(make: Callable[[], Any]) -> None:
    with pytest.raises(LocationMalformed):
        make()


def test_minus_zero_is_zero() -> None:
    assert str(Box(-0.0, 0, 1, 1).x1) == str(TimeSpan(-0.0, 1).start) == "0.0"


@given(boxes(), st.integers(1, 5000), st.integers(1, 5000))
def test_the_pixels_of_a_box_are_a_rectangle_inside_the_picture_that_holds_it(
    box: Box, width: int, height: int
) -> None:
    left, top, right, bottom = box.pixels(width, height)

    assert 0 <= left < right <= width
    assert 0 <= top < bottom <= height
    assert left <= box.x1 * width + 1e-5
    assert right >= box.x2 * width - 1e-5
    assert right - left <= (box.x2 - box.x1) * width + 2


def test_rounding_errors_do_not_add_a_pixel() -> None:
    assert Box(0, 0, 0.1 + 0.2, 0.3).pixels(10, 10) == (0, 0, 3, 3)


def test_a_sliver_at_the_far_edge_still_is_a_pixel() -> None:
    assert Box(0.99999999999, 0, 1, 1).pixels(10, 10) == (9, 0, 10, 10)
