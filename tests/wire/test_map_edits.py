"""Changes in the written form of a map leave everything else as it was."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citekit.domain.locations import Lines
from citekit.wire.map_edits import edited


def written(**more: Any) -> dict[str, Any]:
    leaf = {"id": "b", "title": "t", "location": {"modality": "text", "lines": [1, 20]}}
    return {"title": "T", "metadata": more, "nodes": [{"id": "a", "lines": [1, 20], "children": [leaf]}]}


PLACES = ("nodes[0].location", "nodes[0].children[0].location")


@given(st.lists(st.sampled_from(PLACES)), st.integers(1, 19))
def test_what_was_read_is_never_changed(paths: list[str], last: int) -> None:
    data = written(kept=[{"a": 1}])
    before = copy.deepcopy(data)

    changed, edits = edited(data, [(path, Lines(1, 20), Lines(1, last), "r") for path in paths])

    assert before == data
    assert {f"{path.removesuffix('location')}lines" if path == PLACES[0] else f"{path}.lines" for path in paths} == {
        edit.path for edit in edits
    }
    assert changed["metadata"] is data["metadata"]


def test_several_changes_of_one_node_are_all_made() -> None:
    wanted = [
        ("nodes[0].children[0].location", Lines(1, 20), Lines(1, 3), "r"),
        ("nodes[0].children[0].title", "t", "u", "r"),
        ("title", "T", "U", "r"),
    ]

    changed, _ = edited(written(), wanted)

    leaf = {"id": "b", "title": "u", "location": {"modality": "text", "lines": [1, 3]}}
    assert {"title": "U", "metadata": {}, "nodes": [{"id": "a", "lines": [1, 20], "children": [leaf]}]} == changed


@pytest.mark.long
def test_a_depth_that_cannot_be_copied_is_no_obstacle() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]

    changed, edits = edited(written(deep=deep), [("title", "T", "U", "r")])

    assert "U" == changed["title"]
    assert 1 == len(edits)
