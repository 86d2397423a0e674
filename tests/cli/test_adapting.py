"""`citekit adapt`: foreign structure becomes a map."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import Cli
from tests.foreign_indexes import GRAPHRAG, TEXT, docstore, story_nodes, write_graphrag


@pytest.fixture
def graph(cli: Cli) -> Cli:
    """A home beside an index of GraphRAG and its text."""
    write_graphrag(cli.here / "index" / "output")
    cli.write("story.txt", TEXT)
    return cli


def test_an_adapted_map_is_stored_and_its_places_can_be_cut_out(graph: Cli) -> None:
    made = graph.json("import", "index", "--adapter", "graphrag", "--source", "story.txt", "--id", "story_graph")

    evidence = graph.json("resolve", "story_graph", "community_2.carol")

    assert ("story_graph", "text", 13, 12) == tuple(made[name] for name in ("resource_id", "type", "nodes", "located"))
    assert str(graph.here / ".resource_maps" / "story_graph.json") == made["map"]
    assert "text://story_graph#lines=5-6" == evidence["address"]
    assert (
        "Chapter two. Carol built an engine in Lyon.\nIt ran for eleven days.\n"
        == Path(evidence["output_path"]).read_text()
    )


def test_the_map_says_where_it_comes_from(graph: Cli) -> None:
    graph.json("import", "index", "--adapter", "graphrag", "--source", "story.txt")
    metadata = graph.json("structure", "index")["metadata"]

    assert str(graph.here / "index") == metadata["adapted_from"]
    assert ("adapt:graphrag", 8, len(TEXT)) == (
        metadata["mapper"]["name"],
        metadata["line_count"],
        metadata["source_size"],
    )


def test_a_person_is_told_what_was_placed(graph: Cli) -> None:
    answer = graph("import", "index", "-a", "graphrag", "--source", "story.txt")

    assert "index  story  (text, 13 nodes, 12 with a location in a file)" in answer.out
    assert "Text units found word for word in the source: 3 of 4." in answer.out


def test_virtual_nodes_can_be_resolved_as_references(graph: Cli) -> None:
    graph.json("import", "index", "--adapter", "graphrag")

    answer = graph.json("resolve", "index", "community_0", "--virtual")

    assert "virtual://index#address=graph%3A%2F%2Fcommunity%2F0" == answer["address"]


def test_the_same_data_again_replace_their_map_and_other_data_only_by_force(graph: Cli) -> None:
    write_graphrag(graph.here / "other" / "index", {"entities": GRAPHRAG["entities"]})
    first = graph.json("import", "index", "--adapter", "graphrag")["resource_id"]
    again = graph.json("import", "index", "--adapter", "graphrag")["resource_id"]
    other = graph.json("import", "other/index", "--adapter", "graphrag")["resource_id"]
    forced = graph.json("import", "other/index", "--adapter", "graphrag", "--force")["resource_id"]

    assert ("index", "index", "index_2", "index") == (first, again, other, forced)


def test_an_id_of_another_map_is_refused_unless_forced(graph: Cli) -> None:
    graph.json("ingest", "story.txt", "--id", "mine")
    adapt = ["import", "index", "--adapter", "graphrag", "--id", "mine"]

    refused = graph(*adapt)
    forced = graph(*adapt, "--force")

    assert (2, 0) == (refused.code, forced.code)
    assert "The ID 'mine' belongs to the map of" in refused.err


def test_with_o_the_map_is_written_there_and_not_stored(graph: Cli) -> None:
    made = graph.json("import", "index", "--adapter", "graphrag", "--source", "story.txt", "-o", "map.json")

    checked = graph.json("validate", "map.json")

    assert str(graph.here / "map.json") == made["map"]
    assert checked["sound"]
    assert [] == graph.json("list")["resources"]


def test_with_o_another_file_is_replaced_only_by_force(graph: Cli) -> None:
    graph.write("map.json", "mine")
    adapt = ["import", "index", "--adapter", "graphrag", "-o", "map.json"]

    refused = graph(*adapt)
    kept = (graph.here / "map.json").read_text()
    forced = graph(*adapt, "--force")

    assert (2, "mine", 0) == (refused.code, kept, forced.code)
    assert "index" == json.loads((graph.here / "map.json").read_text())["resource_id"]


@pytest.mark.parametrize("target", ["story.txt", "index/output/{name}"])
def test_with_o_and_force_what_was_read_is_never_replaced(graph: Cli, target: str) -> None:
    name = next((graph.here / "index" / "output").iterdir()).name
    path = graph.here / target.format(name=name)
    before = path.read_bytes()

    refused = graph("import", "index", "--adapter", "graphrag", "--source", "story.txt", "-o", str(path), "--force")

    assert 2 == refused.code
    assert f"{path} is a file that this command reads, so it is not overwritten" in refused.err
    assert before == path.read_bytes()


def test_with_o_and_force_a_map_that_was_read_is_never_replaced(graph: Cli) -> None:
    graph("import", "index", "--adapter", "graphrag", "-o", "map.json")
    before = (graph.here / "map.json").read_bytes()

    refused = graph("import", "map.json", "--adapter", "generic", "-o", "map.json", "--force")

    assert (2, before) == (refused.code, (graph.here / "map.json").read_bytes())


def test_a_written_map_is_read_by_generic(graph: Cli) -> None:
    graph.json("import", "index", "--adapter", "graphrag", "--source", "story.txt", "-o", "map.json")

    made = graph.json("import", "map.json", "--adapter", "generic", "--source", "story.txt")

    assert (13, 12) == (made["nodes"], made["located"])


def test_a_docstore_beside_its_file_needs_no_source(cli: Cli) -> None:
    cli.write("storage/docstore.json", json.dumps(docstore(story_nodes())))
    cli.write("storage/story.txt", TEXT)

    made = cli.json("import", "storage", "--adapter", "llamaindex")

    assert (str(cli.here / "storage" / "story.txt"), 4) == (made["source_path"], made["located"])


def node(**more: Any) -> str:
    return json.dumps({"nodes": [{"id": "a", "title": "A", **more}]})


def test_places_outside_of_the_source_are_refused_with_their_faults(cli: Cli) -> None:
    cli.write("story.txt", TEXT)
    cli.write("data.json", node(lines=[5, 90]))

    answer = cli("import", "data.json", "--adapter", "generic", "--source", "story.txt", "--json")

    assert 1 == answer.code
    assert "FaultyAnswer" == answer.document["error"]["type"]
    assert ["nodes[0].location: only the part lines=5-8 of the location is inside the file"] == answer.document[
        "error"
    ]["faults"]
    assert [] == cli.json("list")["resources"]


def test_facts_of_the_source_win_over_what_the_data_claim(cli: Cli) -> None:
    cli.write("story.txt", TEXT)
    claims = {"line_count": 500, "source_hash": "0" * 64}
    cli.write("data.json", json.dumps({"metadata": claims, "nodes": [{"id": "a", "lines": [1, 2]}]}))

    cli.json("import", "data.json", "--adapter", "generic", "--source", "story.txt", "--id", "checked")
    metadata = cli.json("structure", "checked")["metadata"]

    assert (8, len(TEXT)) == (metadata["line_count"], metadata["source_size"])
    assert "0" * 64 != metadata["source_hash"]


def test_boxes_in_xywh_are_read_where_it_is_said(cli: Cli) -> None:
    cli.write("data.json", node(location={"modality": "image", "bbox": [0.5, 0.5, 0.25, 0.25]}))

    cli.json("import", "data.json", "--adapter", "generic", "--bbox", "xywh", "--id", "boxes")

    assert [0.5, 0.5, 0.75, 0.75] == cli.json("inspect", "boxes", "a")["location"]["bbox"]


def test_an_own_adapter_is_named_by_its_file(cli: Cli) -> None:
    cli.write(
        "own.py", "def adapt(data, **kwargs):\n    print(data)\n    return {'nodes': [{'id': 'a', 'lines': [1, 1]}]}"
    )
    cli.write("data.xyz", "anything")

    answer = cli("import", "data.xyz", "--adapter", "own.py", "--json")

    assert (0, "data.xyz\n", "data") == (answer.code, answer.err, answer.document["resource_id"])


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["index"], 2, "Missing option '--adapter'"),
        (["index", "--adapter", "langchain"], 2, "There is no adapter named 'langchain'"),
        (["none", "--adapter", "graphrag"], 1, "no such file"),
        (["story.txt", "--adapter", "graphrag"], 1, "not valid JSON"),
        (["index", "--adapter", "generic"], 2, "is a folder"),
        (["index", "--adapter", "llamaindex"], 1, "docstore.json"),
        (["index", "--adapter", "graphrag", "--source", "none.txt"], 1, "no such file"),
        (["index", "--adapter", "graphrag", "--bbox", "xywh"], 2, "--bbox works only with --adapter generic"),
        (["index", "--adapter", "graphrag", "--id", "a/b"], 2, "contains a slash"),
        (["index", "--adapter", "none.py"], 2, "could not be loaded: FileNotFoundError"),
    ],
)  # fmt: skip
def test_what_cannot_be_adapted_is_one_clear_error(graph: Cli, arguments: list[str], code: int, says: str) -> None:
    answer = graph("import", *arguments)

    assert (code, "") == (answer.code, answer.out)
    assert says in answer.err
    assert 1 == answer.err.count("\n")
