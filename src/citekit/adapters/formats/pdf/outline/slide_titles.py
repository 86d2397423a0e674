"""Finds the titles of slides: the lines in one style with which many pages of a presentation begin."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from citekit.adapters.formats.pdf.outline.heading_styles import Font
from citekit.adapters.formats.pdf.outline.headings import WORD, Heading
from citekit.adapters.formats.pdf.outline.lines import StyledLine
from citekit.adapters.formats.pdf.outline.pages import PageTexts
from citekit.adapters.formats.pdf.outline.rows import font_of
from citekit.domain.errors import CiteKitError

WIDE_PAGES = 3
"""The number of first pages whose shape distinguishes a presentation from other documents."""

TITLE_SHARE = 0.4
"""The minimum share of the slides with text that must have titles in one style."""

LABEL_RATIO = 0.25
"""Text smaller than this multiple of the size of titles is that of a diagram. A slide with no other text needs no title."""

TOP = 0.35
"""The part of a slide, from its top, in which its title begins."""

NEARLY = 0.9
"""The smallest size of a title in another font, as a multiple of the size of titles."""

SHRUNK = 0.75
"""The smallest size of a long title that a program shrank to fit, as a multiple of the size of titles. It is larger than
all other text of its slide.
"""


def slide_titles(texts: PageTexts) -> list[Heading]:
    """Return the title of each slide that has one; none if the document is not a presentation.

    The title of a slide is the first of the largest lines at its top, except lines on more than half of the slides. At
    least `TITLE_SHARE` of the slides with text must have titles in one style, and at least half of the lines in this
    style must be such titles. Consecutive slides with the same title yield one title.
    """
    if texts.count < WIDE_PAGES or not all(_is_wide(texts, page) for page in range(1, WIDE_PAGES + 1)):
        return []
    slides = {page: texts.all_displayed_lines(page) for page in range(1, texts.count + 1)}
    repeated = Counter(text for lines in slides.values() for text in {line.text for line in lines})
    slides = {
        page: sorted((line for line in lines if 2 * repeated[line.text] <= texts.count), key=lambda line: line.top)
        for page, lines in slides.items()
    }
    titles = {page: at for page, lines in slides.items() if (at := _title_at(lines, texts.height(page))) is not None}
    largest = max((slides[page][at].size for page, at in titles.items()), default=0.0)
    titles = {page: at for page, at in titles.items() if slides[page][at].size >= LABEL_RATIO * largest}
    styles = Counter(font_of(slides[page][at]) for page, at in titles.items())
    if not styles:
        return []
    style = styles.most_common(1)[0][0]
    found = [
        _heading(page, slides[page][at:], style) for page, at in titles.items() if _is_title(slides[page], at, style)
    ]
    with_text = sum(any(line.size >= LABEL_RATIO * style[1] for line in lines) for lines in slides.values())
    used = sum(font_of(line) == style for lines in slides.values() for line in lines)
    if len(found) < TITLE_SHARE * with_text or used > 2 * len(found):
        return []
    # A slide that is shown step by step consists of several pages with one title.
    return found[:1] + [each for before, each in pairwise(found) if before.text != each.text]


def _title_at(lines: Sequence[StyledLine], height: float) -> int | None:
    """Return the index of the first of the largest lines at the top of a slide, or None if no words are there."""
    above = [at for at, line in enumerate(lines) if line.top < TOP * height and WORD.search(line.text)]
    return max(above, key=lambda at: (lines[at].size, -at), default=None)


def _is_title(lines: Sequence[StyledLine], at: int, style: Font) -> bool:
    """Return whether the line at the index `at`, one of the largest at the top of its slide, is its title, if most titles
    have the font `style`.
    """
    line, (font, size, bold) = lines[at], style
    if line.size >= (1 if line.font == font else NEARLY) * size:
        return True
    own = {id(each) for each in _title_lines(lines[at:])}
    alone = all(each.size < line.size for each in lines if id(each) not in own)
    return alone and (line.font, line.bold) == (font, bold) and line.size >= SHRUNK * size


def _is_wide(texts: PageTexts, page: int) -> bool:
    """Return whether a page is wider than high; True for a page that cannot be read, so that the others decide."""
    try:
        shape = texts.reader.document[page - 1].rect
    except CiteKitError:
        raise
    except Exception:  # a damaged or too complex page; PyMuPDF can raise any exception then
        return True
    return bool(shape.width > shape.height)


def _heading(page: int, lines: Sequence[StyledLine], style: Font) -> Heading:
    """Return the title of the slide `page`, with which `lines` begin."""
    title = tuple(_title_lines(lines))
    return Heading(" ".join(line.text for line in title), page, title, (*style, False), 0, 0)


def _title_lines(lines: Sequence[StyledLine]) -> list[StyledLine]:
    """Return the first line, with the next lines that look like it."""
    title = [lines[0]]
    for line in lines[1:]:
        if font_of(line) != font_of(title[0]) or line.top - title[-1].bottom > line.bottom - line.top:
            break
        title.append(line)
    return title
