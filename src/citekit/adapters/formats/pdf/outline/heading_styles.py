"""Selects the headings of a document: lines in styles that it uses for headings."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

from attrs import field, frozen

from citekit.adapters.formats.pdf.lazy import Lazy
from citekit.adapters.formats.pdf.outline.heading_numbers import is_label, number_parts, series_of, starts_series
from citekit.adapters.formats.pdf.outline.headings import (
    COMMON_HEADING,
    DOTTED_DEPTH,
    LARGER_RATIO,
    MUCH_LARGER_RATIO,
    SHORT_LENGTH,
    WORD,
    BodyStyle,
    FontStyle,
    Heading,
    is_capitals,
)
from citekit.adapters.formats.pdf.outline.lines import StyledLine
from citekit.adapters.formats.pdf.outline.mistaken_headings import without_bylines_and_captions
from citekit.adapters.formats.pdf.outline.pages import PageTexts
from citekit.adapters.formats.pdf.outline.rows import font_of

_OPENING = re.compile(r"(?:abstract|(?:(?:1|I)\.?\s+)?introduction)\b|1\.?\s", re.IGNORECASE)

Font = tuple[str, float, bool]
"""Font, size, and weight of a line."""

RUBRIC_COUNT = 8
"""The minimum number of occurrences of an unnumbered title that is a rubric, which is not a heading."""

PAGES_PER_RUBRIC = 8
"""A repeated title that occurs on average at most once in this many pages belongs to chapters, and is a heading."""

MIN_IN_CAPITALS = 3
"""The minimum number of bold lines in capitals that are the headings of a document without others."""

IN_CAPITALS = 1 / 3
"""The minimum share of such headings among the lines in capitals in their font. Other such lines are, for example, the
heads of a table.
"""

MIN_NUMBERED = 3
"""The minimum number of headings with dotted numbers that count even if other text uses their style.

Headings with plain numbers must be more than this.
"""

MIN_IN_PART = 8
"""The minimum number of plain numbers that count up from 1 in each of several parts, or in a part before the text of
paragraphs; those of lists are fewer.
"""

CROWDED_SHARE = 0.2
"""The share of a page's lines above which a style is a heading style on that page only if most of its lines head text."""

HEADS_SHARE = 2 / 3
"""The minimum share of a style's lines that head text if it is a heading style on a page with many such lines."""

MAX_HEAD_LINES = 2
"""The maximum number of lines of a heading among many in its style."""

MAX_HEAD_GAP = 2.0
"""The largest gap between such a heading and its text, as a multiple of the height of its line."""

CAPITALS_SHARE = 0.05
"""The minimum share of a font's lines that its headings in capitals, or those not in capitals, must have if only both
kinds together are half of the lines.
"""

MIN_HEADINGS_FOR_RARE = 20
"""Headings in a rare font are dropped only in a document with at least this many headings."""

MIN_HEADINGS_AFTER_TITLE = 8
"""The unnumbered headings of title pages are dropped only if at least this many headings remain."""

TITLE_PAGE_LENGTH = 200
"""The maximum number of characters of text on a title page."""

DIVIDER_LINES = 3
"""The maximum number of lines of a page that contains only the title of a part."""

HEADINGS_PER_PAGE = 6
"""The maximum average number of headings per page. With more, tags are ignored, and only larger headings and those
with dotted numbers or in a numbered series are kept.
"""

CAPITALS_PER_PAGE = 12
"""The maximum average number of bold lines in capitals per page that are the headings of a document without others. A
circular of one page has many.
"""


def select_headings(
    found: Sequence[Heading], texts: PageTexts, body: BodyStyle, skipped: frozenset[int]
) -> list[Heading]:
    """Return the heading candidates in `found` that have a heading style, without the document title.

    `skipped` are the pages of the table of contents. A style that fills much of a page does not count as a heading
    style on that page. If fewer than two headings are found, bold lines in capitals are the headings, if there are any.
    """
    chosen = _headings_by_style(found, texts, body, skipped)
    return chosen if len(chosen) > 1 else _headings_in_capitals(found, texts, body, skipped) or chosen


