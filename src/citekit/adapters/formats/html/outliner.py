"""Outlines HTML by its headings, sectioning elements, and figures and tables with captions."""

from __future__ import annotations

from attrs import evolve

from citekit.adapters.formats.html.lines import seen_letters
from citekit.adapters.formats.html.section_tree import Page
from citekit.adapters.formats.html.sections import read_page
from citekit.adapters.formats.shared.outline import Outline, OutlineItem, Outliner
from citekit.adapters.formats.shared.summaries import first_sentence
from citekit.adapters.formats.shared.text_file import open_text
from citekit.domain.locations import Lines
from citekit.domain.progress import Progress
from citekit.domain.source import Source

SIZE_LIMIT = 32 * 1024 * 1024
"""The maximum size in bytes of a file that is parsed as HTML."""


class HtmlOutliner:
    """Outlines HTML files by what readers see.

    `fallback` outlines files that are too large or have neither a heading nor a labeled section.
    """

    def __init__(self, fallback: Outliner) -> None:
        self._fallback = fallback

    def outline(self, source: Source, progress: Progress) -> Outline:
        """See `Outliner.outline`. The sections are nested by headings and elements."""
        text = open_text(source.path, progress)
        content = text.whole(SIZE_LIMIT)
        seen = None if content is None else seen_letters(content, source.path.name)
        page = Page() if content is None else read_page(content, text.line_count, seen)
        if not any(item.type not in ("figure", "table") for item in page.items):
            return _without_headings(page, self._fallback.outline(source, progress))
        tree = page.outline_items(text.line_count)
        return Outline(
            title=page.title or page.items[0].title,
            extent=text.extent,
            items=tree,
            facts=text.facts,
            notes=page.notes(),
        )


def _without_headings(page: Page, plain: Outline) -> Outline:
    """Return an outline with a single item for a page without headings.

    The children of the item are the captioned figures and tables, or else the items of `plain` if there are several.
    Return `plain` if the page has no text, or if it has no such figures and tables and `plain` has no items.
    """
    body = page.opening
    said = page.title or next((line for line in body if line), "")
    captions = tuple(outline_item for outline_item in page.outline_items(0) if outline_item.type in ("figure", "table"))
    if not said or not (plain.items or captions):
        return plain
    lines = Lines(1, plain.extent.lines or 1)
    below = captions or (plain.items if len(plain.items) > 1 else ())
    outline_item = OutlineItem(said, "page", lines, first_sentence(body, skip=page.title), below)
    return evolve(plain, title=page.title or None, items=(outline_item,), notes=[*plain.notes, *page.notes()])
