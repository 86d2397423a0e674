"""The adapters of citekit 0.2, as programs call them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from citekit import (
    CiteKitClient,
    GenericAdapter,
    GraphRAGAdapter,
    LlamaIndexAdapter,
    Location,
    MapAdapter,
    Node,
    ResourceMap,
)
from citekit.compat.aggregator import create_agent_context

ENTITIES = [
    {"id": "1", "name": "Alice", "description": "A person"},
    {"id": "2", "title": "The club", "summary": "Who is in it"},
]
NODES = [{"id_": "abc", "text": "Some text", "metadata": {"title": "Part"}, "start_char_idx": 0, "end_char_idx": 9}]
MAP: dict[str, Any] = {
    "resource_id": "mine",
    "type": "text",
    "title": "Mine",
    "source_path": "mine.txt",
    "nodes": [{"id": "a", "title": "A", "type": "line", "location": {"modality": "text", "lines": [1, 2]}}],
}


def test_graphrag_objects_become_virtual_nodes() -> None:
    made = GraphRAGAdapter().adapt(ENTITIES)

    assert isinstance(made, ResourceMap)
    assert ("graphrag_import", "GraphRAG Import", "virtual", "virtual") == (
        made.resource_id, made.title, made.type, made.source_path,
    )  # fmt: skip
    assert [("community_2", "community", "graph://community/2"), ("alice", "entity", "graph://1")] == [
        (node.id, node.type, node.location.virtual_address) for node in made.nodes
    ]


def test_graphrag_takes_a_path_and_the_keywords_of_0_2(tmp_path: Path) -> None:
    path = tmp_path / "entities.json"
    path.write_text(json.dumps(ENTITIES[:1]))

    made = GraphRAGAdapter().adapt(str(path), title="Mine", resource_id="some")

    assert ("some", "Mine", str(path)) == (made.resource_id, made.title, made.source_path)


def test_llamaindex_keeps_the_ids_of_nodes() -> None:
    made = LlamaIndexAdapter().adapt({"nodes": NODES}, title="Mine")

    assert ("llamaindex_import", "Mine", "virtual") == (made.resource_id, made.title, made.source_path)
    assert [("abc", "Part", "Some text")] == [(node.id, node.title, node.summary) for node in made.nodes]


def test_llamaindex_takes_the_source(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text("Some text\n")

    made = LlamaIndexAdapter().adapt(NODES, source=path)

    assert ((1, 1), "text", str(path)) == (made.nodes[0].location.lines, made.type, made.source_path)


def test_generic_takes_a_map_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "map.json"
    path.write_text(json.dumps(MAP))

    made = GenericAdapter().adapt(MAP)

    assert ("mine", "Mine", "mine.txt", (1, 2)) == (
        made.resource_id, made.title, made.source_path, made.nodes[0].location.lines,
    )  # fmt: skip
    assert made.nodes == GenericAdapter().adapt(path).nodes


@pytest.mark.parametrize("adapter", [GenericAdapter(), GraphRAGAdapter(), LlamaIndexAdapter()])
@pytest.mark.parametrize("data", [5, [], [5], {"a": 1}, None])
def test_other_data_are_a_value_error(adapter: MapAdapter, data: object) -> None:
    with pytest.raises(ValueError, match="data"):
        adapter.adapt(data)


@pytest.mark.parametrize("adapter", [GenericAdapter(), GraphRAGAdapter(), LlamaIndexAdapter()])
def test_a_missing_file_is_a_file_not_found_error(adapter: MapAdapter, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        adapter.adapt(tmp_path / "none.json")


def test_a_client_adapts_by_registered_names_and_stores(tmp_path: Path) -> None:
    class Own(MapAdapter):
        def adapt(self, input_data: Any, **kwargs: Any) -> ResourceMap:
            node = Node(id="a", title=input_data, type="line", location=Location(modality="text", lines=(1, 1)))
            return ResourceMap(resource_id=kwargs["resource_id"], type="text", title="T", source_path="", nodes=[node])

    client = CiteKitClient(base_dir=str(tmp_path))
    client.register_adapter("own", Own())
    client.register_adapter("graphrag", GraphRAGAdapter())

    client.adapt("own", "data", resource_id="first")
    client.adapt("graphrag", ENTITIES)

    assert ["first", "graphrag_import"] == client.list_maps()
    assert "graph://1" == client.resolve("graphrag_import", "alice", virtual=True).node.location.virtual_address
    with pytest.raises(ValueError, match="No adapter registered with name: none"):
        client.adapt("none", "data")


def test_a_context_with_a_budget_has_addresses_and_without_is_as_it_was() -> None:
    made = GenericAdapter().adapt(MAP)

    assert "- **a**: A <text://mine#lines=1-2>" in create_agent_context([made], budget=100)
    assert "# Available Resources Index\n\n## Mine (ID: mine, Type: text)\n- **a**: A -" == create_agent_context([made])
