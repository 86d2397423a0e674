"""Which types of lines are headings, where no table of contents says so: those that are used as headings throughout."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise

from citekit.adapters.formats.pdf.outline.heading_numbers import parts_of
from citekit.adapters.formats.pdf.outline.headings import LARGER, USUAL, WORD, Body, Heading, Style
from citekit.adapters.formats.pdf.outline.lines import Typed
from citekit.adapters.formats.pdf.outline.pages import PageTexts

Type = tuple[str, float, bool]
"""Font, size and weight of a line."""

RUBRIC = 8
"""How often a title without a number may be repeated."""

DOTTED = 2
"""The depth of a number that has a dot."""

COUNTED = 3
"""Headings with such numbers in one style, from which on they are headings whatever else is printed in it."""

CROWDED = 0.2
"""The part of a page's lines in one style from which on it is no style of headings there."""

BESIDE = 0.05
"""The part of the lines of a type of headings that those in capitals (or not) make up, where they are headings too."""

ENOUGH = 20
"""Headings of a document in which a type that is hardly ever used is none of headings."""

AFTER_TITLE = 8
"""Headings after a title page, from which on its lines are known to be none."""

SPARE = 3
"""Lines of text that a title page has at most."""

SENTENCE = 45
"""Characters of a line of running text at least."""

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
    used = {style: sum(len(heading.lines) for heading in group) for style, group in groups.items()}
    kept = {style for style, group in groups.items() if _is_heading(style, group, used, lines, body)}
    counted = {style for style, group in groups.items() if style not in kept and _is_counted(group)}
    chosen = [each for each in found if each.style in kept or (each.style in counted and each.depth >= DOTTED)]
    chosen = _without_rubrics(chosen)
    chosen = _without_title_pages(_without_stray(chosen, texts), texts, body, skipped)
    if len(chosen) > PER_PAGE * texts.count:
        chosen = [heading for heading in chosen if heading.style[1] >= LARGER * body.size]
    return _without_title(chosen)


def _type(line: Typed) -> Type:
    return line.font, line.size, line.bold


def _without_rubrics(found: Sequence[Heading]) -> list[Heading]:
    """The headings without those that say the same all through the document (`See also`, `Usage`) without a number."""
    seen = Counter(heading.text for heading in found if not heading.depth)
    return [heading for heading in found if seen[heading.text] < max(RUBRIC, len(found) / 20)]


def _without_stray(found: Sequence[Heading], texts: PageTexts) -> list[Heading]:
    """The headings without those of a type hardly ever used, which are words in pictures: they stand within a page and
    have neither a number nor a usual name."""
    if len(found) < ENOUGH:
        return list(found)
    used = Counter(heading.style[:3] for heading in found)
    rare = max(2, len(found) // 100)
    fonts = Counter(heading.style[0] for heading in found)
    return [
        heading
        for heading in found
        if used[heading.style[:3]] > rare
        or fonts[heading.style[0]] > 2 * rare
        or heading.depth
        or USUAL.fullmatch(heading.text)
        or _begins(heading, texts)
    ]


def _begins(heading: Heading, texts: PageTexts) -> bool:
    """Whether nothing stands above the heading on its page."""
    return all(line.bottom >= heading.y for line in texts.shown(heading.page))


def _without_title_pages(
    found: Sequence[Heading], texts: PageTexts, body: Body, skipped: frozenset[int]
) -> list[Heading]:
    """The headings without those on pages before the contents, or the first two, that hold next to no text."""
    first = min(skipped, default=3)
    pages = {heading.page for heading in found if heading.page < first}
    bare = {page for page in pages if _text_on(page, texts, body) <= SPARE}
    rest = [heading for heading in found if heading.page not in bare or heading.depth]
    return rest if len(rest) >= AFTER_TITLE else list(found)


def _text_on(page: int, texts: PageTexts, body: Body) -> int:
    """How many lines of text a page has that are as long as a sentence."""
    return sum(line.size < LARGER * body.size and len(line.text) > SENTENCE for line in texts.shown(page))


def _lines_of(texts: PageTexts, skipped: frozenset[int], body: Body) -> tuple[Counter[Type], set[tuple[int, Type]]]:
    """How many lines of each type there are, and the pages where a type not larger than the text prints much."""
    counted: Counter[Type] = Counter()
    crowded: set[tuple[int, Type]] = set()
    for page in range(1, texts.count + 1):
        shown = [] if page in skipped else [line for line in texts.lines(page) if WORD.search(line.text)]
        own = Counter(map(_type, shown))
        for type_, times in own.items():
            if times <= max(5, CROWDED * own.total()) or type_[1] >= LARGER * body.size:
                counted[type_] += times
            elif not _spread(shown, type_):
                crowded.add((page, type_))
    return counted, crowded


def _spread(shown: Sequence[Typed], type_: Type) -> bool:
    """Whether lines of one type mostly have others between them, as headings do that have text below each."""
    own = [_type(line) == type_ for line in shown]
    return sum(one and other for one, other in pairwise(own)) * 4 <= sum(own) and sum(own) * 2 < len(own)


def _is_counted(group: Sequence[Heading]) -> bool:
    """Whether a style that prints other things, too, is that of headings where numbers with dots (`3.2.1`) say so."""
    numbers = [parts_of(heading.text) for heading in group if heading.depth >= DOTTED]
    return len(numbers) >= COUNTED and len(set(numbers)) * 10 >= len(numbers) * 9


def _is_heading(
    style: Style, group: Sequence[Heading], used: dict[Style, int], lines: Counter[Type], body: Body
) -> bool:
    font, size, bold, capitals = style
    other, all_of_type = used.get((font, size, bold, not capitals), 0), lines[font, size, bold]
    numbered = sum(bool(heading.depth) for heading in group) * 2 > len(group)
    beside = numbered and other * 2 >= all_of_type and used[style] >= BESIDE * all_of_type
    if used[style] * 2 < all_of_type and not beside and not all(heading.depth for heading in group):
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
