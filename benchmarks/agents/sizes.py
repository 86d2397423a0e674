"""How many characters the answers of each tool have."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.agents.home import Material
from benchmarks.agents.tools import Tools
from citekit import CiteKit
from citekit.domain.locations import Pages
from citekit.domain.node import Node
from citekit.domain.words import words_of

CALLS = 1_000
"""The number of calls, those of the policies included."""

Request = tuple[str, dict[str, Any]]


def sample(tools: Tools, material: Material) -> None:
    """Call every tool that reads with random nodes of random documents, up to `CALLS` calls in all."""
    chance = random.Random(1)
    kit = CiteKit(material.home)
    nodes = {
        name: [node for top in kit.map(name).nodes for node in _paged(top)] for name in material.resources.values()
    }
    names = [name for name, found in nodes.items() if found]
    requests = _requests(names, nodes, chance)
    for _ in range(max(0, CALLS - tools.calls)):
        tools.text(*next(requests))


def _requests(names: Sequence[str], nodes: dict[str, list[Node]], chance: random.Random) -> Iterator[Request]:
    while True:
        name = chance.choice(names)
        node = chance.choice(nodes[name])
        assert isinstance(node.location, Pages)
        page = f"pages={next(iter(node.location.runs))[0]}"
        part = {"resource_id": name, "node_id": node.id}
        yield "getNode", part
        yield "readText", part
        yield "readText", {"resource_id": name, "node_id": page}
        yield "resolve", {**part, "virtual": True}
        yield "resolve", {"resource_id": name, "node_id": page, "as": "text"}
        yield "verifyQuote", {"resource_id": name, "quotes": [node.title]}
        yield "findText", {"query": " ".join(words_of(node.title)[:3]) or "total", "resource_ids": [name]}
        yield "findText", {"query": " ".join(words_of(node.title)[:3]) or "total"}
        yield "getStructure", {"resource_id": name}
        yield "getStructure", part
        yield "listResources", {}


def _paged(node: Node) -> Iterator[Node]:
    if isinstance(node.location, Pages) and node.type != "chunk":
        yield node
    for child in node.children:
        yield from _paged(child)
