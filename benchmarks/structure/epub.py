"""Books: is every character in one leaf, every entry of the contents where it points, nested as it was, and at what price?

    python -m benchmarks.structure.epub [CORPUS]

The truth is the EPUB's own, read by zipfile and lxml alone. White space does not count. An entry is borne out by its file
where the fragment exists and the title's letters and digits stand within the next 200 of the place; the others are listed.
"""

from __future__ import annotations

import multiprocessing.connection
import resource
import sys
import time
from collections import Counter
from pathlib import Path

from attrs import define, field

from benchmarks.measuring import fewer
from benchmarks.report import Report
from benchmarks.structure.epub_truth import Entry, Truth, bare, read_truth
from citekit.adapters.formats.epub.outliner import EpubOutliner
from citekit.adapters.formats.epub.reader import EpubReader
from citekit.adapters.formats.shared.outline import make_nodes
from citekit.adapters.sources.filesystem import FileSources
from citekit.domain.locations import Chapter
from citekit.domain.node import Node
from citekit.domain.progress import silent

NEAR = 200


@define
class Book:
    """What was found in one book."""

    characters: int = 0
    once: int = 0
    nested: int = 0
    nodes: int = 0
    entries: int = 0
    placed: int = 0
    borne: int = 0
    titled: int = 0
    parents: int = 0
    kept: int = 0
    seconds: float = 0.0
    others: list[str] = field(factory=list)


def run(corpus: Path | None = None) -> Report:
    """The tables, printed and written; without a corpus there are no books, and no figures."""
    report = Report("structure-epub", "Structure of books")
    paths = sorted((corpus / "book").glob("*.epub")) if corpus is not None else []
    columns = (
        "characters",
        "once",
        "nodes",
        "outside parent",
        "entries",
        "placed",
        "borne out",
        "titled",
        "nested as said",
    )
    table = report.table("EPUB", "book", *columns, "ms a MB", "peak MB a MB")
    others = report.table("entries whose title is not at their place in the file", "entry", "book")
    total, mb = Book(), 0.0
    for path in paths[: fewer(len(paths), 2)]:
        book, memory, size = measured(path), _memory(path), path.stat().st_size / 1e6
        table.row(path.stem, *_cells(book), round(1000 * book.seconds / size, 1), round(memory / size, 1))
        for title in book.others:
            others.row(title, path.stem)
        for name in (
            "characters",
            "once",
            "nested",
            "nodes",
            "entries",
            "placed",
            "borne",
            "titled",
            "parents",
            "kept",
            "seconds",
        ):
            setattr(total, name, getattr(total, name) + getattr(book, name))
        mb += size
    table.row("all", *_cells(total), round(1000 * total.seconds / max(mb, 1e-9), 1), None)
    if paths:
        report.fact("characters in exactly one leaf", total.once / total.characters)
        report.fact("entries placed at their fragment", total.placed / total.entries)
        report.fact(
            "entries with their title at their place, of those that the file bears out", total.titled / total.borne
        )
        report.fact("entries below the entry that they were below", total.kept / max(1, total.parents))
        report.fact("ms a MB", 1000 * total.seconds / mb)
    report.finish()
    return report


def _cells(book: Book) -> tuple[int | float | None, ...]:
    kept = round(book.kept / book.parents, 4) if book.parents else None
    once = round(book.once / max(1, book.characters), 6)
    return (book.characters, once, book.nodes, book.nested, book.entries, book.placed, book.borne, book.titled, kept)


def measured(path: Path) -> Book:
    """The map of one book against what the book says."""
    truth, source = read_truth(path), FileSources().identify(path)
    began = time.process_time()
    nodes = make_nodes(EpubOutliner(EpubReader()).outline(source, silent))
    book = Book(seconds=time.process_time() - began)
    texts = EpubReader().texts(path, 1, last=len(truth.chapters))
    every = [node for top in nodes for node in top.walk()]
    book.nodes = len(every)
    book.nested = sum(not node.location.contains(child.location) for node in every for child in node.children)
    _coverage(book, truth, texts, every)
    _entries(book, truth, texts, nodes)
    return book


