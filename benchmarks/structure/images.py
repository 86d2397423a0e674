"""Pictures: are the parts found where they are, told apart, and at what price? And is the text in them read?

    python -m benchmarks.structure.images [CORPUS]

The truth is known to the pixel, because the pictures are drawn here: pages of one and two columns, the same with the grain
of a scanner, slides, screens; of three sizes each. A part is found where an innermost region overlaps it by at least 0.7
(intersection over union), one region for one part.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from attrs import define

from benchmarks.measuring import fewer
from benchmarks.places import scratch
from benchmarks.report import Report, Table
from benchmarks.structure.pictures_made import MAKERS, Made, Truth
from citekit.adapters.formats.image.outliner import ImageOutliner
from citekit.adapters.formats.shared.ocr import RapidOcrReader
from citekit.adapters.formats.shared.outline import make_nodes
from citekit.adapters.sources.filesystem import FileSources
from citekit.domain.errors import CiteKitError
from citekit.domain.locations import Box
from citekit.domain.node import Node
from citekit.domain.progress import silent

HIT = 0.7
DEVELOPED, HELD = range(fewer(6, 1)), range(100, 100 + fewer(12, 1))
"""Seeds of the pictures that were looked at while the outliner was made, and of those that were not."""

READ = fewer(2, 1)
"""Pictures of each kind whose text is read: that takes seconds each."""


@define
class Tally:
    """What was found in the pictures of one kind."""

    pictures: int = 0
    parts: int = 0
    regions: int = 0
    found: int = 0
    told: int = 0
    seconds: float = 0.0
    megapixels: float = 0.0

    def add(self, other: Tally) -> None:
        """Count another kind in."""
        for name in ("pictures", "parts", "regions", "found", "told", "seconds", "megapixels"):
            setattr(self, name, getattr(self, name) + getattr(other, name))

    @property
    def recall(self) -> float:
        """Parts that were found."""
        return self.found / max(1, self.parts)

    @property
    def precision(self) -> float:
        """Regions that are parts."""
        return self.found / max(1, self.regions)


def run(corpus: Path | None = None) -> Report:
    """The tables, printed and written; pictures of `corpus` are mapped, too."""
    report = Report("structure-images", "Structure of pictures")
    with scratch() as folder:
        _layouts(report, folder)
        if corpus is not None:
            _corpus(report, corpus / "image")
        if RapidOcrReader.installed():
            _reading(report)
    report.finish()
    return report


def _layouts(report: Report, folder: Path) -> None:
    for name, seeds in (("looked at while it was made", DEVELOPED), ("held back", HELD)):
        columns = ("pictures", "parts", "recall", "precision", "F1", "text and picture distinguished", "ms a megapixel")
        table = report.table(f"drawn pictures, {name}", "kind", *columns)
        total = Tally()
        for kind, maker in MAKERS.items():
            tally = Tally()
            for seed in seeds:
                tally.add(_measured(maker(seed), folder))
            _row(table, kind, tally)
            total.add(tally)
        _row(table, "all", total)
        report.fact(f"{name}: recall", total.recall)
        report.fact(f"{name}: precision", total.precision)
        report.fact(f"{name}: F1", _f1(total))
        report.fact(f"{name}: ms a megapixel", 1000 * total.seconds / total.megapixels)


def _row(table: Table, kind: str, tally: Tally) -> None:
    figures = (tally.recall, tally.precision, _f1(tally), tally.told / max(1, tally.found))
    cost = round(1000 * tally.seconds / tally.megapixels, 1)
    table.row(kind, tally.pictures, tally.parts, *(round(each, 3) for each in figures), cost)


def _f1(tally: Tally) -> float:
    return 2 * tally.recall * tally.precision / max(1e-9, tally.recall + tally.precision)


def _measured(made: Made, folder: Path) -> Tally:
    path = folder / "made.png"
    made.image.save(path, compress_level=1)
    source = FileSources().identify(path)
    began = time.process_time()
    (whole,) = make_nodes(ImageOutliner().outline(source, silent))
    spent = time.process_time() - began
    leaves = [node for node in whole.walk() if not node.children and node is not whole]
    pairs = _matched(made.truth, leaves, made.image.size)
    told = sum((leaf.type == "picture") == (kind == "picture") for kind, leaf in pairs)
    pixels = made.image.width * made.image.height / 1e6
    return Tally(1, len(made.truth), len(leaves), len(pairs), told, spent, pixels)


def _matched(truth: Sequence[Truth], leaves: Sequence[Node], size: tuple[int, int]) -> list[tuple[str, Node]]:
    """For each part that was found: its kind, and the region that is it; the best pairs first."""
    shares = sorted(
        (-share, part, leaf)
        for part, (box, _) in enumerate(truth)
        for leaf, node in enumerate(leaves)
        if (share := _overlap(box, node, size)) >= HIT
    )
    parts: set[int] = set()
    taken: set[int] = set()
    found = []
    for _, part, leaf in shares:
        if part not in parts and leaf not in taken:
            parts.add(part)
            taken.add(leaf)
            found.append((truth[part][1], leaves[leaf]))
    return found


def _overlap(box: tuple[int, int, int, int], node: Node, size: tuple[int, int]) -> float:
    assert isinstance(node.location, Box)
    x1, y1, x2, y2 = node.location.x1, node.location.y1, node.location.x2, node.location.y2
    other = (x1 * size[0], y1 * size[1], x2 * size[0], y2 * size[1])
    across = min(box[2], other[2]) - max(box[0], other[0])
    down = min(box[3], other[3]) - max(box[1], other[1])
    if across <= 0 or down <= 0:
        return 0.0
    both = (box[2] - box[0]) * (box[3] - box[1]) + (other[2] - other[0]) * (other[3] - other[1])
    return across * down / (both - across * down)


def _reading(report: Report) -> None:
    table = report.table(
        "text read with the extra `ocr`",
        "kind",
        "words",
        "recall of words",
        "words in order",
        "seconds a picture",
        "MB at most",
    )
    reader = RapidOcrReader()
    hits, of = 0, 0
    for kind, maker in MAKERS.items():
        words = found = ordered = 0
        spent = 0.0
        for seed in range(200, 200 + READ):
            made = maker(seed)
            began = time.process_time()
            lines = reader.lines(made.image)
            spent += time.process_time() - began
            read = " ".join(line.text for line in lines).casefold().split()
            expected = [word.casefold() for word in made.words]
            words += len(expected)
            found += _bag(expected, read)
            ordered += _common(expected, read)
        table.row(kind, words, round(found / words, 3), round(ordered / words, 3), round(spent / READ, 1), _peak())
        hits, of = hits + found, of + words
    table.notes.append("seconds of processor time; the first picture of all includes loading the models")
    report.fact("words read", hits / of)


def _bag(expected: Sequence[str], read: Sequence[str]) -> int:
    return sum(min(expected.count(word), read.count(word)) for word in set(expected))


def _common(one: Sequence[str], two: Sequence[str]) -> int:
    """The length of the longest sequence of words that both hold in this order."""
    row = [0] * (len(two) + 1)
    for word in one:
        corner = 0
        for at, other in enumerate(two, 1):
            corner, row[at] = row[at], corner + 1 if word == other else max(row[at], row[at - 1])
    return row[-1]


def _corpus(report: Report, folder: Path) -> None:
    table = report.table(
        "pictures of the corpus", "file", "pixels", "regions", "text", "pictures", "ms", "MB at most so far"
    )
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        began = time.process_time()
        try:
            outline = ImageOutliner().outline(FileSources().identify(path), silent)
        except CiteKitError as error:
            table.row(path.name, type(error).__name__, None, None, None, _ms(began), _peak())
            continue
        (whole,) = make_nodes(outline)
        kinds = [node.type for node in whole.walk() if node is not whole and not node.children]
        size = " x ".join(map(str, outline.facts["dimensions"]))
        text = sum(kind in ("text_region", "heading") for kind in kinds)
        table.row(path.name, size, sum(1 for _ in whole.walk()) - 1, text, kinds.count("picture"), _ms(began), _peak())


def _ms(began: float) -> float:
    return round(1000 * (time.process_time() - began), 1)


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


if __name__ == "__main__":
    run(Path(sys.argv[1]).expanduser() if len(sys.argv) > 1 and not sys.argv[1].startswith("-") else None)
