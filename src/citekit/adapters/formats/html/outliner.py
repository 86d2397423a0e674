"""HTML: sections by headings and sectioning elements, with the figures and tables that have a caption."""

from __future__ import annotations

from attrs import evolve

from citekit.adapters.formats.html.section_tree import Page
from citekit.adapters.formats.html.sections import read_page
from citekit.adapters.formats.shared.outline import Outline, OutlineItem, Outliner
from citekit.adapters.formats.shared.summaries import first_sentence
from citekit.adapters.formats.shared.text_file import open_text
from citekit.domain.locations import Lines
from citekit.domain.progress import Progress
from citekit.domain.source import Source

SIZE_LIMIT = 32 * 1024 * 1024
"""Bytes of the largest file that is read as HTML; a larger one is mapped as plain text."""


class HtmlOutliner:
    """`fallback` maps files that are too large, or hold neither a heading nor a labelled section."""

    def __init__(self, fallback: Outliner) -> None:
        self._fallback = fallback

    def outline(self, source: Source, progress: Progress) -> Outline:
        """Sections nested by their headings and elements. Raises `SourceUnreadable`."""
        text = open_text(source.path, progress)
        content = text.whole(SIZE_LIMIT)
        page = Page() if content is None else read_page(content, text.line_count)
        if not any(item.type not in ("figure", "table") for item in page.items):
            return _without_headings(page, self._fallback.outline(source, progress))
        drafts = page.outline_items(text.line_count)
        return Outline(
            title=page.title or page.items[0].title,
            bounds=text.bounds,
            items=drafts,
            facts=text.facts,
        )


def _without_headings(page: Page, plain: Outline) -> Outline:
    """One node for the whole page; below it its captions, or the groups of the plain text where there are several."""
    body = page.opening
    said = page.title or next((line for line in body if line), "")
    captions = tuple(draft for draft in page.outline_items(0) if draft.type in ("figure", "table"))
    if not said or not (plain.items or captions):
        return plain
    lines = Lines(1, plain.bounds.lines or 1)
    below = captions or (plain.items if len(plain.items) > 1 else ())
    draft = OutlineItem(said, "page", lines, first_sentence(body, skip=page.title), below)
    return evolve(plain, title=page.title or None, items=(draft,))
