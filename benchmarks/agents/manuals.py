"""Entries of the printed indexes of manuals as questions, as the benchmark of retrieval reads them."""

from __future__ import annotations

from pathlib import Path

from benchmarks.agents.questions import Question
from benchmarks.retrieval import truth


def of_manual(corpus: Path, name: str, count: int) -> list[Question]:
    """Up to `count` entries of the printed index of a manual, evenly spaced, as the retrieval benchmark reads them."""
    found = next((each for each in truth.truths(corpus) if each.name == name), None)
    entries = found.sets["multi"] if found is not None else ()
    step = max(1, len(entries) // count)
    return [Question(f"{name}.pdf", each.text, map(int, each.relevant)) for each in entries[::step][:count]]
