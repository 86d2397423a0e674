"""A map that somebody else made is held against the file before it is believed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from attrs import define, evolve, field

from citekit.container import Container, bootstrap
from citekit.domain.address import parse_address
from citekit.domain.errors import FaultyAnswer, FormUnsupported, LocationOutside, RequestRefused, SourceUnsupported
from citekit.domain.extent import Extent
from citekit.domain.locations import Box, Cells, Chapter, Lines, Location, Pages, TimeSpan
from citekit.domain.modality import Modality
from citekit.domain.node import Node, NodeName
from citekit.domain.source import Source
from citekit.settings import Settings
from citekit.wire.maps import to_json
from tests.contracts import small_files
from tests.doubles.mapper import ScriptedMapper
from tests.doubles.stores import InMemoryEvidenceStore, InMemoryMapStore
from tests.stories.conftest import World

FAR: dict[str, tuple[Location, dict[str, Any]]] = {
    "pdf": (Pages((900,)), {"page_count": 1000}),
    "pptx": (Pages((900,)), {"page_count": 1000}),
    "cbz": (Pages((900,)), {"page_count": 1000}),
    "epub": (Chapter(900), {"chapter_lengths": [10] * 1000}),
    "docx": (Chapter(900), {"chapter_lengths": [10] * 1000}),
    "xlsx": (Cells("Nowhere", (1, 1)), {"sheets": [{"name": "Nowhere", "rows": 9, "columns": 9}]}),
    "mp4": (TimeSpan(900, 901), {"duration": 1000.0}),
    "wav": (TimeSpan(900, 901, Modality.AUDIO), {"duration": 1000.0}),
    "text": (Lines(900, 901), {"line_count": 1000}),
}


@pytest.fixture
def app(tmp_path: Path) -> Container:
    return bootstrap(Settings(home=tmp_path / "home", parsers="inline"))


def dropped_in(app: Container, path: Path, location: Location, **stated: Any) -> None:
    """A map by hand, under the id `hand`, that states bounds of its own."""
    source = app.sources.identify(path)
    made = ScriptedMapper(lambda _: [Node("far", "Far", "part", location)], facts=stated).map(source, "hand")
    folder = app.settings.maps_folder
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "hand.json").write_text(to_json(evolve(made, modality=location.modality)), "utf-8")


@pytest.mark.parametrize("virtual", [True, False], ids=["virtual", "cut"])
@pytest.mark.parametrize("name", FAR)
def test_a_place_beyond_the_end_is_refused_whatever_the_map_states(
    app: Container, tmp_path: Path, name: str, virtual: bool
) -> None:
    location, stated = FAR[name]
    dropped_in(app, small_files.make(name, tmp_path), location, **stated)

    with pytest.raises(LocationOutside):
        app.resolve(NodeName("hand", "far"), virtual=virtual)


@pytest.mark.parametrize("virtual", [True, False], ids=["virtual", "cut"])
@pytest.mark.parametrize(
    ("name", "location"), [("epub", Pages((1,))), ("pdf", Chapter(1)), ("xlsx", Pages((1,))), ("docx", Cells("A"))]
)
def test_a_place_of_another_kind_of_file_is_refused(
    app: Container, tmp_path: Path, name: str, location: Location, virtual: bool
) -> None:
    dropped_in(app, small_files.make(name, tmp_path), location)

    with pytest.raises((RequestRefused, FormUnsupported)):
        app.resolve(NodeName("hand", "far"), virtual=virtual)


@pytest.mark.parametrize("virtual", [True, False], ids=["virtual", "cut"])
def test_a_place_is_not_cut_short_because_the_map_states_too_little(world: World, virtual: bool) -> None:
    world.app.maps.put(_mapped(world, Lines(1, 3), line_count=2))

    found = world.app.resolve(NodeName("hand", "far"), virtual=virtual)

    assert Lines(1, 3) == found.location
    assert world.app.resolve(parse_address("text://hand#lines=3"), virtual=virtual).location == Lines(3, 3)


def _mapped(world: World, location: Location, **stated: Any) -> Any:
    source = world.app.sources.identify(world.file("a.txt"))
    return ScriptedMapper(lambda _: [Node("far", "Far", "part", location)], facts=stated).map(source, "hand")


@define
class Counting:
    """Says one thing, and counts how often it is asked."""

    extent: Extent | Exception
    asked: list[Source] = field(factory=list)

    def measure(self, source: Source) -> Extent:
        self.asked.append(source)
        if isinstance(self.extent, Exception):
            raise self.extent
        return self.extent


def _with(world: World, measurer: Counting) -> Container:
    stores: dict[str, Any] = {"maps": InMemoryMapStore(), "evidence": InMemoryEvidenceStore()}
    return bootstrap(world.app.settings, measurer=measurer, **stores)


def test_a_file_is_measured_once_for_all_of_its_places(world: World) -> None:
    measurer = Counting(Extent(lines=3))
    app = _with(world, measurer)
    app.maps.put(_mapped(world, Lines(1, 2), line_count=900))

    for line in (1, 2, 3):
        app.resolve(parse_address(f"text://hand#lines={line}"), virtual=True)
    again = bootstrap(world.app.settings, measurer=measurer, maps=app.maps)
    again.resolve(NodeName("hand", "far"), virtual=True)

    assert 1 == len(measurer.asked)


def test_what_the_local_mapper_mapped_is_not_measured_again(world: World) -> None:
    measurer = Counting(Extent(lines=3))
    app = _with(world, measurer)
    made = app.ingest(world.file("b.txt")).resource_map

    app.resolve(NodeName(made.resource_id, made.nodes[0].id), virtual=True)

    assert [] == measurer.asked


def test_a_virtual_answer_that_nobody_could_hold_against_the_file_is_not_kept(world: World) -> None:
    measurer = Counting(SourceUnsupported("This file cannot be measured."))
    app = _with(world, measurer)
    app.maps.put(_mapped(world, Lines(1, 2)))
    app.resolve(NodeName("hand", "far"), virtual=True)

    measurer.extent = Extent(lines=3)

    assert app.resolve(NodeName("hand", "far"), virtual=True).unchecked is None


def test_a_virtual_answer_says_that_nobody_could_look(world: World) -> None:
    app = _with(world, Counting(SourceUnsupported("This file cannot be measured.")))
    app.maps.put(_mapped(world, Lines(1, 2)))

    found = app.resolve(NodeName("hand", "far"), virtual=True)

    assert ("This file cannot be measured.", None) == (found.unchecked, found.stale)


def test_a_virtual_answer_of_a_map_that_does_not_know_its_file_says_so(world: World) -> None:
    hand = _mapped(world, Lines(1, 2))
    world.app.maps.put(evolve(hand, metadata={}))

    found = world.app.resolve(NodeName("hand", "far"), virtual=True)

    assert "has no digest of its file" in str(found.unchecked)


def test_of_a_changed_file_nothing_is_measured(world: World) -> None:
    measurer = Counting(Extent(lines=1))
    app = _with(world, measurer)
    app.maps.put(_mapped(world, Lines(1, 3), line_count=3))
    world.file("a.txt", "one\n")

    found = app.resolve(NodeName("hand", "far"), virtual=True)

    assert ("the source has changed since it was mapped", []) == (found.stale, measurer.asked)


class Liar:
    """A mapper of the user's that states more than there is."""

    def __init__(self, *nodes: dict[str, Any], **stated: Any) -> None:
        self.nodes, self.stated = nodes, stated

    def generate_map(self, path: str, kind: str, resource_id: str) -> object:
        return {"resource_id": resource_id, "type": kind, "nodes": list(self.nodes), "metadata": self.stated}