def _headings_by_style(
    found: Sequence[Heading], texts: PageTexts, body: BodyStyle, skipped: frozenset[int]
) -> list[Heading]:
    below = _Below(texts)
    found = without_bylines_and_captions(found, texts, body)
    alone = [each for each in found if not each.is_run_in]
    lines, crowded = _count_fonts(alone, texts, skipped, body, below)
    series = _headings_in_series(alone, body)
    by_number = {each for group in _by_style(alone).values() for each in _sections_by_number(group)}
    by_number |= _run_in_sections(found, by_number, texts.count)
    shown = {each for each in alone if each in series or (each.page, font_of(each.lines[0])) not in crowded}
    groups = _by_style([each for each in found if each in shown])
    used = {style: sum(len(heading.lines) for heading in group) for style, group in groups.items()}
    kept = {style for style, group in groups.items() if _is_heading_style(style, group, used, lines, body)}
    chosen = [each for each in found if each in series or each in by_number or (each.style in kept and each in shown)]
    chosen = _without_rubrics(_without_continuations(chosen), texts.count)
    chosen = _without_title_pages(_without_rare_fonts(chosen, texts), texts, body, skipped)
    if len(chosen) > HEADINGS_PER_PAGE * texts.count:
        numbered = {each for each in by_number | series if each.depth >= DOTTED_DEPTH or series_of(each.text)}
        chosen = [each for each in chosen if each.style[1] >= LARGER_RATIO * body.size or each in numbered]
    return _without_endings(_without_title(chosen), body, below)


def _run_in_sections(found: Sequence[Heading], others: Collection[Heading], page_count: int) -> set[Heading]:
    """Return the run-in headings whose numbers, and those of other headings in their style, count up, with the latter.

    With plain numbers, they are items of lists if `others` in another style, which stand alone, have them, too, or if
    they are few and on less than half of the pages. The letters and Roman numerals of run-in headings count in a style
    in which others have such numbers.
    """
    sections: set[Heading] = set()
    for style, group in _by_style(found).items():
        run_in = [each for each in group if each.is_run_in]
        numbered = [each for each in run_in if each.depth >= DOTTED_DEPTH]
        numbered = numbered if style[2] or _ascend(numbered) else []
        if run_in and all(each.style == style or each.depth >= DOTTED_DEPTH for each in others):
            plain = [each for each in _sections_by_number(group) if each.depth < DOTTED_DEPTH]
            pages = [each.page for each in plain if each.depth]
            spread = bool(pages) and 2 * (pages[-1] - pages[0] + 1) >= page_count
            numbered += plain if len(pages) >= MIN_IN_PART or spread else []
        if numbered:
            sections.update(numbered, (each for each in run_in if series_of(each.text)))
    return sections


def _ascend(numbered: Sequence[Heading]) -> bool:
    """Return whether most of several numbers with dots are higher than the one before."""
    numbers = [tuple(part.rjust(3) for part in number_parts(each.text)) for each in numbered]
    higher = sum(one < other for one, other in pairwise(numbers))
    return len(numbers) >= MIN_NUMBERED and higher * 3 >= 2 * (len(numbers) - 1)


def _headings_in_capitals(
    found: Sequence[Heading], texts: PageTexts, body: BodyStyle, skipped: frozenset[int]
) -> list[Heading]:
    """Return the unnumbered bold headings in capitals, in styles in which many lines in capitals are such headings.

    Other bold lines, such as the names of speakers in minutes, may be text. There are none if body text is bold, or if
    there are too many for the pages.
    """
    groups = _by_style([each for each in found if each.style[2] and each.style[3] and not (body.bold or each.depth)])
    if not any(len(group) >= MIN_IN_CAPITALS for group in groups.values()):
        return []
    lines = Counter(
        font_of(line)
        for page in range(1, texts.count + 1)
        for line in (() if page in skipped else texts.lines(page))
        if line.bold and is_capitals(line.text)
    )
    kept = {
        style
        for style, group in groups.items()
        if len(group) >= MIN_IN_CAPITALS and sum(len(each.lines) for each in group) >= IN_CAPITALS * lines[style[:3]]
    }
    chosen = [each for each in found if each.style in kept and not each.depth]
    return chosen if len(chosen) <= CAPITALS_PER_PAGE * texts.count else []


def _by_style(found: Sequence[Heading]) -> dict[FontStyle, list[Heading]]:
    groups: dict[FontStyle, list[Heading]] = defaultdict(list)
    for heading in found:
        groups[heading.style].append(heading)
    return groups


