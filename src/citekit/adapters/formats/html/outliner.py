"""Outlines HTML by its headings, sectioning elements, and figures and tables with captions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from attrs import evolve

from citekit.adapters.formats.html.classed_headings import classed_headings
from citekit.adapters.formats.html.implied_headings import implied_headings, slide_headings
from citekit.adapters.formats.html.lines import seen_letters
from citekit.adapters.formats.html.section_tree import Page
from citekit.adapters.formats.html.sections import read_page
from citekit.adapters.formats.shared.outline import Outline, OutlineItem, Outliner
from citekit.adapters.formats.shared.sections import section_items
from citekit.adapters.formats.shared.summaries import first_sentence
from citekit.adapters.formats.shared.text_file import TextFile, open_text
from citekit.adapters.formats.shared.titles import is_mistake, words_of
from citekit.domain.locations import Lines
from citekit.domain.progress import Progress
from citekit.domain.source import Source

SIZE_LIMIT = 32 * 1024 * 1024
"""The maximum size in bytes of a file that is parsed as HTML."""


_PARTING = re.compile(r"\s[|\u00b7\u2022\u00bb\u2013\u2014-]\s|\s?::\s")
"""Matches what separates the title of a page from the name of its site."""

_GUTENBERG = re.compile(
    r"(?:The )?Project Gutenberg(?:['\u2019]s| e-?(?:book|text),?(?: of)?) (.+?)(?:[,;]* by [^,;]*)?\W*", re.IGNORECASE
)


class HtmlOutliner:
    """Outlines HTML files by what readers see.

    `fallback` outlines files that are too large, and files in which neither headings, labeled sections, nor bold
    paragraphs that look like headings are found.
    """

    def __init__(self, fallback: Outliner) -> None:
        self._fallback = fallback

    def outline(self, source: Source, progress: Progress) -> Outline:
        """See `Outliner.outline`. The sections are nested by headings and elements."""
        text = open_text(source.path, progress)
        content = text.whole(SIZE_LIMIT)
        seen = None if content is None else seen_letters(content, source.path.name)
        page = Page() if content is None else read_page(content, text.line_count, seen)
        page.title = "" if is_mistake(page.title) else page.title
        if not any(item.type not in ("figure", "table") for item in page.items):
            implied = None if content is None else _by_implied_headings(page, text, content, seen)
            return implied or _without_headings(page, self._fallback.outline(source, progress))
        tree = page.outline_items(text.line_count)
        return Outline(
            title=_own_title(page.title, tree) or page.items[0].title,
            extent=text.extent,
            items=tree,
            facts=text.facts,
            notes=page.notes(),
        )


def _own_title(title: str, tree: Sequence[OutlineItem]) -> str:
    """Return the title of a page without the name of its site or its collection.

    These are left out if the rest is the first heading, with at least two words. The title of a page of Project
    Gutenberg is that of the book.
    """
    book = _GUTENBERG.fullmatch(title)
    if book:
        return book[1]
    first = next((item.title for item in tree if item.type not in ("preamble", "lines")), "")
    is_part = first.casefold() in (part.strip().casefold() for part in _PARTING.split(title))
    return first if is_part and len(words_of(first)) > 1 else title


def _by_implied_headings(page: Page, text: TextFile, content: str, seen: Mapping[int, str] | None) -> Outline | None:
    """Return an outline of a page without heading elements by its Markdown slides, classes, or bold paragraphs, or None."""
    headings, texts = slide_headings(content), dict[int, Sequence[str]]()
    for find in (classed_headings, implied_headings):
        if not headings:
            headings, below = find(content, seen)
            texts.update(below)
    if not headings:
        return None
    before = texts.pop(0, ())
    items = section_items(headings, text.line_count, {**texts, 1: before} if before else texts)
    title = page.title or ("" if before else headings[0].title)
    return Outline(title=title or None, extent=text.extent, items=items, facts=text.facts, notes=page.notes())


def _without_headings(page: Page, plain: Outline) -> Outline:
    """Return an outline with a single item for a page without headings.

    Its children are the captioned figures and tables, or else groups of lines as long as the items of `plain`. Return
    `plain` if the page has no text or was not parsed.
    """
    body = page.opening
    said = page.title or next((line for line in body if line), "")
    captions = tuple(outline_item for outline_item in page.outline_items(0) if outline_item.type in ("figure", "table"))
    if not said or not (plain.items or captions):
        return plain
    lines = Lines(1, plain.extent.lines or 1)
    below = captions or (tuple(_line_groups(plain)) if len(plain.items) > 1 else ())
    outline_item = OutlineItem(said, "page", lines, first_sentence(body, skip=page.title), below)
    return evolve(plain, title=page.title or None, items=(outline_item,), notes=[*plain.notes, *page.notes()])


def _line_groups(plain: Outline) -> Iterator[OutlineItem]:
    """Yield the groups of lines of `plain` without their titles, which are markup."""
    for item in plain.items:
        if isinstance(item.location, Lines):
            first, last = item.location.first, item.location.last
            yield OutlineItem(f"Lines {first}-{last}" if first < last else f"Line {first}", "lines", item.location)
