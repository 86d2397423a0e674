"""Finds the titles of slides: the lines in one style with which most pages of a presentation begin."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from citekit.adapters.formats.pdf.outline.heading_styles import Font
from citekit.adapters.formats.pdf.outline.headings import WORD, Heading
from citekit.adapters.formats.pdf.outline.lines import StyledLine
from citekit.adapters.formats.pdf.outline.pages import PageTexts
from citekit.adapters.formats.pdf.outline.rows import font_of

WIDE_PAGES = 3
"""The number of first pages whose shape tells a presentation from other documents."""

TITLE_SHARE = 0.5
"""The share of pages that must begin with a line in the style of titles."""


def slide_titles(texts: PageTexts) -> list[Heading]:
    """Return the title of each slide that has one; none if the document is no presentation.

    Most slides begin with a line in the style of titles, and few lines elsewhere have it.
    """
    if texts.count < WIDE_PAGES or not all(_is_wide(texts, page) for page in range(1, WIDE_PAGES + 1)):
        return []
    slides = {
        page: sorted(texts.displayed_lines(page), key=lambda line: line.top) for page in range(1, texts.count + 1)
    }
    slides = {page: lines for page, lines in slides.items() if lines}
    first = Counter(font_of(lines[0]) for lines in slides.values())
    if not first:
        return []
    style, pages = first.most_common(1)[0]
    used = sum(font_of(line) == style for lines in slides.values() for line in lines)
    if pages < TITLE_SHARE * texts.count or used > 2 * pages:
        return []
    return [_heading(page, lines, style) for page, lines in slides.items() if _is_title(lines[0], style)]


def _is_wide(texts: PageTexts, page: int) -> bool:
    shape = texts.reader.document[page - 1].rect
    return bool(shape.width > shape.height)


def _is_title(line: StyledLine, style: Font) -> bool:
    """Return whether `line` is in the font of titles and at least as large as most of them, as on a cover."""
    font, size, _ = style
    return line.font == font and line.size >= size and bool(WORD.search(line.text))


def _heading(page: int, lines: Sequence[StyledLine], style: Font) -> Heading:
    """Return the first line, with the next lines that look like it, as the title of the slide `page`."""
    title = [lines[0]]
    for line in lines[1:]:
        if font_of(line) != font_of(title[0]) or line.top - title[-1].bottom > line.bottom - line.top:
            break
        title.append(line)
    return Heading(" ".join(line.text for line in title), page, tuple(title), (*style, False), 0, 0)
