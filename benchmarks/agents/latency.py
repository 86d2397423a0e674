"""How long the tools that read take, next to tools of the same server that do nothing."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from benchmarks.client import Client, text_of, tool
from benchmarks.measuring import Spent, fewer, interleaved

SECONDS = 20.0
ROUNDS = fewer(400, 20)


def measured(home: Path, resource_id: str, page: int, query: str) -> Mapping[str, Spent]:
    """Milliseconds of a repeated readText of a page, findText in its document and in everything, and the empty tools."""
    read = tool("readText", resource_id=resource_id, node_id=f"pages={page}")
    find = tool("findText", query=query, resource_ids=[resource_id], limit=5)
    everywhere = tool("findText", query=query, limit=5)
    with Client([sys.executable, "-m", "benchmarks.empty_tools", home]) as client:
        length = len(text_of(client.send(read)))
        requests = {
            "empty": tool("empty"),
            "same_length": tool("same_length", length=length),
            "readText": read,
            "findText": find,
            "findText everywhere": everywhere,
        }
        contestants = {name: (lambda request=request: client.send(request)) for name, request in requests.items()}
        return interleaved(contestants, ROUNDS, seconds=SECONDS, warm=3)
