"""Maps that are corrected by hand stay valid."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citekit.domain.errors import NodeMissing, RequestRefused
from citekit.domain.extent import Extent
from citekit.domain.locations import Box, Chapter, Lines, Location, Pages, TimeSpan
from citekit.domain.map_editing import EditKind, MapEdit, Nodes, added, lowered, raised, relocated, removed, renamed
from citekit.domain.modality import Modality
from citekit.domain.node import Node
from citekit.domain.validation import node_issues

PAGES = 40


@st.composite
def trees(draw: st.DrawFn) -> Nodes:
    """Nodes of a document of 40 pages, whose children are inside of them."""
    number = iter(range(10_000))

    def nodes(first: int, last: int, depth: int) -> Nodes:
        found: list[Node] = []
        while first <= last and draw(st.booleans() if found else st.just(depth == 0)):
            end = draw(st.integers(first, last))
            children = nodes(first, end, depth + 1) if depth < 3 else ()
            found.append(Node(f"n{next(number)}", "Title", "section", Pages.span(first, end), None, children))
            first = end + draw(st.integers(0, 1))
        return tuple(found)

    return nodes(1, PAGES, 0)


def names(nodes: Nodes) -> list[str]:
    return [each.id for top in nodes for each in top.walk()]


def issues(nodes: Nodes) -> list[str]:
    return list(node_issues(nodes, Modality.DOCUMENT, Extent(pages=PAGES)))


@given(trees(), st.data())
def test_every_edit_keeps_the_map_valid_and_the_other_nodes(nodes: Nodes, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(names(nodes)))
    first = data.draw(st.integers(1, PAGES))
    place = Pages.span(first, data.draw(st.integers(first, PAGES)))
    edits: tuple[tuple[Callable[[], Nodes], int], ...] = (
        (lambda: renamed(nodes, name, " New\ntitle "), 0),
        (lambda: relocated(nodes, name, place), 0),
        (lambda: lowered(nodes, name), 0),
        (lambda: raised(nodes, name), 0),
        (lambda: added(nodes, name, "New", place), 1),
        (lambda: removed(nodes, name), -1),
    )
    edit, more = data.draw(st.sampled_from(edits))
    try:
        changed = edit()
    except RequestRefused:
        return
    assert [] == issues(changed)
    assert len(names(changed)) == len(set(names(changed))) == len(names(nodes)) + more
    assert set(names(changed)) >= set(names(nodes)) - {name}


@given(trees(), st.data())
def test_raising_undoes_lowering(nodes: Nodes, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(names(nodes)))
    try:
        changed = lowered(nodes, name)
    except RequestRefused:
        return
    assert names(nodes) == names(raised(changed, name))


def test_the_edits_do_what_they_say() -> None:
    nodes: Nodes = (
        Node("a", "A", "chapter", Pages.span(1, 4)),
        Node("b", "B", "chapter", Pages.span(5, 8), None, (Node("b.c", "C", "section", Pages((6,))),)),
    )
    assert "New title" == renamed(nodes, "b.c", " New\n title ")[1].children[0].title
    assert {5, 6, 7, 8, 10, 11, 12} == set(_pages(relocated(nodes, "b.c", Pages.span(10, 12))[1].location))
    (above,) = lowered(nodes, "b")
    assert ("a", ["b"], Pages.span(1, 8)) == (above.id, [each.id for each in above.children], above.location)
    assert ["a", "b", "b.c"] == [each.id for each in raised(nodes, "b.c")]
    assert ["a", "b.c"] == [each.id for each in removed(nodes, "b")]
    assert ["a", "new", "b", "b.c"] == names(added(nodes, "a", "New", Pages((2,))))
    assert "b.new" == added(nodes, "b.c", "New", Pages((7,)))[1].children[1].id


def _pages(location: Location) -> tuple[int, ...]:
    assert isinstance(location, Pages)
    return location.numbers


@pytest.mark.parametrize(
    ("outer", "inner", "expected"),
    [
        (Lines(1, 5), Lines(4, 9), Lines(1, 9)),
        (Chapter(2, (10, 20)), Chapter(2, (5, 15)), Chapter(2, (5, 20))),
        (Chapter(2, (10, 20)), Chapter(3), Chapter(2, last=3)),
        (TimeSpan(1, 5), TimeSpan(4, None), TimeSpan(1, None)),
    ],
)
def test_nodes_above_are_extended(outer: Location, inner: Location, expected: Location) -> None:
    nodes = (Node("a", "A", "part", outer, None, (Node("a.b", "B", "part", outer),)),)
    assert expected == relocated(nodes, "a.b", inner)[0].location


def test_what_cannot_be_done_is_refused() -> None:
    nodes: Nodes = (
        Node("a", "A", "part", Box(0, 0, 0.5, 0.5), None, (Node("a.b", "B", "part", Box(0, 0, 0.1, 0.1)),)),
    )
    edits: tuple[Callable[[], Nodes], ...] = (
        lambda: relocated(nodes, "a.b", Box(0.4, 0.4, 0.9, 0.9)),
        lambda: lowered(nodes, "a"),
        lambda: raised(nodes, "a"),
        lambda: renamed(nodes, "a", " "),
        lambda: renamed(nodes, "a", "x" * 501),
        lambda: removed((Node("a", "A", "part", Lines(1, 1)),), "a"),
    )
    for edit in edits:
        with pytest.raises(RequestRefused):
            edit()
    with pytest.raises(NodeMissing):
        renamed(nodes, "nothing", "x")


@given(
    st.builds(MapEdit, st.sampled_from(EditKind), st.text(), st.text(), st.text())
    | st.dictionaries(st.sampled_from(["edit", "node", "title", "place"]), st.sampled_from(["rename", "x", 1, None]))
)
def test_edits_are_read_as_they_were_written(value: MapEdit | dict[str, object]) -> None:
    if isinstance(value, MapEdit):
        assert value == MapEdit.from_metadata(value.to_metadata())
    else:
        edit = MapEdit.from_metadata(value)
        assert edit is None or "rename" == edit.kind == value["edit"]
