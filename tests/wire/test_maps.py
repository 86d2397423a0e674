"""Maps: what is written is read back, what others wrote is read, and what is wrong is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from citekit.domain.errors import FaultyAnswer
from citekit.domain.locations import Box, Lines, Pages, TimeSpan
from citekit.domain.modality import Modality
from citekit.domain.resource_map import ResourceMap
from citekit.wire import maps
from citekit.wire.locations import BoxOrder
from citekit.wire.schema import MAP_SCHEMA
from tests.strategies import resource_maps

SAMPLES = Path(__file__).parent / "samples"


def read(name: str) -> ResourceMap:
    return maps.from_json((SAMPLES / name).read_text("utf-8"), name)


@given(resource_maps())
def test_what_is_written_is_read_back_equal(resource_map: ResourceMap) -> None:
    assert maps.from_json(maps.to_json(resource_map), "text") == resource_map


@pytest.mark.long
@given(resource_maps())
def test_what_is_written_fits_the_schema(resource_map: ResourceMap) -> None:
    jsonschema.validate(maps.to_plain_map(resource_map), MAP_SCHEMA)


def test_the_frozen_sample_of_version_1_is_still_written_to_the_letter() -> None:
    text = (SAMPLES / "map_v1.json").read_text("utf-8")

    assert text == maps.to_json(maps.from_json(text, "sample"))


def test_a_map_of_citekit_0_2_loads() -> None:
    lecture = read("map_citekit_0_2.json")

    assert Modality.VIDEO is lecture.modality
    assert TimeSpan(0, 145.5) == lecture.find("intro").location
    assert lecture.find("intro").title == "intro"
    assert lecture.find("intro.welcome").summary == "Hello."


def test_a_map_of_the_flat_form_loads() -> None:
    code = read("map_flat_0_1.json")

    assert Lines(10, 50) == code.find("DataProcessor").location
    assert Lines(12, 25) == code.find("process_data").location
    assert code.find("process_data").type == "section"


def test_the_map_of_the_architecture_page_loads() -> None:
    data = {
        "resource_id": "paper",
        "source_path": "abs/path/to/paper.pdf",
        "metadata": {"title": "Attention Is All You Need", "type": "pdf"},
        "nodes": [{"id": "intro", "title": "Introduction", "location": {"pages": [1]}, "context": "Discussion"}],
    }

    paper = maps.from_plain_map(data, "paper")

    assert (paper.title, paper.modality) == ("Attention Is All You Need", Modality.DOCUMENT)
    assert ("Discussion", Pages((1,))) == (paper.find("intro").summary, paper.find("intro").location)


def test_boxes_given_by_size_are_read_only_where_the_caller_says_so() -> None:
    data = {"resource_id": "p", "type": "image", "nodes": [{"id": "a", "location": {"bbox": [0.1, 0.2, 0.3, 0.4]}}]}

    by_corners = maps.from_plain_map(data, "p").find("a").location
    by_size = maps.from_plain_map(data, "p", BoxOrder.SIZE).find("a").location

    assert Box(0.1, 0.2, 0.3, 0.4) == by_corners
    assert Box(0.1, 0.2, 0.4, 0.6) == by_size


@pytest.mark.parametrize("box", [[0.1, 0.2, 1.5, 0.4], [0.1, 0.2, 0, 0.4], [0.1, 0.2, 10**400, 0.4], [0, 0, 1]])
def test_a_box_by_size_that_is_none_is_one_clear_error(box: list[float]) -> None:
    data = {"resource_id": "p", "type": "image", "nodes": [{"id": "a", "location": {"bbox": box}}]}

    with pytest.raises(FaultyAnswer, match=r"p: node 'a': "):
        maps.from_plain_map(data, "p", BoxOrder.SIZE)


@pytest.mark.parametrize("number", [float("inf"), float("nan")])
def test_metadata_holds_only_numbers_that_can_be_written(number: float) -> None:
    data = {"resource_id": "p", "type": "text", "nodes": [], "metadata": {"a": [{"b": number}]}}

    with pytest.raises(FaultyAnswer, match=r"metadata: (inf|nan) is not a number that JSON can represent"):
        maps.from_plain_map(data, "p")


@pytest.mark.parametrize("field", ["start", "end"])
def test_a_time_of_400_digits_is_refused(field: str) -> None:
    place = {"modality": "video", "start": 0, "end": 1, field: 10**400}
    data = {"resource_id": "p", "type": "video", "nodes": [{"id": "a", "location": place}]}

    with pytest.raises(FaultyAnswer, match=r"nodes\[0\]\.location: "):
        maps.from_plain_map(data, "p")


def node(**fields: Any) -> dict[str, Any]:
    return {"id": "a", "title": "A", "type": "section", "location": {"lines": [1, 2]}, **fields}


def a_map(**fields: Any) -> str:
    return json.dumps({"resource_id": "x", "type": "text", "title": "X", "nodes": [node()], **fields})


def deep(levels: int) -> dict[str, Any]:
    return node() if not levels else node(id=f"n{levels}", children=[deep(levels - 1)])


WRONG = {
    "truncated": (a_map()[:-20], "the text is not valid JSON"),
    "no object": ("[]", "a map must be a JSON object"),
    "brackets without end": ("[" * 100_000, "the JSON is nested too deeply"),
    "deep": (a_map(nodes=[deep(100)]), "nodes: nodes are nested more than 64 levels deep"),
    "another version": (a_map(metadata={"map_version": 99}), "metadata.map_version: must be 1, not 99"),
    "NaN": (
        a_map(nodes=[node(location={"modality": "video", "start": float("nan")})]),
        "NaN is not a valid number in JSON",
    ),
    "1e999": (a_map().replace("[1, 2]", "[1, 1e999]"), "the number 1e999 is too large"),
    "-1e999": (a_map(metadata={"duration": 7}).replace("7", "-1e999"), "the number -1e999 is too large"),
    "400 digits": (a_map(metadata={"duration": 10**399}), "000... has more than 100 digits"),
    "5000 digits": (a_map().replace("[1, 2]", f"[1, 1{'0' * 5000}]"), "000... has more than 100 digits"),
    "13 digits": (
        a_map(nodes=[node(location={"lines": [1, 10**12]})]),
        "nodes[0].location: line numbers must have",
    ),
    "duplicate ids": (a_map(nodes=[node(), node()]), "two nodes have the ID 'a'"),
    "no resource id": (json.dumps({"type": "text", "nodes": []}), "resource_id: is missing"),
    "unknown type": (a_map(type="hologram"), "type: must be one of document"),
    "node without a location": (a_map(nodes=[{"id": "a"}]), "nodes[0].location: is missing"),
    "line 0": (a_map(nodes=[node(location={"lines": [0, 2]})]), "nodes[0].location: lines are numbered from 1"),
    "reversed": (a_map(nodes=[node(location={"lines": [5, 2]})]), "nodes[0].location: the line range 5-2 is reversed"),
    "half a line": (
        a_map(nodes=[node(location={"lines": [1.5, 2]})]),
        "nodes[0].location.lines: must be a whole number, not 1.5",
    ),
    "page as text": (
        a_map(nodes=[node(location={"modality": "document", "pages": ["1"]})]),
        "nodes[0].location.pages: must be a whole number, not '1'",
    ),
    "id as number": (a_map(nodes=[node(id=5)]), "nodes[0].id: must be a string, not 5"),
    "nodes as object": (a_map(nodes={"a": 1}), "nodes"),
    "bad child": (
        a_map(nodes=[node(children=[{"id": "b", "location": 7}])]),
        "nodes[0].children[0].location: must be a location, not 7",
    ),
    "time": (a_map(created_at="yesterday"), "created_at: must be a time in ISO 8601, not 'yesterday'"),
    "time before the first year": (
        a_map(created_at="0001-01-01T00:00:00+01:00"),
        "created_at: must be a time in ISO 8601, not '0001-01-01T00:00:00+01:00'",
    ),
}


@pytest.mark.parametrize(("text", "reason"), WRONG.values(), ids=WRONG.keys())
def test_a_wrong_map_is_refused_with_its_path_and_reason(text: str, reason: str) -> None:
    with pytest.raises(FaultyAnswer) as refusal:
        maps.from_json(text, "bad.json")

    assert str(refusal.value).startswith("bad.json: ")
    assert reason in str(refusal.value)


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["resource_id", "type", "nodes", "id", "location", "pages", "modality", "children", "metadata"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@given(PLAIN)
def test_any_plain_data_is_a_map_or_one_clear_error(data: Any) -> None:
    try:
        read_back = maps.from_plain_map(data, "data")
    except FaultyAnswer:
        return

    assert maps.from_plain_map(maps.to_plain_map(read_back), "again") == read_back
