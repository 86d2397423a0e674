"""One PDF mapped in a process of its own: `python -m benchmarks.structure.pdf_ours FILE` prints nodes, seconds, memory.

With `--by-type` the pages of the printed contents are left out, and only the type of the headings is looked at.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from citekit.adapters.formats.pdf.outline.outliner import PdfOutliner
from citekit.adapters.formats.pdf.outline.page_reader import PageReader
from citekit.adapters.formats.pdf.outline.pages import PageTexts
from citekit.adapters.formats.pdf.outline.structure import sections_of_text
from citekit.adapters.formats.shared.outline import OutlineItem, nested
from citekit.adapters.libraries.mupdf.engine import exclusive, opened
from citekit.domain.digest import Digest
from citekit.domain.formats import BY_SUFFIX
from citekit.domain.locations import Pages
from citekit.domain.progress import silent
from citekit.domain.source import Source

HEADINGS = ("part", "chapter", "section", "subsection")
"""The types of nodes that stand for a heading: not groups of pages, figures or tables."""


def nodes(outline_items: Sequence[OutlineItem], level: int = 1) -> Iterator[tuple[int, str, int]]:
    """(level, title, first page) of every node that stands for a heading, in reading order."""
    for outline_item in outline_items:
        if outline_item.type in HEADINGS and isinstance(outline_item.location, Pages):
            yield level, outline_item.title, outline_item.location.numbers[0]
        yield from nodes(outline_item.children, level + 1)


def mapped(path: Path) -> dict[str, object]:
    """What the outliner of PDFs finds in `path`; `seconds` are of the processor, after PyMuPDF is imported."""
    with exclusive():
        began = time.process_time()
    source = Source(path, Digest("0" * 64), path.stat().st_size, BY_SUFFIX[".pdf"])
    outline = PdfOutliner().outline(source, silent)
    seconds = time.process_time() - began
    return {"nodes": list(nodes(outline.items)), "seconds": seconds, "megabytes": _peak(), "notes": outline.notes}


def told_by_type(path: Path) -> dict[str, object]:
    """What the type of its headings alone tells of `path`, as `mapped` says it."""
    began = time.process_time()
    with opened(path) as document:
        sections = sections_of_text(PageTexts(PageReader(document, silent)), use_toc=False).sections
    outline_items = nested(
        [(each.level, OutlineItem(each.title, HEADINGS[0], Pages.span(each.page, each.page))) for each in sections]
    )
    found = list(nodes(outline_items))
    return {"nodes": found, "seconds": time.process_time() - began, "megabytes": _peak(), "notes": []}


def _peak() -> float:
    """The most memory that this process held, in MB; `getrusage` would count that of the process that began it."""
    try:
        status = Path("/proc/self/status").read_text("utf-8")
    except OSError:
        return float("nan")
    return float(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 1024  # type: ignore[index]  # it is there on Linux


if __name__ == "__main__":
    print(json.dumps((told_by_type if "--by-type" in sys.argv else mapped)(Path(sys.argv[1]))))
