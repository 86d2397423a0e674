"""How long a search of everything takes in a library of many documents.

    python -m benchmarks.agents.scale DOCUMENTS [--work FOLDER]

The documents are texts of words whose frequencies follow Zipf's law, with one word that is in all of them. They are
mapped without a mapper, and indexed by the first search. With --work, a home that an earlier run made is used again.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import random
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.homes import questions, sentences
from benchmarks.measuring import Spent
from benchmarks.report import Report
from citekit import CiteKit
from citekit.domain.locations import Lines
from citekit.domain.modality import Modality
from citekit.domain.node import Node
from citekit.domain.resource_map import ResourceMap
from citekit.wire import maps

LINES = 12
EVERYWHERE = "everywhere"
"""The word that every document has."""

ROUNDS = 30


def main() -> None:
    """Print the table, and write it to results/agents-scale.json."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.agents.scale", description=__doc__)
    parser.add_argument("documents", type=int)
    parser.add_argument("--work", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="citekit-scale-") as temporary:
        home = options.work or Path(temporary)
        if not (home / ".resource_maps").is_dir():
            _write(home, options.documents)
        _measure(home, options.documents)


def _measure(home: Path, documents: int) -> None:
    report = Report("agents-scale", f"Searches of everything in {documents:,} documents")
    table = report.table("findText in all documents, milliseconds", "words", "searches", "p50", "p95", "most")
    kit = CiteKit(home)
    first = _milliseconds(kit, EVERYWHERE)
    again = _milliseconds(CiteKit(home), EVERYWHERE)
    common, rare = questions(ROUNDS), [f"{number:06}" for number in range(0, documents, max(1, documents // ROUNDS))]
    sets = {
        "a word of every document": [EVERYWHERE] * ROUNDS,
        "a word of every document and another": [f"{EVERYWHERE} {each.split()[0]}" for each in common],
        "one to three words": common,
        "a word of one document": rare,
        "words that no document has together": [f"{a} {b}" for a, b in itertools.pairwise(rare)],
    }
    for name, queries in sets.items():
        spent = Spent([_milliseconds(kit, each) for each in queries])
        table.row(name, len(queries), spent.median, spent.p95, max(spent.values))
    table.notes.append(
        f"The first search, which indexed the texts: {first / 1000:.1f} s; the first of a later process: {again:.0f} ms."
    )
    report.finish()


def _milliseconds(kit: CiteKit, query: str) -> float:
    began = time.perf_counter()
    kit.find_text(query, limit=10)
    return 1000 * (time.perf_counter() - began)


def _write(home: Path, documents: int) -> None:
    """Write the documents and their maps."""
    chosen, lines = random.Random(5), sentences(10)
    moment = datetime(2026, 1, 5, 9, 30, tzinfo=UTC)
    (home / ".resource_maps").mkdir(parents=True)
    for number in range(documents):
        folder = home / "texts" / f"{number // 1000:03}"
        if number % 1000 == 0:
            folder.mkdir(parents=True)
        name, source = f"text-{number:06}", folder / f"{number:06}.txt"
        own = [f"Document {number:06} {EVERYWHERE}", *(chosen.choice(lines) for _ in range(LINES - 1))]
        content = ("\n".join(own) + "\n").encode()
        source.write_bytes(content)
        facts = {
            "source_hash": hashlib.sha256(content).hexdigest(),
            "source_size": len(content),
            "format": "txt",
            "line_count": LINES,
        }
        node = Node("text", own[1], "section", Lines(1, LINES), None, ())
        made = ResourceMap(name, Modality.TEXT, own[1], str(source), (node,), moment, facts)
        (home / ".resource_maps" / f"{name}.json").write_text(maps.to_json(made), "utf-8")


if __name__ == "__main__":
    main()