def test_a_mapper_of_the_users_cannot_state_a_longer_file(world: World) -> None:
    node = {"id": "n", "title": "N", "type": "part", "location": {"modality": "text", "lines": [800, 900]}}
    source = world.app.sources.identify(world.file("a.txt"))

    with pytest.raises(FaultyAnswer, match="line 800 is beyond the end"):
        world.app.mapper_from(Liar(node, line_count=1000, page_count=9)).map(source, "x")
    made = world.app.mapper_from(Liar(line_count=1000, page_count=9)).map(source, "x")
    assert Extent(lines=3) == made.extent


def test_a_mapper_of_the_users_cannot_name_places_of_another_kind(world: World) -> None:
    node = {"id": "n", "title": "N", "type": "part", "location": {"modality": "document", "pages": [1]}}
    source = world.app.sources.identify(world.file("a.txt"))

    with pytest.raises(FaultyAnswer, match=r"nodes\[0\]\.location: the modality of the location is document"):
        world.app.mapper_from(Liar(node)).map(source, "x")


@pytest.mark.parametrize("knows", [True, False])
def test_what_is_adapted_cannot_state_a_longer_file(world: World, tmp_path: Path, knows: bool) -> None:
    path = world.file("a.txt")
    source = world.app.sources.identify(path)
    metadata = {"line_count": 1000} | ({"source_hash": source.digest.hex} if knows else {})
    node = {"id": "n", "title": "N", "type": "part", "location": {"modality": "text", "lines": [800, 900]}}
    data = tmp_path / "data.json"
    data.write_text(json.dumps({"resource_id": "d", "type": "text", "nodes": [node], "metadata": metadata}), "utf-8")

    with pytest.raises(FaultyAnswer, match="line 800 is beyond the end"):
        world.app.adapt(data, world.app.adapter_called("generic"), source=path)


def test_a_box_is_inside_every_picture(app: Container, tmp_path: Path) -> None:
    dropped_in(app, small_files.make("png", tmp_path), Box(0, 0, 1, 1), dimensions=[9999, 9999])

    virtual = app.resolve(NodeName("hand", "far"), virtual=True)
    cut = app.resolve(NodeName("hand", "far"))

    assert (Box(0, 0, 1, 1), None) == (virtual.location, virtual.unchecked)
    assert cut.receipt is not None
    assert Box(0, 0, 1, 1) == cut.receipt.extent