def _coverage(book: Book, truth: Truth, texts: list[str], every: list[Node]) -> None:
    """What the leaves of a chapter hold, in their order, against all of its characters."""
    held: list[list[str]] = [[] for _ in texts]
    for leaf in every:
        if not leaf.children and isinstance(leaf.location, Chapter):
            for number in range(leaf.location.number, leaf.location.last + 1):
                start, end = leaf.location.chars or (0, len(texts[number - 1]))
                held[number - 1].append(texts[number - 1][start:end])
    for chapter, pieces in zip(truth.chapters, held, strict=True):
        ours = bare("".join(pieces))
        book.characters += len(chapter.text)
        if ours == chapter.text:
            book.once += len(ours)
        else:
            counted, wanted = Counter(ours), Counter(chapter.text)
            book.once += sum(min(counted[each], wanted[each]) for each in wanted) - max(
                0, len(ours) - len(chapter.text)
            )


def _entries(book: Book, truth: Truth, texts: list[str], nodes: tuple[Node, ...]) -> None:
    numbers = {chapter.path: number for number, chapter in reversed(list(enumerate(truth.chapters, 1)))}
    above: dict[str, tuple[str, ...]] = {}
    found: dict[tuple[int, int], list[tuple[Node, tuple[str, ...]]]] = {}
    pending = [(node, above.get(node.id, ())) for node in nodes]
    while pending:
        node, chain = pending.pop()
        if isinstance(node.location, Chapter):
            start = (node.location.chars or (0, 0))[0]
            place = node.location.number, len(bare(texts[node.location.number - 1][:start]))
            found.setdefault(place, []).append((node, chain))
        pending += [(child, (*chain, node.title)) for child in node.children]
    near = ""
    for entry in truth.entries:
        number = numbers.get(entry.path) or _of_that_name(entry.path, numbers, near)
        near = entry.path if number is None else truth.chapters[number - 1].path
        book.entries += 1
        if number is None or (entry.fragment and entry.fragment not in truth.chapters[number - 1].places):
            book.others.append(f"{entry.title} (points nowhere: {entry.path}#{entry.fragment})")
            continue
        _entry(book, entry, truth, number, found)


def _of_that_name(path: str, numbers: dict[str, int], near: str) -> int | None:
    """The chapter that a wrong path must mean: of that name in the folder of the one before, or the only one of that name."""
    name = path.rpartition("/")[2]
    beside = f"{near.rpartition('/')[0]}/{name}"
    same = [each for each in numbers if each.rpartition("/")[2] == name]
    return numbers.get(beside) or (numbers[same[0]] if len(same) == 1 else None)


def _entry(
    book: Book,
    entry: Entry,
    truth: Truth,
    number: int,
    found: dict[tuple[int, int], list[tuple[Node, tuple[str, ...]]]],
) -> None:
    chapter = truth.chapters[number - 1]
    at = chapter.places.get(entry.fragment, 0)
    same = [pair for pair in found.get((number, at), ()) if _folded(entry.title) in _folded(pair[0].title)]
    book.placed += bool(same)
    here = _folded(chapter.text[at : at + NEAR + 2 * len(entry.title)])
    if _folded(entry.title) in here:
        book.borne += 1
        book.titled += bool(same)
    else:
        book.others.append(f"{entry.title} (the file says there: {chapter.text[at : at + 40] or 'nothing'})")
    if entry.above:
        book.parents += 1
        book.kept += any(_folded(entry.above[-1]) in _folded(_above(node, chain)) for node, chain in same)


def _above(node: Node, chain: tuple[str, ...]) -> str:
    """The title above a node; an `opening` has that of its parent, so the parent counts as itself."""
    return next((title for title in reversed(chain) if title != node.title), "")


def _folded(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


def _memory(path: Path) -> float:
    """MB by which mapping the book makes a process grow."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    child = context.Process(target=_grow, args=(path, theirs))
    child.start()
    grown: float = ours.recv()
    child.join()
    return grown


def _grow(path: Path, answer: multiprocessing.connection.Connection) -> None:
    source = FileSources().identify(path)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    EpubOutliner(EpubReader()).outline(source, silent)
    answer.send((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)


if __name__ == "__main__":
    run(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
