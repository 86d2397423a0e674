"""Which types of lines are headings, where no table of contents says so: those that are used as headings throughout."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from citekit.adapters.mapping.local.pdf.headings import LARGER, WORD, Body, Heading, Style
from citekit.adapters.mapping.local.pdf.lines import Typed
from citekit.adapters.mapping.local.pdf.pages import PageTexts

Type = tuple[str, float, bool]
"""Font, size and weight of a line."""

RUBRIC = 8
"""How often a title without a number may be repeated."""

CROWDED = 0.2
"""The part of a page's lines in one style from which on it is no style of headings there."""

PER_PAGE = 6
"""Headings a page on average; more are the cells of tables or the noise of a scan."""


def heading_styles(found: Sequence[Heading], texts: PageTexts, body: Body, skipped: frozenset[int]) -> list[Heading]:
    """Those of `found` whose style is one of headings, without the title of the document; `skipped` are pages of contents.

    A style that prints much of a page (a form, a chart) is none of headings there.
    """
    lines, crowded = _lines_of(texts, skipped, body)
    found = [heading for heading in found if (heading.page, _type(heading.lines[0])) not in crowded]
    groups: dict[Style, list[Heading]] = defaultdict(list)
    for heading in found:
        groups[heading.style].append(heading)
    kept = {style for style, group in groups.items() if _is_heading(style, group, lines, body)}
    chosen = _without_rubrics([heading for heading in found if heading.style in kept])
    if len(chosen) > PER_PAGE * texts.count:
        chosen = [heading for heading in chosen if heading.style[1] >= LARGER * body.size]
    return _without_title(chosen)


def _type(line: Typed) -> Type:
    return line.font, line.size, line.bold


def _without_rubrics(found: Sequence[Heading]) -> list[Heading]:
    """The headings without those that say the same all through the document (`See also`, `Usage`) without a number."""
    seen = Counter(heading.text for heading in found if not heading.depth)
    return [heading for heading in found if seen[heading.text] < max(RUBRIC, len(found) / 20)]


def _lines_of(texts: PageTexts, skipped: frozenset[int], body: Body) -> tuple[Counter[Type], set[tuple[int, Type]]]:
    """How many lines of each type there are, and the pages where a type not larger than the text prints much."""
    counted: Counter[Type] = Counter()
    crowded: set[tuple[int, Type]] = set()
    for page in range(1, texts.count + 1):
        shown = [] if page in skipped else [line for line in texts.lines(page) if WORD.search(line.text)]
        own = Counter(map(_type, shown))
        for type_, times in own.items():
            if times > CROWDED * own.total() and times > 5 and type_[1] < LARGER * body.size:
                crowded.add((page, type_))
            else:
                counted[type_] += times
    return counted, crowded


def _is_heading(style: Style, group: Sequence[Heading], lines: Counter[Type], body: Body) -> bool:
    font, size, bold, _ = style
    used = sum(len(heading.lines) for heading in group)
    if used * 2 < lines[font, size, bold] and not all(heading.depth for heading in group):
        return False  # most lines of this type are text
    if any(line.mono for line in group[0].lines) and not body.mono and not any(heading.depth for heading in group):
        return False
    if size < LARGER * body.size and sum(heading.text[:1].islower() for heading in group) * 2 > len(group):
        return False  # terms that are defined, or names of functions
    texts = Counter(heading.text for heading in group)
    return len(texts) * 4 >= len(group)


def _without_title(found: Sequence[Heading]) -> list[Heading]:
    """The headings without those of the title page: larger than, or as large as, anything after it, and alone so."""
    if len(found) < 3:
        return list(found)
    largest = max(heading.style[1] for heading in found)
    titles = [heading for heading in found if heading.style[1] == largest]
    if len({heading.page for heading in titles}) == 1 and titles[0].page <= 2 and not titles[0].depth:
        rest = [heading for heading in found if heading not in titles]
        first = next((place for place, heading in enumerate(rest) if heading.depth), 0)
        return [heading for place, heading in enumerate(rest) if place >= first or heading.page > titles[0].page]
    return list(found)
