"""Leaves out heading candidates that belong to a heading or to a picture: the authors of articles, and captions."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

from citekit.adapters.formats.pdf.outline.heading_numbers import number_parts
from citekit.adapters.formats.pdf.outline.headings import LARGER_RATIO, BodyStyle, FontStyle, Heading
from citekit.adapters.formats.pdf.outline.pages import PageTexts
from citekit.domain.vocabulary import BYLINE, any_of

MIN_CAPTIONS = 4
"""The minimum number of numbered lines below pictures that are captions."""

CAPTION_SHARE = 2 / 3
"""The minimum share of the numbered lines in one style that are below pictures if they are captions."""

PICTURE_LINES = 6
"""The minimum height of a picture above its caption, as a multiple of the height of a line."""

PICTURE_PIXELS = 100
"""The minimum width and height of a picture with a caption in pixels."""

MAX_BYLINE_GAP = 1.5
"""The largest gap between a heading and the names of its authors, as a multiple of the height of their line."""

_BYLINE = re.compile(rf"(?i:{any_of(BYLINE)}):?\s+(?P<names>[^\W\d_][^\d:;!?]*)")
_SMALL = frozenset(
    ("de", "da", "del", "della", "der", "den", "di", "du", "el", "la", "le", "van", "von", "zu", "bin", "al")
)
_AND = frozenset(("and", "und", "et", "y", "e", "en", "och", "og", "i", "&"))
_WORD = re.compile(r"[^\W\d_][\w.’'-]*|&")


def without_bylines_and_captions(found: Sequence[Heading], texts: PageTexts, body: BodyStyle) -> list[Heading]:
    """Return the heading candidates without the names of authors directly below a heading (`By Ann Lee`), and without
    captions that have a number, but no word such as `Figure`.
    """
    bylines = {
        line
        for heading, line in pairwise(found)
        if _is_directly_below(heading, line) and is_byline(line.text) and not _are_words(line, texts)
    }
    captions = _captions(found, texts, body)
    return [heading for heading in found if heading not in bylines and heading not in captions]


def is_byline(text: str) -> bool:
    """Return whether `text` may name authors: a word such as `By`, and two or more words that begin with capitals."""
    found = _BYLINE.fullmatch(text)
    words = _WORD.findall(found["names"]) if found else []
    names = [word for word in words if word not in _SMALL and word not in _AND]
    return len(names) >= 2 and all(word[0].isupper() for word in names)


def _is_directly_below(heading: Heading, line: Heading) -> bool:
    last, first = heading.lines[-1], line.lines[0]
    near = last.top <= first.top < last.bottom + MAX_BYLINE_GAP * (first.bottom - first.top)
    return heading.page == line.page and heading.column == line.column and near


def _are_words(line: Heading, texts: PageTexts) -> bool:
    """Return whether the page of `line` has a long word of it in small letters, unlike names: `By Business Unit`."""
    found = _BYLINE.fullmatch(line.text)
    own = {word.casefold() for word in _WORD.findall(found["names"] if found else "") if len(word) > 3}
    return any(not own.isdisjoint(_WORD.findall(other.text)) for other in texts.lines(line.page))


def _captions(found: Sequence[Heading], texts: PageTexts, body: BodyStyle) -> set[Heading]:
    """Return the plainly numbered candidates, not larger than body text, in styles in which most are below pictures."""
    groups: dict[FontStyle, list[Heading]] = defaultdict(list)
    for heading in found:
        _, size, bold, _ = heading.style
        if not bold and size < LARGER_RATIO * body.size and len(number_parts(heading.text)) == 1:
            groups[heading.style].append(heading)
    return {
        heading
        for group in groups.values()
        if len(group) >= MIN_CAPTIONS
        and sum(_is_below_picture(each, texts) for each in group) >= CAPTION_SHARE * len(group)
        for heading in group
    }


def _is_below_picture(heading: Heading, texts: PageTexts) -> bool:
    """Return whether the page of `heading` has a picture, and room for it above `heading`."""
    first = heading.lines[0]
    above = (
        line.bottom
        for line in texts.displayed_lines(heading.page)
        if line.top < first.top and line.left < first.right and first.left < line.right
    )
    if first.top - max(above, default=0.0) < PICTURE_LINES * (first.bottom - first.top):
        return False
    images = texts.reader.images(heading.page)
    return any(min(image.width, image.height) >= PICTURE_PIXELS for image in images)
