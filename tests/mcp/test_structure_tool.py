"""The tool `getStructure` with options: a line for each node, for a real client of a real server process."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from mcp_types import CallToolResult, TextContent

from citekit.domain.locations import Pages
from citekit.domain.modality import Modality
from citekit.domain.node import Node
from citekit.entrypoints.mcp import resources
from citekit.wire import maps
from tests.mcp.server_process import Served, node


def structured(result: CallToolResult) -> dict[str, Any]:
    assert not result.is_error, result.content
    assert isinstance(result.structured_content, dict)
    return result.structured_content


def shown(result: CallToolResult) -> str:
    (only,) = result.content
    assert isinstance(only, TextContent)
    return only.text


def error(result: CallToolResult) -> str:
    assert result.is_error
    return shown(result)


def add_book(served: Served, resource_id: str) -> None:
    """Add a map with two chapters, and chunks as the library attaches them."""
    chunks = [node(f"one.chunk_{number}_00ff", number, number) for number in range(1, 9)]
    served.home.add(
        resource_id,
        node(
            "one", 1, 20, *(Node(each.id, each.title, "chunk", each.location) for each in chunks), node("one.a", 2, 3)
        ),
        node("two", 21, 40, node("two.b", 22, 23, node("two.b.c", 22, 22))),
    )


def test_chunks_of_the_library_appear_only_if_they_are_requested(served: Served) -> None:
    add_book(served, "chunked")

    whole = json.dumps(structured(served.call("getStructure", resource_id="chunked")))
    one = json.dumps(structured(served.call("getNode", resource_id="chunked", node_id="one")))
    below = shown(served.call("getStructure", resource_id="chunked", node_id="one"))
    (read,) = served.ask(lambda client: client.read_resource(resources.uri_of("chunked"))).contents
    every = structured(served.call("getStructure", resource_id="chunked", include_chunks=True))
    chunk = structured(served.call("getNode", resource_id="chunked", node_id="one.chunk_2_00ff"))
    named = structured(served.call("getStructure", resource_id="chunked", node_id="one.chunk_2_00ff"))

    assert not [text for text in (whole, one, below, str(read)) if "chunk_" in text]
    assert json.loads(whole) == json.loads(read.text)  # type: ignore[union-attr]
    assert 9 == len(every["nodes"][0]["children"])
    assert 13 == every["total_nodes"]
    assert ["one.chunk_2_00ff"] * 2 == [chunk["id"], named["nodes"][0]["id"]]


def test_a_call_with_options_gives_a_line_for_each_node(served: Served) -> None:
    add_book(served, "lined")

    top = shown(served.call("getStructure", resource_id="lined", depth=1))
    below = shown(served.call("getStructure", resource_id="lined", node_id="two", depth=1))

    path = served.home.source("lined")
    head = f"text://lined Notes (400 lines, 5 nodes) {path}"
    assert [head, "one #lines=1-20 section: One +1", "two #lines=21-40 section: Two +1"] == top.split("\n")
    assert [head, "two #lines=21-40 section: Two", "  two.b #lines=22-23 section: B +1"] == below.split("\n")


def test_pages_are_ranges_unless_the_complete_map_is_requested(served: Served) -> None:
    add_book(served, "paged")
    source = served.home.source("paged")
    stored = maps.from_json(served.home.map_file("paged").read_text(encoding="utf-8"), "paged")
    long = Node("long", "Long chapter", "chapter", Pages(range(20, 110)))
    made = maps.to_plain_map(stored) | {"type": Modality.DOCUMENT.value, "nodes": [maps.to_plain_node(long)]}
    made["metadata"]["source_hash"] = hashlib.sha256(source.read_bytes()).hexdigest()
    served.home.map_file("paged").write_text(json.dumps(made), encoding="utf-8")

    answer = served.call("getStructure", resource_id="paged", depth=1)
    full = structured(served.call("getStructure", resource_id="paged"))

    assert "long #pages=20-109 chapter: Long chapter" == shown(answer).split("\n")[1]
    short = {"id": "long", "title": "Long chapter", "type": "chapter", "at": "pages=20-109"}
    assert [short] == structured(answer)["nodes"]
    assert list(range(20, 110)) == full["nodes"][0]["location"]["pages"]
    assert ("metadata" in structured(answer), "source_hash" in full["metadata"]) == (False, True)


@pytest.mark.parametrize("max_tokens", [40, 100, 200])
def test_a_budget_of_tokens_holds_and_the_answer_says_what_was_cut(served: Served, max_tokens: int) -> None:
    chapters = [node(f"chapter_{n}", n, n, node(f"chapter_{n}.part", n, n)) for n in range(1, 31)]
    served.home.add("large_book", *chapters)

    answer = served.call("getStructure", resource_id="large_book", max_tokens=max_tokens)

    plain, lines = structured(answer), shown(answer).split("\n")
    count = len(plain["nodes"])
    head, *nodes, note = lines
    assert len(shown(answer)) <= max(4 * max_tokens, len(head) + len(note) + 1)
    assert [f"chapter_{n}" for n in range(1, count + 1)] == [each["id"] for each in plain["nodes"]]
    assert (60 - len(nodes), 60, True) == (plain["cut_nodes"], plain["total_nodes"], plain["truncated"])
    assert f"Not shown: {60 - len(nodes)} of 60 nodes. Use node_id, or a larger max_tokens." == note


def test_titles_are_searched(served: Served) -> None:
    add_book(served, "searched")

    found = shown(served.call("getStructure", resource_id="searched", title_contains="c"))
    absent = shown(served.call("getStructure", resource_id="searched", title_contains="zebra"))
    empty = error(served.call("getStructure", resource_id="searched", title_contains=" "))

    assert ["two", "two.b", "two.b.c"] == [line.split()[0] for line in found.split("\n")[1:]]
    assert ["No node matches."] == absent.split("\n")[1:]
    assert "Error: title_contains is empty. Give a part of a title, or omit title_contains." == empty


def test_a_title_with_line_ends_is_one_line_of_the_text(served: Served) -> None:
    served.home.add(
        "hostile", node("a", 1, 2), Node("b\nc", "T\n\nd ![x](http://a)\u202e", "x\ny", node("b", 1, 1).location)
    )

    lines = shown(served.call("getStructure", resource_id="hostile", depth=1)).split("\n")

    assert ["b\\x0ac #lines=1 x\\x0ay: T d !\\x5bx]\\x28http://a)\\u202e"] == lines[2:]


def test_an_answer_with_options_costs_a_fraction_of_the_full_form(served: Served) -> None:
    parts = [
        Node(f"chapter_{n}", f"Chapter {n} of the book", "chapter", Pages(range(n * 9, n * 9 + 9)), "Summary. " * 9)
        for n in range(1, 60)
    ]
    served.home.add("costly", *parts)

    full = shown(served.call("getStructure", resource_id="costly"))
    short = served.call("getStructure", resource_id="costly", depth=9)

    assert len(shown(short)) < len(full) / 3
    assert len(json.dumps(structured(short))) < len(full) / 2
