"""What every adapter of foreign structure promises."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from citekit.container import Container, bootstrap
from citekit.domain.errors import CiteKitError, FaultyAnswer, RequestRefused, SourceUnreadable
from citekit.domain.ids import NODE_ID_LIMIT
from citekit.domain.locations import Lines, Virtual
from citekit.domain.ports.map_adapter import MapAdapter
from citekit.domain.resource_map import ResourceMap
from citekit.domain.source import Source
from citekit.domain.validation import map_issues
from citekit.wire import maps
from tests.foreign_indexes import GRAPHRAG, TEXT, docstore, story_nodes, write_graphrag

PLAIN = {
    "title": "Story",
    "nodes": [
        {"id": "one", "title": "One", "location": {"modality": "text", "lines": [1, 3]}, "children": [
            {"id": "one.a", "title": "A", "type": "line", "lines": [2, 2]},
        ]},
        {"id": "two", "title": "Two", "location": {"modality": "virtual", "virtual_address": "x://y"}},
    ],
}  # fmt: skip

OWN = f"""
import json
def adapt(data, **kwargs):
    assert kwargs["resource_id"] == "some_id"
    return json.loads({json.dumps(json.dumps(PLAIN))})
"""


def given(folder: Path, name: str) -> Path:
    """The data for an adapter."""
    if name == "graphrag":
        return write_graphrag(folder / "output")
    path = folder / f"{name}.json"
    path.write_text(json.dumps(docstore(story_nodes()) if name == "llamaindex" else PLAIN))
    return path


def own_adapter(app: Container, folder: Path) -> MapAdapter:
    path = folder / "own.py"
    path.write_text(OWN)
    return app.adapter_called(str(path))


ADAPTERS: dict[str, Callable[[Container, Path], MapAdapter]] = {
    "graphrag": lambda app, _: app.adapter_called("graphrag"),
    "llamaindex": lambda app, _: app.adapter_called("llamaindex"),
    "generic": lambda app, _: app.adapter_called("generic"),
    "custom": own_adapter,
}


@pytest.mark.parametrize("name", ADAPTERS)
class TestMapAdapter:
    @pytest.fixture
    def app(self, tmp_path: Path) -> Container:
        return bootstrap(home=tmp_path / "home")

    @pytest.fixture
    def adapter(self, app: Container, name: str, tmp_path: Path) -> MapAdapter:
        return ADAPTERS[name](app, tmp_path)

    @pytest.fixture
    def data(self, name: str, tmp_path: Path) -> Path:
        return given(tmp_path, name)

    @pytest.fixture
    def source(self, app: Container, tmp_path: Path) -> Source:
        path = tmp_path / "elsewhere" / "story.txt"
        path.parent.mkdir()
        path.write_text(TEXT)
        return app.sources.identify(path)

    @pytest.fixture
    def made(self, adapter: MapAdapter, data: Path, source: Source) -> ResourceMap:
        return adapter.adapt(data, "some_id", source)

    def test_it_is_the_map_of_the_source_under_the_given_id(self, made: ResourceMap, source: Source) -> None:
        assert ("some_id", str(source.path)) == (made.resource_id, made.source_path)
        assert source.format.modality is made.modality

    def test_there_are_places_in_the_source_and_all_are_sound(self, made: ResourceMap) -> None:
        known = evolve(made, metadata={**made.metadata, "line_count": 8})

        assert any(isinstance(node.location, Lines) for node in made.walk())
        assert [] == map_issues(known)

    def test_ids_are_short_enough_for_file_names(self, made: ResourceMap) -> None:
        assert all(0 < len(node.id.encode()) <= NODE_ID_LIMIT for node in made.walk())

    def test_the_same_data_give_the_same_map(
        self, adapter: MapAdapter, data: Path, source: Source, made: ResourceMap
    ) -> None:
        again = adapter.adapt(data, "some_id", source)

        assert made == evolve(again, created_at=made.created_at)

    def test_without_a_source_no_file_is_named(self, adapter: MapAdapter, data: Path) -> None:
        made = adapter.adapt(data, "some_id")

        assert "" == made.source_path
        assert made.source_digest is None

    def test_the_map_survives_being_written(self, made: ResourceMap) -> None:
        assert made == maps.from_json(maps.to_json(made), "text")

    def test_the_data_and_the_source_are_only_read(self, tmp_path: Path, made: ResourceMap) -> None:
        names = {path.name for path in tmp_path.rglob("*") if path.is_file() and "home" not in path.parts}

        assert made.node_count
        assert names <= {"own.py", "story.txt", "graphrag.json", "llamaindex.json", "generic.json", "custom.json"} | {
            f"{table}.json" for table in GRAPHRAG
        }


PLAIN_DATA: Mapping[str, Any] = {"graphrag": GRAPHRAG, "llamaindex": story_nodes(), "generic": PLAIN}


@pytest.mark.parametrize("name", PLAIN_DATA)
def test_plain_data_give_what_a_file_of_them_gives(name: str, tmp_path: Path) -> None:
    app = bootstrap(home=tmp_path / "home")
    data = given(tmp_path, name)

    from_file = app.adapter_called(name).adapt(data, "some_id")
    from_data = app.adapter_called(name).adapt(PLAIN_DATA[name], "some_id")

    assert from_file.nodes == from_data.nodes


HOSTILE: Mapping[str, bytes] = {
    "empty": b"",
    "cut": b'{"nodes": [{"id": "a"',
    "number": b"5",
    "text": b'"text"',
    "nothing": b"null",
    "list": b"[]",
    "numbers": b"[1, 2, 3]",
    "lists": b"[[[]]]",
    "object": b"{}",
    "wrong_nodes": b'{"nodes": 5}',
    "wrong_rows": b'{"entities": 5, "communities": [[1]]}',
    "wrong_store": b'{"docstore/data": {"a": 5, "b": {"__data__": "{"}}}',
    "deep": b"[" * 200_000,
    "no_utf8": b'{"nodes": "\xff"}',
    "huge_number": b"[" + b"9" * 5000 + b"]",
}


@pytest.mark.parametrize("name", PLAIN_DATA)
@pytest.mark.parametrize("kind", HOSTILE)
def test_data_of_another_shape_are_one_clear_error(name: str, kind: str, tmp_path: Path) -> None:
    path = tmp_path / "data.json"
    path.write_bytes(HOSTILE[kind])

    with pytest.raises((FaultyAnswer, RequestRefused)) as refusal:
        bootstrap(home=tmp_path / "home").adapter_called(name).adapt(path, "some_id")

    assert "data" in str(refusal.value)


@pytest.mark.parametrize("name", PLAIN_DATA)
def test_a_missing_file_is_reported(name: str, tmp_path: Path) -> None:
    with pytest.raises(SourceUnreadable, match="no such file"):
        bootstrap(home=tmp_path / "home").adapter_called(name).adapt(tmp_path / "none.json", "some_id")


@pytest.mark.parametrize("name", PLAIN_DATA)
def test_an_empty_folder_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()

    with pytest.raises(CiteKitError):
        bootstrap(home=tmp_path / "home").adapter_called(name).adapt(tmp_path / "folder", "some_id")


@pytest.mark.parametrize("name", ["graphrag", "llamaindex"])
def test_a_source_without_text_is_refused(name: str, tmp_path: Path) -> None:
    from importlib.resources import files

    app = bootstrap(home=tmp_path / "home")
    picture = app.sources.identify(Path(str(files("citekit") / "samples" / "imageTextN.png")))

    with pytest.raises(RequestRefused, match="only text files, PDFs, books"):
        app.adapter_called(name).adapt(given(tmp_path, name), "some_id", picture)


def test_an_unknown_adapter_is_told_which_there_are(tmp_path: Path) -> None:
    with pytest.raises(RequestRefused, match=r"graphrag, llamaindex, generic, or the path of a \.py file"):
        bootstrap(home=tmp_path).adapter_called("langchain")


def test_places_that_are_only_references_stay_references(tmp_path: Path) -> None:
    made = bootstrap(home=tmp_path / "home").adapter_called("graphrag").adapt(given(tmp_path, "graphrag"), "some_id")

    assert all(isinstance(node.location, Virtual) for node in made.walk())
