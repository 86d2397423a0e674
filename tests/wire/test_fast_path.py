"""The short ways of reading and writing give what the long ways give."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from citekit.domain.digest import Digest
from citekit.domain.errors import FaultyAnswer
from citekit.domain.evidence import EvidenceKey, Extraction, Receipt
from citekit.domain.node import Node
from citekit.domain.resource_map import ResourceMap
from citekit.wire import maps, receipts
from citekit.wire.fast_path import read_extraction, read_map, read_receipt
from citekit.wire.indented import indented
from tests.strategies import extractor_identities, locations, options, resource_maps

NUMBERS = st.integers(-3, 10**13) | st.floats() | st.booleans()
ODD = (
    st.none()
    | NUMBERS
    | st.text(max_size=5)
    | st.sampled_from(["text", "video", "pdf", "2026-01-01", "0001-01-01T00:00:00+23:00"])
    | st.lists(NUMBERS | st.text(max_size=2), max_size=4)
    | st.dictionaries(st.sampled_from(["modality", "lines", "pages", "x"]), NUMBERS, max_size=2)
)
FIELDS = ("summary", "context", "bbox", "chapter", "chars", "end", "pages", "children", "location", "map_version", "x")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda below: st.lists(below, max_size=4) | st.dictionaries(st.text(), below, max_size=4),
    max_leaves=20,
)


@st.composite
def maps_with_places_of_all_kinds(draw: st.DrawFn) -> ResourceMap:
    """Maps whose nodes lie anywhere."""
    made = draw(resource_maps())
    return evolve(made, nodes=[_placed(draw, node) for node in made.nodes])


def _placed(draw: st.DrawFn, node: Node) -> Node:
    return evolve(node, location=draw(locations()), children=[_placed(draw, child) for child in node.children])


def _containers(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list):
        yield value
        for each in value.values() if isinstance(value, dict) else value:
            yield from _containers(each)


def spoiled(draw: st.DrawFn, plain: dict[str, Any]) -> dict[str, Any]:
    """The data after some changes anywhere in it, most of which make it wrong."""
    plain = copy.deepcopy(plain)
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.sampled_from(list(_containers(plain))))
        if isinstance(place, list):
            index = draw(st.integers(0, len(place)))
            place[index : index + draw(st.integers(0, 1))] = draw(st.just([]) | st.tuples(ODD))
        elif place and draw(st.booleans()):
            del place[draw(st.sampled_from(sorted(place)))]
        else:
            place[draw(st.sampled_from(sorted({*place, *FIELDS})))] = draw(ODD)
    return plain


@st.composite
def spoiled_maps(draw: st.DrawFn) -> dict[str, Any]:
    """Plain data close to a map."""
    return spoiled(draw, maps.to_plain_map(draw(maps_with_places_of_all_kinds())))


few = settings(max_examples=settings().max_examples * 2 // 5)
"""Whole maps take long to make up."""


@few
@given(maps_with_places_of_all_kinds())
def test_a_map_as_we_write_it_is_read_the_short_way(resource_map: ResourceMap) -> None:
    plain = json.loads(maps.to_json(resource_map))

    assert resource_map == read_map(plain)


@pytest.mark.long
@few
@given(spoiled_maps())
def test_what_the_short_way_reads_the_long_way_reads_alike(plain: dict[str, Any]) -> None:
    short = read_map(plain)

    if short is not None:
        assert repr(maps.leniently(plain, "map")) == repr(short)


@pytest.mark.long
@few
@given(spoiled_maps())
def test_a_spoiled_map_gives_the_map_or_the_faults_of_the_long_way(plain: dict[str, Any]) -> None:
    found = _outcome(maps.from_plain_map, plain)

    assert "metadata.map_version: " in found or _outcome(maps.leniently, plain) == found


def _outcome(read: Any, plain: dict[str, Any]) -> str:
    try:
        return repr(read(plain, "map"))
    except FaultyAnswer as wrong:
        return str(wrong)


@pytest.mark.parametrize("levels", [64, 65])
def test_the_depth_limit_is_the_same(levels: int) -> None:
    node: dict[str, Any] = {}
    for level in range(levels):
        place = {"modality": "text", "lines": [1, 1]}
        children = [node] if node else []
        node = {"id": f"n{level}", "title": "", "type": "x", "location": place, "children": children}
    plain = {"resource_id": "a", "type": "text", "title": "", "source_path": "", "metadata": {}, "nodes": [node]}
    plain["created_at"] = "2026-01-01T00:00:00Z"

    assert (read_map(plain) is not None) is (levels == 64)
    assert ("nested" in _outcome(maps.from_plain_map, plain)) is (levels == 65)


DIGESTS = st.text("0123456789abcdef", min_size=64, max_size=64).map(Digest)
MOMENTS = st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))
EXTRACTIONS = st.builds(
    Extraction,
    suffix=st.sampled_from([".pdf", ".mp4", ""]),
    media_type=st.text(max_size=8),
    extent=locations(),
    bytes_from=st.none() | st.floats(0, 1e6),
    notes=st.lists(st.text(max_size=8), max_size=2),
)
RECEIPTS = st.builds(
    Receipt,
    key=DIGESTS.map(EvidenceKey),
    source_digest=DIGESTS,
    source_path=st.text(max_size=8),
    source_size=st.integers(0, 10**12),
    resource_id=st.from_regex(r"[a-z]{1,8}", fullmatch=True),
    location=locations(),
    extractor=extractor_identities(),
    options=options(),
    evidence_digest=DIGESTS,
    evidence_size=st.integers(0, 10**12),
    media_type=st.text(max_size=8),
    extent=locations(),
    bytes_from=st.none() | st.floats(0, 1e6),
    notes=st.lists(st.text(max_size=8), max_size=2),
    created=MOMENTS,
)


@given(RECEIPTS)
def test_a_receipt_as_we_write_it_is_read_the_short_way(receipt: Receipt) -> None:
    plain = json.loads(json.dumps(receipts.to_plain(receipt)))

    assert receipt == read_receipt(plain) == receipts.from_plain(plain, "receipt")


@given(EXTRACTIONS)
def test_an_extraction_as_we_write_it_is_read_the_short_way(extraction: Extraction) -> None:
    plain = json.loads(json.dumps(receipts.extraction_to_plain(extraction)))

    assert extraction == read_extraction(plain) == receipts.extraction_from_plain(plain)


@st.composite
def spoiled_receipts(draw: st.DrawFn) -> dict[str, Any]:
    """Plain data close to a receipt."""
    return spoiled(draw, receipts.to_plain(draw(RECEIPTS)))


@given(spoiled_receipts())
def test_what_the_short_way_reads_of_a_receipt_the_long_way_reads_alike(plain: dict[str, Any]) -> None:
    short = read_receipt(plain)

    if short is not None:
        assert repr(receipts.leniently(plain, Receipt, "receipt")) == repr(short)


@given(JSON)
def test_indented_json_is_that_of_the_standard_library(plain: Any) -> None:
    assert json.dumps(plain, indent=2, ensure_ascii=False, allow_nan=False) == indented(plain)


@pytest.mark.parametrize("odd", [(1, 2), {1: 2}, {None: {}}, [True, None, {}], {"a": ()}, Digest])
def test_what_is_not_plain_is_written_or_refused_as_by_the_standard_library(odd: Any) -> None:
    try:
        expected = json.dumps(odd, indent=2)
    except TypeError:
        with pytest.raises(TypeError):
            indented(odd)
    else:
        assert expected == indented(odd)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_numbers_that_json_cannot_hold_are_refused(number: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        indented({"a": [number]})


def test_what_the_standard_library_can_nest_can_be_indented() -> None:
    plain: Any = 1
    for _ in range(500):
        plain = {"a": plain}

    assert json.dumps(plain, indent=2) == indented(plain)
