"""Headings of PDFs: bookmarks taken out, and the map held against them, beside pymupdf4llm with its layout model.

`python -m benchmarks.structure.pdf [CORPUS] [--all-pages] [--no-peer]`; CORPUS may be any folder of PDFs. Only documents
are used whose bookmarks are headings: at least five of them lead to a page, and at least half stand printed there. Titles
are compared by `scoring.likeness`.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attrs import frozen

from benchmarks.places import ROOT
from benchmarks.report import Report, Table
from benchmarks.structure import pdf_peer
from benchmarks.structure.pdf_truth import Truth, truths
from benchmarks.structure.scoring import Heading, score, with_parents

PAGES = 40
"""Pages of each document that the peer reads, spread evenly, and both are scored on; all with `--all-pages`."""


@frozen
class Ours:
    """What the map of a document says, in a process of its own."""

    nodes: Sequence[tuple[int, str, int]]
    seconds: float
    megabytes: float

    def headings(self, pages: frozenset[int] | None = None, depth: int | None = None) -> list[Heading]:
        """The nodes on `pages` (None: all) down to `depth`."""
        kept = [each for each in self.nodes if depth is None or each[0] <= depth]
        return with_parents([each for each in kept if pages is None or each[2] in pages])


def run(corpus: Path | None = None) -> Report:
    """Every PDF of `corpus` (the folder that holds `pdf/`), tables printed and written."""
    question = "structure-pdf-ours" if "--no-peer" in sys.argv else "structure-pdf"
    report = Report(question, "Headings of PDFs, their bookmarks taken out")
    documents = list(truths(_documents(corpus)))
    alone = report.table(
        "The whole document", "document", "pages", "bookmarks", "precision", "recall", "F1", "to their depth", "parents",
        "s / 100 pages", "MB",
    )  # fmt: skip
    beside = report.table(
        f"Beside {pdf_peer.NAME}, on the same pages", "document", "pages", "F1", "peer's F1", "ahead by", "parents",
        "peer's parents", "s a page", "peer's s a page",
    )  # fmt: skip
    by_type = report.table(
        "By type alone: without bookmarks and printed contents", "document", "headings", "precision", "recall", "F1",
        "to their depth", "parents", "s / 100 pages",
    )  # fmt: skip
    for truth in documents:
        ours = mapped(truth.path)
        _alone(alone, truth, ours)
        _by_type(by_type, truth, mapped(truth.path, "--by-type"))
        if "--no-peer" not in sys.argv:
            _beside(beside, truth, ours)
    _means(report, alone, by_type, beside)
    report.finish()
    return report


def mapped(path: Path, *options: str) -> Ours:
    """The map of one PDF; with `--by-type` what type alone tells of it."""
    command = [sys.executable, "-m", "benchmarks.structure.pdf_ours", str(path), *options]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return Ours([(level, title, page) for level, title, page in found["nodes"]], found["seconds"], found["megabytes"])


def _folder(corpus: Path | None) -> Path:
    return corpus or Path(os.environ.get("CITEKIT_CORPUS") or ROOT / ".corpus" / "dev")


def _documents(corpus: Path | None) -> Path:
    """The folder `pdf` of the corpus; a folder that holds none is one of PDFs itself."""
    folder = _folder(corpus)
    return folder / "pdf" if (folder / "pdf").is_dir() else folder


def _alone(table: Table, truth: Truth, ours: Ours) -> None:
    found = score(truth.headings(), ours.headings())
    shallow = score(truth.headings(), ours.headings(depth=truth.depth))
    table.row(
        truth.name, truth.pages, len(truth.bookmarks), found.precision, found.recall, found.f1, shallow.f1, found.parents,
        100 * ours.seconds / truth.pages, ours.megabytes,
    )  # fmt: skip


def _by_type(table: Table, truth: Truth, ours: Ours) -> None:
    found = score(truth.headings(), ours.headings())
    shallow = score(truth.headings(), ours.headings(depth=truth.depth))
    seconds = 100 * ours.seconds / truth.pages
    table.row(truth.name, len(ours.nodes), found.precision, found.recall, found.f1, shallow.f1, found.parents, seconds)


def _beside(table: Table, truth: Truth, ours: Ours) -> None:
    pages = spread(truth.pages, truth.pages if "--all-pages" in sys.argv else PAGES)
    there = frozenset(pages)
    wanted = with_parents([each for each in truth.bookmarks if each[2] in there])
    own, seconds = score(wanted, ours.headings(there)), ours.seconds / truth.pages
    peer = pdf_peer.headings(truth.path, pages)
    if peer is None or not wanted:
        table.row(truth.name, len(pages), own.f1, None, None, own.parents, None, seconds, None)
        return
    other = score(wanted, with_parents([(level, title, page) for level, title, page in peer["nodes"]]))
    table.row(
        truth.name, len(pages), own.f1, other.f1, own.f1 - other.f1, own.parents, other.parents, seconds,
        peer["seconds"] / len(pages),
    )  # fmt: skip


def spread(count: int, most: int) -> list[int]:
    """At most `most` pages, evenly through a document of `count`."""
    return list(range(1, count + 1)) if count <= most else sorted({1 + place * count // most for place in range(most)})


def _means(report: Report, alone: Table, by_type: Table, beside: Table) -> None:
    for table in (alone, by_type, *([beside] if beside.rows else [])):
        columns = list(zip(*table.rows, strict=True))[1:]
        table.row("mean", *(_mean(column) for column in columns))
    if pdf_peer.ENVIRONMENT.missing() is not None:
        beside.notes.append(f"The peer's cells are empty: {pdf_peer.ENVIRONMENT.missing()}.")
    whole = alone.rows[-1]
    report.fact("pdf-headings-f1-by-type", _number(by_type.rows[-1][4]))
    report.fact("pdf-parents-f1-by-type", _number(by_type.rows[-1][6]))
    report.fact("pdf-headings-f1", _number(whole[5]))
    report.fact("pdf-headings-f1-to-depth", _number(whole[6]))
    report.fact("pdf-parents-f1", _number(whole[7]))
    if not beside.rows:
        return
    same = beside.rows[-1]
    report.fact("pdf-peer-f1", _number(same[3]))
    report.fact("pdf-ahead-of-peer", _number(same[4]))
    report.fact("pdf-furthest-behind-peer", min((_number(row[4]) or 0.0 for row in beside.rows[:-1]), default=None))
    own, peer = _number(same[7]), _number(same[8])
    report.fact("pdf-times-faster-than-peer", peer / own if own and peer else None)


def _mean(column: Sequence[object]) -> float | None:
    numbers = [float(cell) for cell in column if isinstance(cell, int | float)]
    return statistics.fmean(numbers) if numbers else None


def _number(cell: object) -> float | None:
    return float(cell) if isinstance(cell, int | float) else None


if __name__ == "__main__":
    named = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    run(Path(named[0]) if named else None)
