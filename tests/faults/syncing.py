"""Whether a trace keeps the order that a power cut asks for: content to the disk, then the name, then the name to the disk."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePath

from tests.faults.checking import LIBRARY, MAPS
from tests.faults.steps import Step


def is_promised(path: str) -> bool:
    """Whether what is renamed to `path` outlasts a power cut from then on: maps, and what describes a book's index."""
    parts = PurePath(path).parts
    return MAPS in parts or (LIBRARY in parts and PurePath(path).name in ("form.json", "seal.json"))


def unsynced(steps: Sequence[Step]) -> tuple[int, list[str]]:
    """How many promised names were given, and which of them too early, or without their folder's being flushed."""
    published, wrong = 0, []
    for place, step in enumerate(steps):
        if step.does != "rename" or not is_promised(step.other):
            continue
        published += 1
        before = [each for each in steps[:place] if each.path == step.path]
        if not before or before[-1].does != "fsync":
            wrong.append(f"{step.other} got its name before its content was on the disk")
        folder = str(Path(step.other).parent)
        if not any(each.does == "fsync" and each.path == folder for each in steps[place:]):
            wrong.append(f"{step.other}: its name was never flushed")
    return published, wrong
