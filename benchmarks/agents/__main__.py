"""Scripted agents with fixed policies answer questions whose page is known, and pay for what they read.

    python -m benchmarks.agents QUESTIONS DIR... [--manuals CORPUS] [--work FOLDER] [--page]

QUESTIONS is a file with a JSON object a line: `document`, `question`, `pages` (from 1). The documents are PDFs in the DIRs;
questions about other documents are left out. With --manuals, entries of the printed indexes of manuals in that corpus are
asked, too. --page writes the tables into docs/explanation/agents.md.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from benchmarks import machine
from benchmarks.agents import home, latency, manuals, questions, shell, sizes
from benchmarks.agents.home import Material
from benchmarks.agents.outcome import Totals, Trace
from benchmarks.agents.policies import POLICIES, Policy
from benchmarks.agents.questions import Question
from benchmarks.agents.tools import Tools, server
from benchmarks.measuring import Spent, ratio
from benchmarks.page import between, titled
from benchmarks.places import ROOT
from benchmarks.report import Report

PAGE = ROOT / "docs" / "explanation" / "agents.md"
MANUALS = ("r-exts", "r-intro")
ENTRIES = 15
"""The number of index entries of a manual that are asked."""

Answering = Callable[[Question], Trace]


def main() -> None:
    """Run the policies, print the tables, and write them to results/agents.json and, with --page, to the page."""
    options = _options()
    asked = questions.from_file(options.questions)
    entries: list[Question] = []
    if options.manuals:
        for name in MANUALS:
            entries += manuals.of_manual(options.manuals, name, ENTRIES)
    names = {each.document for each in [*asked, *entries]}
    paths = home.chosen(options.folders, names, options.others)
    paths += [options.manuals / "pdf" / name for name in sorted({each.document for each in entries})]
    with tempfile.TemporaryDirectory(prefix="citekit-agents-") as temporary:
        material = home.prepared(paths, names, options.work or Path(temporary))
        report = Report("agents", "What an agent pays for the page that answers a question")
        sets = {"filings and reports": asked, "printed indexes of manuals": entries}
        _policies(report, material, {name: _known(material, each) for name, each in sets.items()}, paths)
    report.finish()
    if options.page:
        _write(report, material)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.agents", description=__doc__)
    parser.add_argument("questions", type=Path)
    parser.add_argument("folders", type=Path, nargs="+", metavar="DIR")
    parser.add_argument("--manuals", type=Path, metavar="CORPUS", help="the folder that holds pdf/")
    parser.add_argument("--others", type=int, default=14, help="how many documents that no question names are mapped")
    parser.add_argument("--work", type=Path, metavar="FOLDER", help="keep the home here, for the next run")
    parser.add_argument("--page", action="store_true", help="write the page")
    return parser.parse_args()


def _known(material: Material, asked: Sequence[Question]) -> list[Question]:
    return [each for each in asked if each.document in material.resources]


def _policies(report: Report, material: Material, sets: dict[str, list[Question]], paths: Sequence[Path]) -> None:
    files = {path.name: path for path in paths}
    with server(material.home) as client:
        tools = Tools(client)
        for name, asked in sets.items():
            if asked:
                _table(report, name, asked, _ways(tools, material, files))
        sizes.sample(tools, material)
    _sizes(report, tools)
    everything = [each for asked in sets.values() for each in asked]
    _latency(report, material, everything[0])


def _ways(tools: Tools, material: Material, files: dict[str, Path]) -> dict[str, Answering]:
    """The policies by name."""
    ways: dict[str, Answering] = {name: partial(_followed, run, tools, material) for name, run in POLICIES.items()}
    folder = material.pages
    ways["grep, grep"] = lambda asked: shell.grep(folder / Path(asked.document).stem, asked, reads=False)
    ways["grep, head, grep"] = lambda asked: shell.grep(folder / Path(asked.document).stem, asked, reads=True)
    if shell.has_ripgrep_all():
        ways["rga, rga"] = lambda asked: shell.ripgrep_all(files[asked.document], asked)
    return ways


def _followed(policy: Policy, tools: Tools, material: Material, asked: Question) -> Trace:
    return policy(tools, material.resources[asked.document], asked)


def _table(report: Report, name: str, asked: Sequence[Question], ways: dict[str, Answering]) -> None:
    documents = len({each.document for each in asked})
    table = report.table(
        f"{len(asked)} questions, {documents} documents: {name}",
        "policy",
        "right page first",
        "right page in the first three",
        "right page, quote checked",
        "calls a question",
        "characters a question",
        "median",
    )
    for way, answer in ways.items():
        totals = Totals.of(asked, [answer(each) for each in asked])
        table.row(
            way,
            totals.page_first,
            totals.page_shown,
            totals.quoted,
            round(totals.calls, 2),
            round(totals.characters),
            round(totals.characters_median),
        )
    if not shell.has_ripgrep_all():
        table.notes.append("ripgrep-all (rga) is not installed here, so it was not measured.")


def _sizes(report: Report, tools: Tools) -> None:
    table = report.table(f"Characters of {tools.calls:,} answers", "tool", "answers", "median", "p95", "longest")
    every: list[int] = []
    for name, found in sorted(tools.sizes.items()):
        every += found
        spread = Spent(found)
        table.row(name, len(found), round(spread.median), round(spread.p95), max(found))
    spread = Spent(every)
    table.row("all", len(every), round(spread.median), round(spread.p95), max(every))


def _latency(report: Report, material: Material, question: Question) -> None:
    words = questions.search_words(question.text, question.document)[:1]
    found = latency.measured(material.home, material.resources[question.document], min(question.pages), " ".join(words))
    table = report.table(
        f"Latency of repeated calls, {len(material.resources)} documents mapped",
        "call",
        "median ms",
        "p95 ms",
        "to an empty tool",
        "to a tool of the same length",
    )
    rows = {
        "readText, a page": "readText",
        "findText, one document": "findText",
        "findText, everything": "findText everywhere",
        "an empty tool": "empty",
        "a tool of the same length as readText": "same_length",
    }
    for title, name in rows.items():
        spent = found[name]
        same = ratio(spent, found["same_length"]) if name == "readText" else None
        table.row(title, spent.median, spent.p95, ratio(spent, found["empty"]), same)


def _write(report: Report, material: Material) -> None:
    text = PAGE.read_text("utf-8")
    facts = machine.told(machine.description())
    text = between(text, "machine", f"{facts}. {len(material.resources)} documents mapped.")
    text = between(text, "agents", "\n\n".join(titled(each) for each in report.tables))
    PAGE.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
