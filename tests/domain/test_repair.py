"""What is put right in a map never makes a citation point at another content."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from citekit.domain.extent import Extent, extent_metadata, mismatches, with_extent_metadata
from citekit.domain.lint import display_title, one_line, order_issues, title_issue
from citekit.domain.locations import Box, Cells, Chapter, Lines, Location, Pages, TimeSpan, Virtual
from citekit.domain.modality import Modality
from citekit.domain.node import Node
from citekit.domain.repair import Repair, repairs, shortened
from citekit.domain.validation import location_issue, node_issues, outside_issue
from citekit.wire.extent import from_plain, to_plain
from tests.strategies import SOME_BOUNDS, boxes, locations, spans

KINDS: dict[Modality, tuple[st.SearchStrategy[Location], Extent]] = {
    Modality.TEXT: (
        st.tuples(st.integers(1, 40), st.integers(1, 40)).map(lambda pair: Lines(min(pair), max(pair))),
        Extent(lines=25),
    ),
    Modality.VIDEO: (spans(Modality.VIDEO), Extent(seconds=3600.5)),
    Modality.IMAGE: (boxes(), Extent(size=(64, 48))),
    Modality.DOCUMENT: (
        st.sets(st.integers(1, 30), min_size=1, max_size=6).map(Pages.of)
        | st.builds(lambda page, region: Pages((page,), region), st.integers(1, 12), boxes()),
        Extent(pages=10),
    ),
}


def _branch(location: st.SearchStrategy[Location]) -> st.SearchStrategy[Node]:
    leaf = st.builds(lambda place: Node("n", "N", "part", place), location)
    return st.recursive(
        leaf,
        lambda below: st.builds(lambda node, under: evolve(node, children=under), leaf, st.lists(below, max_size=3)),
        max_leaves=8,
    )


@st.composite
def trees(draw: st.DrawFn) -> tuple[Modality, Extent, tuple[Node, ...]]:
    """Nodes of one modality, numbered, most of them wrong in some way."""
    modality = draw(st.sampled_from(list(KINDS)))
    location, extent = KINDS[modality]
    nodes = draw(st.lists(_branch(location), max_size=3))
    count = iter(range(1000))
    return modality, extent, tuple(_named(node, count) for node in nodes)


def _named(node: Node, count: object) -> Node:
    number = next(count)  # type: ignore[call-overload]
    return evolve(node, id=f"n{number}", children=[_named(child, count) for child in node.children])


def applied(nodes: Sequence[Node], changes: Sequence[Repair], path: str = "nodes") -> tuple[Node, ...]:
    """The nodes with the changes made."""
    places = {change.path: change.after for change in changes}
    return tuple(
        evolve(
            node,
            location=places.get(f"{path}[{at}]", node.location),
            children=applied(node.children, changes, f"{path}[{at}].children"),
        )
        for at, node in enumerate(nodes)
    )


def start(location: Location) -> object:
    match location:
        case Lines(first=first):
            return first
        case TimeSpan(start=begin):
            return begin
        case Pages(numbers=numbers, region=region):
            return numbers[0], region and region.corners[:2]
        case Box():
            return location.corners[:2]
        case Chapter(number=number, chars=chars):
            return number, chars and chars[0]
        case Cells(sheet=sheet, first=cell):
            return sheet, cell
    return location


@given(trees())
def test_mending_again_changes_nothing(tree: tuple[Modality, Extent, tuple[Node, ...]]) -> None:
    modality, extent, nodes = tree

    once = applied(nodes, list(repairs(nodes, modality, extent)))

    assert [] == list(repairs(once, modality, extent))


@pytest.mark.long
@given(trees())
def test_mending_makes_places_smaller_and_never_moves_a_start(
    tree: tuple[Modality, Extent, tuple[Node, ...]],
) -> None:
    modality, extent, nodes = tree

    changes = list(repairs(nodes, modality, extent))

    assert all(change.before.contains(change.after) for change in changes)
    assert [start(change.before) for change in changes] == [start(change.after) for change in changes]
    assert all(outside_issue(change.after, extent) is None for change in changes)


@pytest.mark.long
@given(trees())
def test_mending_adds_no_fault_and_takes_some(tree: tuple[Modality, Extent, tuple[Node, ...]]) -> None:
    modality, extent, nodes = tree
    before = {fault.partition(":")[0] for fault in node_issues(nodes, modality, extent)}
    changes = list(repairs(nodes, modality, extent))

    after = {fault.partition(":")[0] for fault in node_issues(applied(nodes, changes), modality, extent)}

    moved_parents = {change.path for change in changes}
    fresh = {path for path in after - before if path.removesuffix(".location").rpartition(".")[0] not in moved_parents}
    assert set() == fresh


@given(locations(), locations())
def test_what_is_shortened_lies_in_both(child: Location, parent: Location) -> None:
    cut = shortened(child, parent)

    assert cut is None or (parent.contains(cut) and child.contains(cut) and start(child) == start(cut))


@pytest.mark.parametrize(
    ("child", "parent", "cut"),
    [
        (Lines(5, 12), Lines(1, 10), Lines(5, 10)),
        (Lines(11, 12), Lines(1, 10), None),
        (TimeSpan(5), TimeSpan(0, 9), TimeSpan(5, 9)),
        (TimeSpan(9, 12), TimeSpan(0, 9), None),
        (Pages((3, 4, 9)), Pages((2, 3, 4, 5)), Pages((3, 4))),
        (Pages((1, 2)), Pages((2, 3)), None),
        (Pages((3,), Box(0.5, 0.5, 1, 1)), Pages((3,), Box(0.4, 0.4, 0.9, 1)), Pages((3,), Box(0.5, 0.5, 0.9, 1))),
        (Pages((3,)), Pages((3,), Box(0.4, 0.4, 0.9, 1)), None),
        (Chapter(2, last=5), Chapter(1, last=3), Chapter(2, last=3)),
        (Chapter(2, (5, 50)), Chapter(2, (0, 20)), Chapter(2, (5, 20))),
        (Chapter(2), Chapter(2, (0, 20)), None),
        (Cells("A", (2, 2), (9, 9)), Cells("A", (1, 1), (5, 5)), Cells("A", (2, 2), (5, 5))),
        (Cells("A"), Cells("A", (1, 1), (5, 5)), None),
        (Box(0.1, 0.1, 0.9, 0.9), Box(0, 0, 0.5, 1), Box(0.1, 0.1, 0.5, 0.9)),
        (Box(0.6, 0.1, 0.9, 0.9), Box(0, 0, 0.5, 1), None),
        (Lines(1, 2), Virtual("x"), None),
    ],
)
def test_a_child_ends_where_its_parent_does(child: Location, parent: Location, cut: Location | None) -> None:
    assert cut == shortened(child, parent)


@pytest.mark.parametrize(
    ("location", "modality", "extent", "reason"),
    [
        (
            Lines(1, 2),
            Modality.DOCUMENT,
            Extent(pages=3),
            "the modality of the location is text, but the type of the map is document",
        ),
        (Pages((1,)), Modality.DOCUMENT, Extent(chapters=(5, 6)), "has chapters, not pages"),
        (Chapter(1), Modality.DOCUMENT, Extent(pages=3), "has pages, not chapters"),
        (Chapter(1), Modality.DOCUMENT, Extent(sheets=(("A", 1, 1),)), "a workbook"),
        (Cells("A"), Modality.DOCUMENT, Extent(pages=3), "not a workbook"),
        (Pages((4,)), Modality.DOCUMENT, Extent(pages=3), "page 4 is beyond the end"),
        (Pages((3, 4)), Modality.DOCUMENT, Extent(pages=3), "only the part pages=3 of the location"),
        (TimeSpan(0, 10.04), Modality.VIDEO, Extent(seconds=10), None),
        (TimeSpan(0, 10.06), Modality.VIDEO, Extent(seconds=10), "only the part t=0-10 of the location"),
        (TimeSpan(0, 5, Modality.AUDIO), Modality.VIDEO, Extent(seconds=10), None),
        (Virtual("x"), Modality.TEXT, Extent(lines=1), None),
    ],
)
def test_a_place_that_the_file_does_not_have_is_told(
    location: Location, modality: Modality, extent: Extent, reason: str | None
) -> None:
    found = location_issue(location, modality, extent)

    assert (found is None) == (reason is None)
    assert reason is None or reason in str(found)


@given(SOME_BOUNDS)
def test_bounds_survive_their_written_form(extent: Extent) -> None:
    assert extent == from_plain(to_plain(extent))


@pytest.mark.parametrize(
    "data",
    [None, [], {"pages": -1}, {"pages": True}, {"pages": "3"}, {"seconds": "x"}, {"size": [1]}, {"sheets": [["a", 1]]},
     {"sheets": [[1, 1, 1]]}, {"chapters": 5}, {"colour": 1}, {"lines": 10**13}],
)  # fmt: skip
def test_what_is_no_bounds_is_not_taken_for_any(data: object) -> None:
    assert from_plain(data) is None


def test_what_a_map_states_wrongly_gives_way() -> None:
    true = Extent(pages=3)

    wrong = list(mismatches(Extent(pages=5, lines=7), true))

    assert [("page_count", 5, 3), ("line_count", 7, None)] == wrong
    assert {"page_count": 3, "author": "A"} == with_extent_metadata(
        {"page_count": 5, "line_count": 7, "author": "A"}, extent_metadata(true)
    )
    assert [] == list(mismatches(Extent(seconds=3.0), Extent(seconds=3.0004, size=(4, 3))))


@pytest.mark.parametrize("title", ["", "  ", "a\nb", "a\x1b[2Jb", "a\u202eb", "\ud800"])
def test_a_title_that_cannot_be_shown_is_told_and_made_showable(title: str) -> None:
    node = Node("part.two", title, "section", Lines(1, 1))

    shown = display_title(node)

    assert title_issue(title) is not None
    assert title_issue(shown) is None


@given(st.text(max_size=20))
def test_one_line_of_one_line_is_itself(text: str) -> None:
    assert one_line(text) == one_line(one_line(text))


def test_a_node_that_begins_before_the_one_in_front_of_it_is_told() -> None:
    nodes = [Node("a", "A", "part", Lines(5, 6)), Node("b", "B", "part", Lines(1, 2))]

    assert ["nodes[1]: 'b' begins before its previous sibling"] == list(order_issues(nodes))
    assert [] == list(order_issues(nodes[::-1]))
