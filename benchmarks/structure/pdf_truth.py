"""PDFs whose bookmarks tell their headings, and copies of them without bookmarks."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from attrs import frozen

from benchmarks.places import BENCH
from benchmarks.structure.scoring import Heading, matched, plain, with_parents
from citekit.adapters.formats.pdf.document.bookmarks import read_bookmarks
from citekit.adapters.formats.pdf.document.text import page_lines
from citekit.adapters.libraries.mupdf.engine import Document, opened
from citekit.domain.errors import CiteKitError
from citekit.domain.vocabulary import PAPER_HEADING

FEWEST = 5
"""Bookmarks that lead to a page, from which on a document is used."""

PRINTED = 0.5
"""The part of its bookmarks that must be printed on the page they lead to: else they are no headings but names of files,
destinations or pages."""

FOLDER = BENCH / "structure-pdf"

_SHORT = 12
"""Letters of a title up to which it is a heading only at the beginning of a line: `Abstract` is also a word of sentences."""

_WORD = re.compile(r"[\W\d_]+")


@frozen
class Truth:
    """A document: the copy without bookmarks, how many pages it has, and its bookmarks with their levels."""

    name: str
    path: Path
    pages: int
    bookmarks: tuple[tuple[int, str, int], ...]

    def headings(self, pages: int | None = None) -> list[Heading]:
        """The bookmarks as headings, of the first `pages` pages only where that is said."""
        return with_parents([each for each in self.bookmarks if pages is None or each[2] <= pages])

    @property
    def depth(self) -> int:
        """Levels of bookmarks."""
        return max(level for level, _, _ in self.bookmarks)


def truths(folder: Path) -> Iterator[Truth]:
    """Every PDF of `folder` that can be used, by name."""
    for path in sorted(folder.glob("*.pdf")):
        try:
            with opened(path) as document:
                found = truth_of(document, path)
        except CiteKitError:
            continue
        if found is not None:
            yield found


def truth_of(document: Document, path: Path) -> Truth | None:
    """The bookmarks of `document`, the file `path`, as its headings; None if they are too few or not printed.

    Bookmarks without letters and digits, which programs make from empty paragraphs, are no headings.
    """
    bookmarks = tuple(
        (each.level, each.title, each.page)
        for each in read_bookmarks(document)
        if each.page and any(map(str.isalnum, each.title))
    )
    if len(bookmarks) < FEWEST or _printed(document, bookmarks) < PRINTED:
        return None
    return Truth(path.stem, stripped(document, path), document.page_count, bookmarks)


def _printed(document: Document, bookmarks: tuple[tuple[int, str, int], ...]) -> float:
    """The part of the bookmarks (of a sample of 200 in long documents) whose words stand on their page."""
    sample = bookmarks[:: max(1, len(bookmarks) // 200)]
    texts = {page: _letters(" ".join(line.text for line in page_lines(document[page - 1]))) for _, _, page in sample}
    return sum(bool(_letters(title)) and _letters(title) in texts[page] for _, title, page in sample) / len(sample)


def comparable(
    wanted: Sequence[tuple[int, str, int]], found: Sequence[tuple[int, str, int]], lines: Callable[[int], Sequence[str]]
) -> tuple[list[tuple[int, str, int]], list[tuple[int, str, int]]]:
    """Bookmarks and headings of a map without those that say nothing about each other; `lines` are those of a page.

    Left out are bookmarks whose words are not printed on their page, one on the first page that all others are below (the
    title of the document), and headings such as References that a map has and the bookmarks leave out.
    """
    inner = [level for level, _, _ in wanted[1:]]
    titled = bool(wanted) and wanted[0][2] == 1 and bool(inner) and min(inner) > wanted[0][0]
    kept = [each for each in wanted[titled:] if _is_printed(each[1], lines(each[2]))]
    pairs = set(matched(with_parents(kept), with_parents(found)).values())
    return kept, [each for at, each in enumerate(found) if at in pairs or plain(each[1]) not in PAPER_HEADING]


def _is_printed(title: str, lines: Sequence[str]) -> bool:
    """Whether a line begins with a short title, or a long one stands anywhere, also over several lines."""
    wanted, own = _letters(title), [_letters(line) for line in lines]
    return bool(wanted) and (
        any(line.startswith(wanted) for line in own) or (len(wanted) > _SHORT and wanted in "".join(own))
    )


def _letters(text: str) -> str:
    return _WORD.sub("", plain(text))


def stripped(document: Document, path: Path) -> Path:
    """A copy without the outline; links, labels and everything else stay."""
    name = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    target = FOLDER / f"{name}.pdf"
    if not target.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        document.xref_set_key(document.pdf_catalog(), "Outlines", "null")
        document.save(target.with_suffix(".new"), garbage=1)
        target.with_suffix(".new").replace(target)
    return target