def _headings_in_series(found: Sequence[Heading], body: BodyStyle) -> set[Heading]:
    """Return the headings of numbered series, each in one style, and the common headings (see `COMMON_HEADING`) in
    these styles.

    The numbers of a series follow a word (`Item 1`, `Item 2`), or they are letters or Roman numerals. Short headings in
    other styles also belong to a series after a word if they have numbers that it lacks. After a word, only lines that
    are bold, larger than body text, or in capitals count: `Theorem 3` in italics often starts a sentence.
    """
    common: dict[FontStyle, list[Heading]] = defaultdict(list)
    named: dict[tuple[str, FontStyle], list[Heading]] = defaultdict(list)
    numbers: dict[tuple[str, FontStyle], set[str]] = defaultdict(set)
    for heading in found:
        own = series_of(heading.text)
        _, size, bold, capitals = heading.style
        if _is_common(heading):
            common[heading.style].append(heading)
        if own and (len(own[0]) == 1 or bold or capitals or size >= LARGER_RATIO * body.size):
            named[own[0], heading.style].append(heading)
            numbers[own[0], heading.style].add(own[1])
    proven = [
        (kind, style)
        for (kind, style), group in named.items()
        if starts_series(kind, numbers[kind, style])
        and (len(kind) == 1 or len(numbers[kind, style]) * 3 >= len(group) * 2)
    ]
    counted: dict[str, set[str]] = defaultdict(set)
    for kind, style in proven:
        counted[kind] |= numbers[kind, style]
    missing = [
        heading
        for (kind, _), group in named.items()
        for heading in (group if len(kind) > 1 and kind in counted else ())
        if len(heading.text) < SHORT_LENGTH and _number_in_series(heading) not in counted[kind]
    ]
    return {heading for key in proven for heading in (*named[key], *common[key[1]])}.union(missing)


def _number_in_series(heading: Heading) -> str:
    own = series_of(heading.text)
    return own[1] if own else ""


def _without_continuations(found: Sequence[Heading]) -> list[Heading]:
    """Return the headings without those that repeat the last one in their style at the same height a page or two later,
    as running headers do.
    """
    kept: list[Heading] = []
    last: dict[FontStyle, Heading] = {}
    for heading in found:
        before = last.get(heading.style)
        same = before is not None and before.text == heading.text and 0 < heading.page - before.page <= 2
        if before is None or not same or abs(before.y - heading.y) > 1:
            kept.append(heading)
        last[heading.style] = heading
    return kept


def _without_rubrics(found: Sequence[Heading], page_count: int) -> list[Heading]:
    """Return the headings without unnumbered titles that repeat at short distances, as in a reference work (`See
    also`).
    """
    seen = Counter(heading.text for heading in found if not heading.depth)
    limit = max(RUBRIC_COUNT, len(found) / 20)
    return [
        heading
        for heading in found
        if seen[heading.text] < limit or seen[heading.text] * PAGES_PER_RUBRIC <= page_count
    ]


