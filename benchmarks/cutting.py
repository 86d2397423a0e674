"""A home with the maps of one task: ours, the peer's, and fresh ones for whatever is done for the first time."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path

from attrs import frozen

from benchmarks.tasks import Task
from citekit import CiteKit
from citekit.bootstrap import INDEX
from citekit.domain.evidence import Evidence

NODES = 200
ID = "source"

SETTLED = 2.2
"""Seconds after which the digest of a file is remembered: before, it might change again and keep its times."""


@frozen
class Bench:
    """`home` has a map `ID` of `task`'s file, whose nodes n0, n1, ... are its places."""

    task: Task
    home: Path
    kit: CiteKit

    def resolve(self, number: int) -> Evidence:
        """The evidence of a place."""
        return self.kit.resolve(ID, f"n{number}", accurate=self.task.accurate)


def bench(task: Task, home: Path) -> Bench:
    """A new home whose source is known."""
    return _bench(task, home, task.material.path)


def fresh(task: Task, folder: Path, count: int) -> list[Bench]:
    """Homes in which something else was cut before, each with a copy of the source that nobody has opened before.

    A PDF was mapped there, as it is before anything is cut: what the mapper learned of it lies in the index.
    """
    learned = _learned(task, folder / "learned")
    homes = [folder / f"fresh-{number}" for number in range(count)]
    for home in homes:
        home.mkdir(parents=True)
        shutil.copyfile(task.material.path, _copy(home, task))
        (home / "other.txt").write_text("A line.\n", "utf-8")
        if learned is not None:
            shutil.copytree(learned, home / ".citekit_cache" / learned.name)
    time.sleep(SETTLED)
    made = [_bench(task, home, _copy(home, task)) for home in homes]
    for each in made:
        other = each.kit.ingest(each.home / "other.txt")
        each.kit.resolve(other.resource_id, other.nodes[0].id)
    return made


def _learned(task: Task, home: Path) -> Path | None:
    """The index of a home in which a PDF was mapped; copied, so that it is mapped once. Other mappers leave nothing there."""
    if task.material.path.suffix != ".pdf":
        return None
    CiteKit(home).ingest(task.material.path)
    return home / ".citekit_cache" / INDEX


def _copy(home: Path, task: Task) -> Path:
    return home / f"copy{task.material.path.suffix}"


def _bench(task: Task, home: Path, path: Path) -> Bench:
    kit = CiteKit(home)
    source = kit.app.sources.identify(path)
    nodes = [
        {"id": f"n{number}", "title": f"Place {number}", "type": "part", "location": task.place(number), "children": []}
        for number in range(NODES)
    ]
    written = {
        "resource_id": ID,
        "type": task.type,
        "title": task.name,
        "source_path": str(path),
        "metadata": {
            "source_hash": source.digest.hex,
            "source_size": path.stat().st_size,
            "format": source.format.name,
            "map_version": 1,
        },
        "nodes": nodes,
        "created_at": "2026-01-05T09:30:00+00:00",
    }
    (home / ".resource_maps").mkdir(parents=True)
    (home / ".resource_maps" / f"{ID}.json").write_text(json.dumps(written), "utf-8")
    kit.resolve(ID, "n0", virtual=True)
    return Bench(task, home, kit)
