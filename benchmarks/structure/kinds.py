"""Headings of PDFs by kind of document, documents that rules were made from apart from unseen ones.

`python -m benchmarks.structure.kinds CORPUS [KIND ...] [--seen | --unseen] [--documents]`; CORPUS holds a folder per kind
of `kinds.json`, with the PDFs named there. A missing document is left out and counted. The truth is one of three: the
bookmarks (taken out of a copy), a list of `level,title,page` in `truths/NAME.toc` beside the PDFs, or the numbered Items
of a filing at the start of a line.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import statistics
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from attrs import field, frozen

from benchmarks.report import Report, Table
from benchmarks.structure.pdf_ours import nodes
from benchmarks.structure.pdf_truth import comparable, stripped, truth_of
from benchmarks.structure.scoring import Score, matched, score, with_parents
from citekit.adapters.formats.pdf.document.text import page_lines
from citekit.adapters.formats.pdf.outline.outliner import PdfOutliner
from citekit.adapters.libraries.mupdf.engine import exclusive, opened
from citekit.domain.digest import Digest
from citekit.domain.errors import CiteKitError
from citekit.domain.formats import BY_SUFFIX
from citekit.domain.progress import silent
from citekit.domain.source import Source

LISTS = Path(__file__).with_name("kinds.json")

UNSEEN_OF = 3
"""One document in so many is unseen."""

LEVELS = 3
"""Levels whose recall is shown apart; deeper ones count as the last."""

_ROW = re.compile(r'(\d+),"?(.*?)"?,(\d+),*\s*')
"""Level, title (a comma in it may lack its quotes), page; rows without one of them are no headings."""

_ITEM = re.compile(r"item\s+(\d{1,2}[a-c]?)\s*[.:–—-]", re.IGNORECASE)
_ITEM_TITLE = re.compile(r"item\s+(\d{1,2}[a-c]?)\b", re.IGNORECASE)
_ITEMS_OF_CONTENTS = 4
"""Items at the start of a line from which a page is one of the printed contents, if it is among the first."""

_CONTENTS_SHARE = 0.1
"""The share of the pages that hold the printed contents."""

Node = tuple[int, str, int]


@frozen
class Measured:
    """What was found in one document.

    `printed` is F1 of the headings that the bookmarks and the map can share (`comparable`).
    `levels` are (found, wanted) for each level of the truth; `titled`, whether the title is not that of the file.
    """

    name: str
    score: Score
    printed: float
    levels: tuple[tuple[int, int], ...]
    titled: bool
    pages: int
    seconds: float
    found: Sequence[Node] = field(repr=False, default=())
    wanted: Sequence[Node] = field(repr=False, default=())


def is_unseen(name: str) -> bool:
    """Whether the document `name` (the stem of its file) is drawn for those that nobody looks at."""
    return int(hashlib.sha256(name.encode()).hexdigest(), 16) % UNSEEN_OF == 0


def run(corpus: Path | None = None) -> Report:
    """Every kind whose folder is there, tables printed and written."""
    report = Report("structure-kinds", "Headings of PDFs by kind of document")
    lists = json.loads(LISTS.read_text("utf-8"))
    asked = [each for each in sys.argv[1:] if each in lists] or [*lists]
    table = report.table(
        "By kind", "kind", "documents", "F1", "F1 of printed headings", "precision",
        "recall", "of level 1", "of level 2", "of level 3 and below",
        "parents", "title printed or written", "s / 100 pages",
    )  # fmt: skip
    for kind in asked:
        folder = (corpus or Path()) / lists[kind].get("folder", kind)
        for part, unseen in (("seen", False), ("unseen", True)):
            if f"--{'seen' if unseen else 'unseen'}" in sys.argv or not folder.is_dir():
                continue
            looked_at = lists[kind].get("looked_at", [])
            names = [name for name in lists[kind]["documents"] if (is_unseen(name) and name not in looked_at) is unseen]
            found = [each for name in names if (each := measured(folder / f"{name}.pdf", lists[kind]["truth"]))]
            _add(report, table, f"{kind}, {part}", found)
            if len(found) < len(names):
                table.notes.append(f"{kind}, {part}: {len(names) - len(found)} documents are missing or of no use.")
    report.finish()
    return report


def _add(report: Report, table: Table, name: str, found: Sequence[Measured]) -> None:
    if not found:
        return
    table.row(name, len(found), *_means(found))
    report.fact(f"kinds-f1-{name}", statistics.fmean(each.score.f1 for each in found))
    if "--documents" in sys.argv:
        own = report.table(name, "document", "F1", "precision", "recall", "parents", "pages", "s / 100 pages")
        for each in sorted(found, key=lambda each: each.score.f1):
            own.row(
                each.name, each.score.f1, each.score.precision, each.score.recall, each.score.parents, each.pages,
                100 * each.seconds / each.pages,
            )  # fmt: skip


def _means(found: Sequence[Measured]) -> Iterable[float | None]:
    scores = [each.score for each in found]
    yield statistics.fmean(each.f1 for each in scores)
    yield statistics.fmean(each.printed for each in found)
    yield from (statistics.fmean(getattr(each, what) for each in scores) for what in ("precision", "recall"))
    for level in range(LEVELS):
        wanted = sum(each.levels[level][1] for each in found)
        yield sum(each.levels[level][0] for each in found) / wanted if wanted else None
    yield statistics.fmean(each.parents for each in scores)
    yield statistics.fmean(each.titled for each in found)
    yield 100 * sum(each.seconds for each in found) / sum(each.pages for each in found)


def measured(path: Path, truth: str) -> Measured | None:
    """What the map of `path` finds, by the `truth` named in `kinds.json`; None if the file or its truth is missing."""
    try:
        wanted, read = _wanted(path, truth)
        if not wanted:
            return None
        with exclusive():
            source = Source(read, Digest("0" * 64), read.stat().st_size, BY_SUFFIX[".pdf"])
            with opened(read) as document:
                pages = document.page_count
        began = time.process_time()
        outline = PdfOutliner().outline(source, silent)
        seconds = time.process_time() - began
    except (CiteKitError, OSError):
        return None
    found = list(nodes(outline.items))
    if truth == "items":  # headings between the Items are no errors of this truth
        found = [(level, _label(item[1]), page) for level, text, page in found if (item := _ITEM_TITLE.match(text))]
    pairs = matched(with_parents(wanted), with_parents(found))
    with opened(read) as document:
        same = comparable(wanted, found, lambda page: [line.text for line in page_lines(document[page - 1])])
    levels = [[0, 0] for _ in range(LEVELS)]
    for place, (level, _, _) in enumerate(wanted):
        own = levels[min(level, LEVELS) - 1]
        own[0] += place in pairs
        own[1] += 1
    return Measured(
        path.stem,
        score(with_parents(wanted), with_parents(found)),
        score(*map(with_parents, same)).f1 if truth == "bookmarks" else math.nan,
        tuple((got, of) for got, of in levels),
        outline.facts["title_source"] != "file name",
        pages,
        seconds,
        found,
        wanted,
    )


def _wanted(path: Path, truth: str) -> tuple[list[Node], Path]:
    """The headings of `path`, and the file to be mapped."""
    if truth == "items":
        return _items(path), path
    if truth.startswith("list"):
        lines = (path.parent / "truths" / f"{path.stem}.toc").read_text("utf-8-sig").splitlines()
        rows = [(int(row[1]), row[2], int(row[3])) for line in lines if (row := _ROW.fullmatch(line))]
        if truth == "list":
            return rows, path
        with opened(path) as document:
            return rows, stripped(document, path)
    with opened(path) as document:
        found = truth_of(document, path)
    return ([*found.bookmarks], found.path) if found else ([], path)


def _items(path: Path) -> list[Node]:
    """The numbered Items of a filing at the start of a line, those of its printed contents left out.

    A line that repeats an Item is a running header: only the first counts. Titles are reduced to the number, because the
    printed contents may word them differently, or a line may end before the title.
    """
    found: dict[str, Node] = {}
    with opened(path) as document:
        for page in range(document.page_count):
            own = [line.text for line in page_lines(document[page]) if _ITEM.match(line.text)]
            if len(own) < _ITEMS_OF_CONTENTS or page >= max(6, _CONTENTS_SHARE * document.page_count):
                for text in own:
                    label = _label(_ITEM.match(text)[1])  # type: ignore[index]
                    found.setdefault(label, (1, label, page + 1))
    return list(found.values())


def _label(number: str) -> str:
    """The number of an Item as a title that is not similar to that of another Item."""
    return number.casefold() * 4


if __name__ == "__main__":
    named = [each for each in sys.argv[1:] if not each.startswith("-")]
    run(Path(named[0]) if named else None)