def _without_rare_fonts(found: Sequence[Heading], texts: PageTexts) -> list[Heading]:
    """Return the headings without those that are probably words in a picture: unnumbered, in a rare font, and not at
    the top of a page. An italic font is not rare if its upright one is not.
    """
    if len(found) < MIN_HEADINGS_FOR_RARE:
        return list(found)
    used = Counter(map(_family_of, found))
    rare = max(2, len(found) // 100)
    fonts = Counter(heading.style[0] for heading in found)
    return [
        heading
        for heading in found
        if used[_family_of(heading)] > rare
        or fonts[heading.style[0]] > 2 * rare
        or heading.depth
        or series_of(heading.text)
        or _is_common(heading)
        or _begins_page(heading, texts)
    ]


def _family_of(heading: Heading) -> Font:
    """Return the font of a heading, with the name of its family without weight and slant."""
    font, size, bold, _ = heading.style
    return re.split(r"[-,]", font)[0], size, bold


def _begins_page(heading: Heading, texts: PageTexts) -> bool:
    return all(line.bottom >= heading.y for line in texts.displayed_lines(heading.page))


def _without_endings(found: Sequence[Heading], body: BodyStyle, below: _Below) -> list[Heading]:
    """Return the headings without unnumbered ones that head nothing, such as signatures: directly above a larger
    heading, or at the end of the document or of a page if the next page begins with a heading at least as large.
    """
    sizes = {(each.page, line.top, line.left): each.style[1] for each in found for line in each.lines}
    return [
        heading
        for heading in found
        if heading.depth
        or heading.style[1] >= MUCH_LARGER_RATIO * body.size
        or not heading.horizontal
        or series_of(heading.text)
        or is_label(heading.text)
        or _is_common(heading)
        or not _is_ending(heading, below, sizes)
    ]


def _is_ending(heading: Heading, below: _Below, sizes: Mapping[tuple[int, float, float], float]) -> bool:
    """Return whether `heading` ends a text; `sizes` has the size of each heading line, by its page, top, and left."""
    last, page, size = heading.lines[-1], heading.page, heading.style[1]
    after = below.next_to(heading)
    if after is not None:
        return sizes.get((page, after.top, after.left), 0) > size
    lines = below.sorted_lines[page]
    if len(lines) <= DIVIDER_LINES or lines[-1].top > last.bottom - 2:
        return False
    following = below.sorted_lines[page + 1] if page < below.texts.count else []
    return not following or sizes.get((page + 1, following[0].top, following[0].left), 0) >= size


def _without_title_pages(
    found: Sequence[Heading], texts: PageTexts, body: BodyStyle, skipped: frozenset[int]
) -> list[Heading]:
    """Return the headings without unnumbered ones on nearly empty first pages, unless too few would remain."""
    first = min(skipped, default=3)
    pages = {heading.page for heading in found if heading.page < first}
    bare = {page for page in pages if _text_length(page, texts, body) < TITLE_PAGE_LENGTH}
    rest = [heading for heading in found if heading.page not in bare or heading.depth]
    return rest if len(rest) >= MIN_HEADINGS_AFTER_TITLE else list(found)


def _text_length(page: int, texts: PageTexts, body: BodyStyle) -> int:
    """Return the number of characters on `page` in fonts not clearly larger than that of body text."""
    return sum(len(line.text) for line in texts.displayed_lines(page) if line.size < LARGER_RATIO * body.size)


def _count_fonts(
    found: Sequence[Heading], texts: PageTexts, skipped: frozenset[int], body: BodyStyle, below: _Below
) -> tuple[Counter[Font], set[tuple[int, Font]]]:
    """Return the number of lines in each font, and the (page, font) pairs in which the font crowds the page.

    Such a font has a large share of the lines, most of which do not head text, and is neither much larger than body
    text nor larger and bold. If it is not larger than body text, its lines on that page are not counted.
    """
    counted: Counter[Font] = Counter()
    crowded: set[tuple[int, Font]] = set()
    groups: dict[tuple[int, Font], list[Heading]] = defaultdict(list)
    for heading in found:
        groups[heading.page, font_of(heading.lines[0])].append(heading)
    for page in range(1, texts.count + 1):
        shown = [] if page in skipped else [line for line in texts.lines(page) if WORD.search(line.text)]
        own = Counter(map(font_of, shown))
        for font, times in own.items():
            _, size, bold = font
            many = times > max(5, CROWDED_SHARE * own.total())
            if many and size < (LARGER_RATIO if bold else MUCH_LARGER_RATIO) * body.size:
                heads = [heading for heading in groups[page, font] if _heads_text(heading, below)]
                if sum(len(heading.lines) for heading in heads) < HEADS_SHARE * times:
                    crowded.add((page, font))
            if (page, font) not in crowded or size >= LARGER_RATIO * body.size:
                counted[font] += times
    return counted, crowded


def _heads_text(heading: Heading, below: _Below) -> bool:
    """Return whether `heading` has at most two lines and text in another font closely below."""
    last, after = heading.lines[-1], below.next_to(heading)
    if after is None or len(heading.lines) > MAX_HEAD_LINES or font_of(after) == font_of(last):
        return False
    return after.top - last.bottom < MAX_HEAD_GAP * (last.bottom - last.top)


@frozen(eq=False)
class _Below:
    """Finds the lines below headings. The displayed lines of a page are sorted by their tops when they are first needed."""

    texts: PageTexts
    sorted_lines: Lazy[int, list[StyledLine]] = field(init=False)

    @sorted_lines.default
    def _sorted_when_needed(self) -> Lazy[int, list[StyledLine]]:
        return Lazy(lambda page: sorted(self.texts.displayed_lines(page), key=lambda line: line.top))

    def next_to(self, heading: Heading) -> StyledLine | None:
        """Return the first line below `heading` on its page that overlaps it horizontally, or None."""
        last, lines = heading.lines[-1], self.sorted_lines[heading.page]
        first = bisect_right(lines, (last.top + last.bottom) / 2, key=lambda line: line.top)
        after = (lines[at] for at in range(first, len(lines)))
        return next((line for line in after if line.left < last.right and last.left < line.right), None)


def _sections_by_number(group: Sequence[Heading]) -> list[Heading]:
    """Return the headings of `group` with dotted numbers (`3.2.1`), if these are mostly not repeated, and those with
    plain numbers, if these count up from 1. With plain numbers, the common headings of `group` are also returned.

    They are headings even if other text uses their style, too.
    """
    dotted = [heading for heading in group if heading.depth >= DOTTED_DEPTH]
    different = len({number_parts(heading.text) or heading.text for heading in dotted})
    plain = [heading for heading in group if heading.depth == 1 and number_parts(heading.text)]
    return [
        *(
            dotted
            if different * 10 >= len(dotted) * 9 and (len(dotted) >= MIN_NUMBERED or len(dotted) == len(group))
            else []
        ),
        *([*plain, *filter(_is_common, group)] if len(plain) > MIN_NUMBERED and _count_up(plain) else []),
    ]


def _count_up(numbered: Sequence[Heading]) -> bool:
    """Return whether plain numbers count up from 1 and at most one is missing, unlike those of lists and code.

    They may do so again in each of the long parts of a document, such as annexes.
    """
    numbers = [int(first) for heading in numbered if (first := number_parts(heading.text)[0]).isdecimal()]
    if not numbers:
        return False
    starts = [0, *(at for at in range(1, len(numbers)) if numbers[at] <= numbers[at - 1]), len(numbers)]
    runs = [numbers[start:end] for start, end in pairwise(starts)]
    return all(run[0] == 1 and run[-1] <= len(run) + 1 and (len(runs) == 1 or len(run) >= MIN_IN_PART) for run in runs)


def _is_common(heading: Heading) -> bool:
    return bool(COMMON_HEADING.fullmatch(heading.text))


def _is_heading_style(
    style: FontStyle, group: Sequence[Heading], used: dict[FontStyle, int], lines: Counter[Font], body: BodyStyle
) -> bool:
    font, size, bold, capitals = style
    other, all_of_type = used.get((font, size, bold, not capitals), 0), lines[font, size, bold]
    beside = (used[style] + other) * 2 >= all_of_type and used[style] >= CAPITALS_SHARE * all_of_type
    if used[style] * 2 < all_of_type and not beside:
        return False  # most lines in this font are text
    if any(line.mono for line in group[0].lines) and not body.mono and not _sections_by_number(group):
        return False
    if size < LARGER_RATIO * body.size and sum(heading.text[:1].islower() for heading in group) * 2 > len(group):
        return False  # terms that are defined, or names of functions
    texts = Counter(heading.text for heading in group)
    return len(texts) * 4 >= len(group)


def _without_title(found: Sequence[Heading]) -> list[Heading]:
    """Return the headings without the document title, authors, and headings of the title page before the first number.

    The title is the headings of the largest size, if they are all on one of the first two pages and are neither
    numbered nor common.
    """
    if len(found) < 3:
        return list(found)
    largest = max(heading.style[1] for heading in found)
    titles = [heading for heading in found if heading.style[1] == largest]
    rest = [heading for heading in found if heading not in titles]
    on_one_page = len({heading.page for heading in titles}) == 1 and titles[0].page <= 2
    if rest and on_one_page and not titles[0].depth and not any(map(_is_common, titles)):
        first = next((index for index, heading in enumerate(rest) if heading.depth), 0)
        found = [heading for index, heading in enumerate(rest) if index >= first or heading.page > titles[0].page]
    return _without_authors(found)


def _without_authors(found: Sequence[Heading]) -> list[Heading]:
    """Return the headings without unnumbered ones on the first page before the abstract or the introduction."""
    first = next((at for at, heading in enumerate(found) if heading.page == 1 and _OPENING.match(heading.text)), 0)
    numbered = {heading for heading in found[:first] if heading.depth or series_of(heading.text)}
    return [heading for at, heading in enumerate(found) if at >= first or heading in numbered or _is_common(heading)]
