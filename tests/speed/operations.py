"""What an agent and a program do most, on a home of so many maps, all of it done before."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from benchmarks import homes
from benchmarks.homes import ASKED
from citekit import CiteKit
from citekit.domain.progress import silent
from citekit.entrypoints.mcp.tools import Tools

NODE = {"resource_id": ASKED, "node_id": "part_3.section_4"}
NOTE = "note.txt"

FLAT = (
    "getNode",
    "getStructure, 200 nodes",
    "resolve, virtual",
    "resolve, repeated",
    "resolve, repeated, an address",
    "resolve, repeated, by a program",
    "ingest, unchanged",
)
"""What costs the same however many maps there are."""


def write_home(folder: Path, maps: int) -> None:
    """A new home of `maps` maps in that folder, and a file that is not mapped yet."""
    homes.write(folder, maps, nodes=20)
    (folder / NOTE).write_text("A line.\n" * 50, "utf-8")


def operations(folder: Path) -> Mapping[str, Callable[[], object]]:
    """The operations by name, on a home that was written some seconds ago."""
    kit = CiteKit(folder)
    return {
        "getNode": _tool(kit, "getNode", NODE),
        "getStructure, 200 nodes": _tool(kit, "getStructure", {"resource_id": ASKED}),
        "resolve, virtual": _tool(kit, "resolve", {**NODE, "virtual": True}),
        "resolve, repeated": _tool(kit, "resolve", NODE),
        "resolve, repeated, an address": _tool(kit, "resolve", {**NODE, "node_id": f"text://{ASKED}#lines=7-12"}),
        "resolve, repeated, by a program": lambda: kit.resolve(ASKED, NODE["node_id"]),
        "ingest, unchanged": lambda: kit.ingest(folder / NOTE),
        "ids": kit.resources,
        "search": lambda: kit.search(homes.questions(2)[1]),
    }


def _tool(kit: CiteKit, name: str, arguments: Mapping[str, object]) -> Callable[[], object]:
    """The way of a call inside the server, from checked arguments to the bytes of the answer."""
    bound = Tools(kit.app).bound()[name]

    def run() -> object:
        answer = bound.cached(arguments) or bound.run(arguments, silent)
        return answer.data, answer.content

    return run
