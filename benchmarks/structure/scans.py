"""Headings of scans: pages of PDFs with bookmarks made into pictures, and the map of these held against the bookmarks.

`python -m benchmarks.structure.scans [CORPUS]`; needs the extra `ocr`. Of each document that has enough bookmarks a run of
pages is drawn, in grey and as a JPEG: at 150 dots per inch as it is, and at 200 turned a little, blurred, and with grain.
Reading takes some seconds a page.
"""

from __future__ import annotations

import io
import os
import random
import statistics
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from attrs import frozen
from PIL import Image, ImageFilter

from benchmarks.measuring import fewer
from benchmarks.places import ROOT, scratch
from benchmarks.report import Report, Table
from benchmarks.structure.pdf_ours import nodes
from benchmarks.structure.pdf_truth import Truth, truths
from benchmarks.structure.scoring import score, with_parents
from citekit.adapters.formats.pdf.outline.outliner import PdfOutliner
from citekit.adapters.formats.shared.ocr import OcrReader, RapidOcrReader
from citekit.adapters.libraries.mupdf.engine import exclusive, opened
from citekit.adapters.sources.filesystem import FileSources
from citekit.domain.progress import silent

PAGES = fewer(6, 2)
"""Pages of each document that are made into pictures."""

LONG = 100
"""Pages of a document from which on it is used."""

LOOKED_AT = ("debian-reference-ja", "developers-reference-en", "lilypond-learning", "mupdf-explored", "r-intro")
"""Documents that were looked at while the telling of type from ink was made."""

CLEAN, WORN = "150 dpi", "200 dpi, turned, with grain"


@frozen
class Excerpt:
    """A run of pages of a document, and the bookmarks that lead there with pages that count from 1."""

    truth: Truth
    first: int
    bookmarks: Sequence[tuple[int, str, int]]


def run(corpus: Path | None = None) -> Report:
    """The table, printed and written; empty without the extra `ocr` or a corpus."""
    report = Report("structure-scans", "Headings of scans")
    table = report.table(
        "Scans", "document", "scan", "bookmarks", "precision", "recall", "F1", "to their depth", "parents",
        "s a page",
    )  # fmt: skip
    if not RapidOcrReader.installed():
        table.notes.append("The table is empty: the extra 'ocr' is not installed.")
    else:
        _measure(report, table, corpus)
    report.finish()
    return report


def _measure(report: Report, table: Table, corpus: Path | None) -> None:
    ocr = RapidOcrReader()
    scores: dict[str, list[tuple[float, ...]]] = {"looked at": [], "held back": []}
    with scratch() as folder:
        for truth in truths(_documents(corpus)):
            if truth.pages < LONG:
                continue
            excerpt = _excerpt(truth)
            for kind in (CLEAN, WORN):
                found = _row(table, excerpt, kind, folder, ocr)
                scores["looked at" if truth.name in LOOKED_AT else "held back"].append(found)
    for name, found_ in scores.items():
        means = [statistics.fmean(column) for column in zip(*found_, strict=True)] if found_ else []
        if means:
            table.row(f"mean, {name}", "", None, *means, None)
            report.fact(f"scans-f1-{name.replace(' ', '-')}", means[2])


def _documents(corpus: Path | None) -> Path:
    """The folder `pdf` of the corpus; a folder that holds none is one of PDFs itself."""
    folder = corpus or Path(os.environ.get("CITEKIT_CORPUS") or ROOT / ".corpus" / "dev")
    return folder / "pdf" if (folder / "pdf").is_dir() else folder


def _row(table: Table, excerpt: Excerpt, kind: str, folder: Path, ocr: OcrReader) -> tuple[float, ...]:
    path = _scanned(excerpt, kind, folder)
    began = time.process_time()
    outline = PdfOutliner(ocr=ocr).outline(FileSources().identify(path), silent)
    seconds = (time.process_time() - began) / PAGES
    wanted, told = with_parents(excerpt.bookmarks), list(nodes(outline.items))
    deepest = max(level for level, _, _ in excerpt.bookmarks) - min(level for level, _, _ in excerpt.bookmarks) + 1
    found = score(wanted, with_parents(told))
    shallow = score(wanted, with_parents([each for each in told if each[0] <= deepest]))
    figures = found.precision, found.recall, found.f1, shallow.f1, found.parents
    table.row(excerpt.truth.name, kind, len(excerpt.bookmarks), *figures, seconds)
    return figures


def _excerpt(truth: Truth) -> Excerpt:
    """The pages in the middle of those runs that a heading a page at least leads to, by their number of headings."""
    counts = Counter(page for _, _, page in truth.bookmarks)
    starts = range(1, truth.pages - PAGES + 2)
    rich = sorted((sum(counts[page] for page in range(start, start + PAGES)), start) for start in starts)
    rich = [each for each in rich if each[0] >= PAGES] or rich[-1:]
    first = rich[len(rich) // 2][1]
    there = [(level, title, page - first + 1) for level, title, page in truth.bookmarks]
    return Excerpt(truth, first, [each for each in there if 1 <= each[2] <= PAGES])


def _scanned(excerpt: Excerpt, kind: str, folder: Path) -> Path:
    """A PDF of nothing but pictures of the pages."""
    target = folder / "scan.pdf"
    with opened(excerpt.truth.path) as document, exclusive() as pymupdf, pymupdf.open() as made:
        for number in range(excerpt.first, excerpt.first + PAGES):
            page = document[number - 1]
            pixels = page.get_pixmap(dpi=150 if kind == CLEAN else 200, colorspace=pymupdf.csGRAY)
            image = Image.frombytes("L", (pixels.width, pixels.height), pixels.samples)
            stream = io.BytesIO()
            (image if kind == CLEAN else _worn(image, number)).save(stream, "JPEG", quality=80)
            made.new_page(width=page.rect.width, height=page.rect.height).insert_image(
                page.rect, stream=stream.getvalue()
            )
        made.save(target)
    return target


def _worn(image: Image.Image, seed: int) -> Image.Image:
    """As a scanner gives a page that lies a little askew."""
    rnd = random.Random(seed)
    turned = image.rotate(rnd.uniform(-0.6, 0.6), Image.Resampling.BICUBIC, fillcolor=255)
    noise = Image.frombytes("L", image.size, rnd.randbytes(image.width * image.height))
    return Image.blend(turned.filter(ImageFilter.GaussianBlur(0.7)), noise.filter(ImageFilter.GaussianBlur(0.6)), 0.12)


if __name__ == "__main__":
    named = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    run(Path(named[0]).expanduser() if named else None)
