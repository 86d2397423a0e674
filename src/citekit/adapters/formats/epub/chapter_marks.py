"""Finds headings, captions, declared sections, and page breaks in the markup of chapters.

It also determines the positions of the landmarks and page breaks that the book lists.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from citekit.adapters.formats.epub.toc import LABEL_LIMIT
from citekit.adapters.formats.xhtml.flow import Flow, Opening, is_page_break
from citekit.adapters.libraries.lxml import names
from citekit.domain.ports.reader import BookChapter, Landmark, Mark, PageBreak

HEADING_LIMIT = 300
"""Maximum number of characters of a heading. Longer heading elements are paragraphs styled as headings."""

MARKS_LIMIT = 50_000
"""Maximum number of marks in a chapter."""

TERMS = names(
    """
    cover frontispiece halftitlepage titlepage copyright-page imprint imprimatur seriespage toc loi lot lov
    abstract acknowledgments afterword appendix bibliography chapter colophon conclusion contributors credits
    dedication endnotes epigraph epilogue errata footnotes foreword glossary index introduction notes
    other-credits part preamble preface prologue rearnotes subchapter volume
    """
)
"""Terms of the EPUB Structural Semantics Vocabulary 1.1 that describe the role of a part of a book."""

_PLACES = names("bodymatter frontmatter backmatter")
"""Terms that mark where a division of the book begins and do not describe a part."""

_LISTS = frozenset(("landmarks", "page-list"))
"""The types of lists for reading systems, usually hidden, whose headings start no sections."""

_OLD = {"title-page": "titlepage", "acknowledgements": "acknowledgments", "text": "bodymatter", "start": "bodymatter"}
"""Maps terms of the OPF 2.0.1 guide (2.6) and common misspellings to the EPUB 3 vocabulary."""

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_CAPTIONS = {"figcaption": "figure", "caption": "table"}


def term(text: str) -> str | None:
    """Return the vocabulary term for the first known type in `text`, such as "chapter" for `doc-chapter`, or None."""
    for word in text.casefold().split():
        plain = word.removeprefix("doc-").removeprefix("other.")
        plain = _OLD.get(plain, plain)
        if plain in TERMS or plain in _PLACES:
            return plain
    return None


def marks(chapter: Flow) -> tuple[Mark, ...]:
    """Return the headings, captions, and declared sections of a chapter as at most `MARKS_LIMIT` marks, sorted by
    start.
    """
    found = sorted(_marks(chapter), key=lambda mark: (mark.start, -mark.end))
    return tuple(found[:MARKS_LIMIT])


def _marks(chapter: Flow) -> Iterator[Mark]:
    open_: list[Opening] = []
    listed = 0
    for each in chapter.marked:
        if each.name == "nav" and _LISTS.intersection(each.said.get("type", "").casefold().split()):
            listed = each.end
        while open_ and open_[-1].end <= each.start:
            open_.pop()
        if each.start >= each.end or is_page_break(each.said):
            continue
        if each.name in _HEADINGS and each.start >= listed and each.end - each.start <= HEADING_LIMIT:
            yield Mark("heading", _title(chapter, each), each.start, each.end, _HEADINGS[each.name])
        elif each.name in _CAPTIONS:
            around = [one for one in open_ if one.name == _CAPTIONS[each.name]]
            if around:
                yield Mark(_CAPTIONS[each.name], _title(chapter, each), around[-1].start, around[-1].end)
        elif each.name in ("figure", "table"):
            open_.append(each)
        else:
            used = term(each.said.get("type", ""))
            if used in TERMS:
                yield Mark(used, "", each.start, each.end)


def _title(chapter: Flow, element: Opening) -> str:
    return " ".join(chapter.text[element.start : element.end].split())[:HEADING_LIMIT]


def landmarks(
    named: Iterable[tuple[str, str, str]], chapters: Sequence[BookChapter], anchors: Sequence[Mapping[str, int]]
) -> Iterator[Landmark]:
    """Yield the landmarks of a book, without duplicates.

    `named` contains their types, paths, and fragments; those with an unknown type or path are omitted. `anchors` maps
    the IDs in each chapter to character offsets.
    """
    numbers = {chapter.name: chapter.number for chapter in reversed(chapters)}
    seen: set[Landmark] = set()
    for type, path, fragment in named:
        used, number = term(type), numbers.get(path)
        if used is None or number is None:
            continue
        landmark = Landmark(used, number, anchors[number - 1].get(fragment, 0))
        if landmark not in seen:
            seen.add(landmark)
            yield landmark


def page_breaks(
    said: Sequence[tuple[str, str, str]], chapters: Sequence[BookChapter], anchors: Sequence[Mapping[str, int]]
) -> list[PageBreak]:
    """Return the page breaks listed in a book, in reading order.

    `said` contains their labels, paths, and fragments; those with an unknown target are omitted. `anchors` maps the IDs
    in each chapter to character offsets.
    """
    numbers = {chapter.name: chapter.number for chapter in reversed(chapters)}
    found = []
    for label, path, fragment in said:
        number = numbers.get(path)
        offset = 0 if not fragment or number is None else anchors[number - 1].get(fragment)
        if number is not None and offset is not None:
            found.append(PageBreak(label, number, offset))
    return sorted(found, key=lambda each: (each.chapter, each.offset))


def marked_pages(chapter: Flow, number: int) -> Iterator[PageBreak]:
    """Yield the page breaks that are marked in the text of chapter `number`, for books without a page list.

    The label is the accessible name of the marker (EPUB Accessibility 1.1), or else its text. Markers without a label
    are omitted.
    """
    for each in chapter.marked:
        if is_page_break(each.said):
            label = each.said.get("aria-label") or each.said.get("title") or _title(chapter, each)
            if label.strip():
                yield PageBreak(" ".join(label.split())[:LABEL_LIMIT], number, each.start)
