"""Derives the sections of a PDF from its printed table of contents (TOC) and its headings, and adds headings to
bookmarks.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from heapq import merge

from attrs import evolve, frozen

from citekit.adapters.formats.pdf.outline.heading_levels import depths_of, levels_of
from citekit.adapters.formats.pdf.outline.heading_location import Section
from citekit.adapters.formats.pdf.outline.heading_numbers import depth_of
from citekit.adapters.formats.pdf.outline.heading_styles import select_headings
from citekit.adapters.formats.pdf.outline.headings import LARGER_RATIO, BodyStyle, Heading, body_style_of, headings_on
from citekit.adapters.formats.pdf.outline.lines import StyledLine, columns_as_lines, is_vertical
from citekit.adapters.formats.pdf.outline.marginal_notes import with_marginal_notes
from citekit.adapters.formats.pdf.outline.pages import PageTexts, title_letters
from citekit.adapters.formats.pdf.outline.reference_entries import merge_headings, reference_headings
from citekit.adapters.formats.pdf.outline.rows import font_of
from citekit.adapters.formats.pdf.outline.slide_titles import LABEL_RATIO, slide_titles
from citekit.adapters.formats.pdf.outline.toc import Toc, TocTarget, locate_toc, title_key
from citekit.adapters.formats.pdf.outline.toc_entries import TocEntry
from citekit.adapters.formats.pdf.outline.toc_tables import FIRST_PAGES, outside_toc, read_toc_tables

PAGES_PER_ENTRY = 4
"""The maximum number of pages per entry of a printed TOC that is assumed to name all headings.

Bookmarks are assumed to name all headings with the same number of pages per bookmark.
"""

PAGES_PER_CHAPTER = 2
"""The maximum number of pages per entry of a printed TOC, mostly of one level, that is assumed to name all headings."""

TOP_SHARE = 0.7
"""The minimum share of the entries of a TOC that have its highest level if headings of more levels may replace it."""

NEARLY_ALL = 0.8
"""The minimum share of the entries of such a TOC that headings of more levels must include to replace it."""

CONFIRMED_SHARE = 0.5
"""If headings found by style include at least this share of the sections of a TOC, their number shows whether the TOC
is incomplete (see `INCOMPLETE_RATIO`).
"""

INCOMPLETE_RATIO = 1.3
"""The TOC is incomplete if there are more headings by style than this multiple of its entries."""

NAMED_RATIO = 2.0
"""The TOC is assumed to leave out a style that has more headings than this multiple of those that the TOC names."""

FEW_BOOKMARKS = 10
"""If a short document has at most this many bookmarks, they are compared with its headings."""

STRAY_SHARE = 0.2
"""Headings are placed between the bookmarks if at most this share of the bookmarks is out of order."""

PAGE_LIMIT = 5000
"""The maximum number of pages of a document whose text is searched for sections, at 5 to 10 ms each."""


@frozen
class TextSections:
    """The sections of a document in reading order, from a printed TOC (`is_printed`) or headings, and its `texts` as
    they were read.
    """

    sections: Sequence[Section]
    texts: PageTexts
    is_printed: bool = False


def sections_of_text(texts: PageTexts, use_toc: bool = True) -> TextSections:
    """Return the sections that a printed table of contents (TOC) or else headings show.

    There are none if nothing indicates a structure, or if there are more than `PAGE_LIMIT` pages. If `use_toc` is
    false, the printed TOC is ignored. If a TOC at the front of the document names nearly every heading, pages are read
    quickly.
    """
    if texts.count > PAGE_LIMIT:
        return TextSections([], texts)
    texts = texts.quickly()
    tables: Sequence[Sequence[TocEntry]] = ()
    if use_toc:
        tables, texts = read_toc_tables(texts, in_front=True)
        if sum(map(len, tables)) * PAGES_PER_ENTRY >= texts.count:
            texts = texts.with_all_headers_footers()
            if named := _sections_of_front_toc(texts, tables):
                return TextSections(named, texts, is_printed=True)
    texts = texts.exactly().with_all_headers_footers()
    searched = 0 if tables or not use_toc else FIRST_PAGES
    promised = locate_toc(texts, read_toc_tables(texts, after=searched)[0])
    kept = _headings_outside_toc(texts, promised.pages)
    told = _sections_of_headings(kept)
    named = _sections_of_toc(promised)
    is_dense = _is_dense(promised, texts.count)
    is_shallow = is_dense and _is_top_level_of(named, told)
    if promised.targets and use_toc and not is_shallow and covers(named, told):
        complete = named if is_dense else _with_subheadings(promised, kept)
        return TextSections(complete, texts, is_printed=True)
    told = _with_entries(told, named) if use_toc and is_shallow else told
    return TextSections(_without_gaps(told), texts)


def _with_entries(headings: Sequence[Section], named: Sequence[Section]) -> list[Section]:
    """Return the headings, and the sections `named` by a flat TOC that are not among them, on the level of the others."""
    said = {(title_key(each.title), each.page): each.level for each in headings}
    levels = Counter(said.get((title_key(each.title), each.page), 0) for each in named)
    del levels[0]
    level = max(levels, key=lambda each: levels[each])
    lost = [evolve(each, level=level) for each in named if (title_key(each.title), each.page) not in said]
    return list(merge(headings, lost, key=lambda each: (each.page, 0.0 if math.isnan(each.y) else each.y)))


def _sections_of_headings(kept: Sequence[Heading]) -> list[Section]:
    """Return the headings as sections; none for a single heading, which is not a structure."""
    levels = levels_of(kept) if len(kept) > 1 else []
    return [_section(heading, level) for heading, level in zip(kept, levels, strict=False)]


def covers(named: Sequence[Section], headings: Sequence[Section]) -> bool:
    """Return whether the sections `named` by a TOC cover the `headings` that are found by their style.

    They do not if many headings are outside of their pages (see `spans`). They also do not if headings confirm most of
    them, but are clearly more than these on the same levels.
    """
    keys = {(title_key(each.title), each.page) for each in named}
    confirmed = [each for each in headings if (title_key(each.title), each.page) in keys]
    deepest = max((each.level for each in confirmed), default=0)
    as_deep = sum(each.level <= deepest for each in headings)
    few = len(confirmed) >= CONFIRMED_SHARE * len(named) and as_deep > INCOMPLETE_RATIO * len(named)
    return not few and spans(named, headings)


def spans(named: Sequence[Section], headings: Sequence[Section]) -> bool:
    """Return whether few of the `headings` are outside of the pages from the first to the last of the sections `named`.

    Few are at most half of the headings, or at most as many as there are sections.
    """
    first, last = min(each.position for each in named), max(each.page for each in named)
    outside = sum(each.position < first or each.page > last for each in headings)
    return 2 * outside <= max(len(headings), 2 * len(named))


def _is_top_level_of(named: Sequence[Section], headings: Sequence[Section]) -> bool:
    """Return whether most of the sections `named` by a TOC have its highest level, and nearly all of them are among
    `headings`, which have more levels.
    """
    said = {(title_key(each.title), each.page) for each in headings}
    confirmed = sum((title_key(each.title), each.page) in said for each in named)
    deeper = len({each.level for each in headings}) > len({each.level for each in named})
    return deeper and _is_flat(named) and confirmed >= NEARLY_ALL * len(named)


def _is_flat(entries: Sequence[Section | TocTarget]) -> bool:
    """Return whether most of the entries of a TOC have its highest level."""
    levels = Counter(each.level for each in entries)
    return bool(levels) and levels[min(levels)] >= TOP_SHARE * len(entries)


def _sections_of_front_toc(texts: PageTexts, tables: Sequence[Sequence[TocEntry]]) -> list[Section]:
    """Return the sections of a TOC on the first pages if it names nearly every heading."""
    promised = locate_toc(texts, tables)
    if not promised.targets or not _is_dense(promised, texts.count):
        return []
    if _is_flat(promised.targets) and len(promised.targets) * PAGES_PER_CHAPTER < texts.count:
        return []
    return (
        _sections_of_toc(promised)
        if _has_numbered_deepest_level(promised)
        else _with_subheadings(promised, _larger_headings(texts, promised))
    )


def _has_numbered_deepest_level(contents: Toc) -> bool:
    """Return whether the deepest level of the TOC has dotted numbers, so that unnumbered headings below it are not
    sections.
    """
    deepest = max(each.level for each in contents.targets)
    own = [each for each in contents.targets if each.level == deepest]
    return sum(depth_of(each.title) > 1 for each in own) * 3 > len(own)


def _larger_headings(texts: PageTexts, contents: Toc) -> list[Heading]:
    """Return the headings that are larger than body text, from pages with lines in a large font that the TOC does not
    name.
    """
    body, named = body_style_of(texts), _fonts_of(contents)
    if body is None:
        return []
    large = LARGER_RATIO * body.size
    found: list[Heading] = []
    for page in range(1, texts.count + 1):
        lines = texts.displayed_lines(page)
        if page not in contents.pages and any(line.size >= large and font_of(line) not in named for line in lines):
            found += _headings_on(page, lines, body)
            texts.reader.report_progress()
    return [each for each in select_headings(found, texts, body, contents.pages) if each.style[1] >= large]


def _fonts_of(contents: Toc) -> set[tuple[str, float, bool]]:
    """Return the fonts (name, size, bold) of the headings that the table of contents names."""
    return {font_of(line) for each in contents.targets for line in each.lines}


def _with_subheadings(contents: Toc, kept: Sequence[Heading]) -> list[Section]:
    """Return the sections of the TOC and, below them, the headings of `kept` that the TOC does not name."""
    below = _headings_below(contents, kept)
    levels = levels_of(below) if below else []
    return _without_gaps(_interleave(_sections_of_toc(contents), list(zip(below, levels, strict=True))))


def _without_gaps(sections: Sequence[Section]) -> list[Section]:
    """Return the sections with their depths in the tree as levels."""
    depths = depths_of([each.level for each in sections])
    return [evolve(section, level=depth) for section, depth in zip(sections, depths, strict=True)]


def with_headings_below(sections: Sequence[Section], texts: PageTexts) -> tuple[Sequence[Section], PageTexts, bool]:
    """Return the sections of a document with bookmarks, the texts as they were read, and whether the bookmarks cover
    its headings.

    If the bookmarks, which name `sections`, are sparse, the headings below them are added. If they are sparse or few,
    and most headings are on other pages, the headings are the sections, among them the bookmarks whose titles are
    printed. Only then is the third value false. In a presentation with sparse or few bookmarks, the titles of slides
    are added instead.

    The sections are returned unchanged if there are more than `PAGE_LIMIT` pages, if more than `STRAY_SHARE` of the
    sections are out of order, or if most of their titles are not printed on their pages.
    """
    is_dense = len(sections) * PAGES_PER_ENTRY >= texts.count
    if (is_dense and len(sections) > FEW_BOOKMARKS) or texts.count > PAGE_LIMIT:
        return sections, texts, True
    in_order, strays = _in_order(sections)
    if len(strays) > STRAY_SHARE * len(sections):
        return sections, texts, True
    slides = with_slides(in_order, texts)
    if len(slides) > len(in_order):
        return [*slides, *strays], texts, True
    texts = texts.with_all_headers_footers()
    contents = Toc(tuple(_target(section, texts) for section in in_order))
    kept = _headings_outside_toc(texts, frozenset())
    told = _sections_of_headings(kept)
    if not spans(in_order, told):
        return [*_among(told, contents), *strays], texts, False
    if is_dense or sum(bool(each.lines) for each in contents.targets) * 2 < len(in_order):
        return sections, texts, True
    complete = _with_subheadings(contents, kept)
    return [*complete, *strays] if len(complete) > len(in_order) else sections, texts, True


def _among(headings: Sequence[Section], listed: Toc) -> list[Section]:
    """Return the `headings`, with those of the `listed` sections that they lack and whose titles are printed.

    Each of these is below the heading before it.
    """
    said = {(title_key(each.title), each.page) for each in headings}
    others = [each for each in listed.targets if each.lines and (title_key(each.title), each.page) not in said]
    rest = [Section(each.level, each.title, each.page, each.lines[0].top) for each in others]
    mixed: list[Section] = []
    level = 0
    for heading in [*_without_gaps(headings), None]:
        while rest and (heading is None or rest[0].position < heading.position):
            mixed.append(evolve(rest[0], level=rest[0].level + level))
            del rest[0]
        if heading is not None:
            mixed.append(heading)
            level = heading.level
    return _without_gaps(mixed)


def with_slides(sections: Sequence[Section], texts: PageTexts) -> list[Section]:
    """Return the sections. In a presentation, each is followed by the titles of the slides in it.

    The title of a slide is left out if it is that of the section that begins on the slide.
    """
    mixed: list[Section] = []
    rest = list(sections)
    top = min(section.level for section in sections)
    holder: Section | None = None
    for title in slide_titles(texts):
        while rest and rest[0].page <= title.page:
            holder = rest.pop(0)
            mixed.append(holder)
        if holder is None or (holder.page, title_letters(holder.title)) != (title.page, title_letters(title.text)):
            mixed.append(_section(title, top if holder is None else holder.level + 1))
    return [*mixed, *rest]


def _in_order(sections: Sequence[Section]) -> tuple[list[Section], list[Section]]:
    """Return the longest sequence of sections in page order, and the other sections."""
    chains: list[list[int]] = []  # for each length, the chain whose last page is the earliest
    for place, section in enumerate(sections):
        at = bisect_right([sections[chain[-1]].page for chain in chains], section.page)
        chains[at : at + 1] = [[*(chains[at - 1] if at else []), place]]
    longest = set(chains[-1]) if chains else set()
    return (
        [section for place, section in enumerate(sections) if place in longest],
        [section for place, section in enumerate(sections) if place not in longest],
    )


def _target(section: Section, texts: PageTexts) -> TocTarget:
    """Return `section` as a TOC target with the largest lines of its page that match its title."""
    lines = texts.displayed_lines(section.page)
    found = tuple(lines[at] for at in texts.lines_matching(section.title, section.page))
    largest = max((line.size for line in found), default=0.0)
    shown = tuple(line for line in found if line.size == largest)
    return TocTarget(section.title, section.level, section.page, section.y, shown)


def _is_dense(contents: Toc, page_count: int) -> bool:
    return len(contents.targets) * PAGES_PER_ENTRY >= page_count


def _sections_of_toc(contents: Toc) -> list[Section]:
    return [Section(each.level, each.title, each.page, each.y) for each in contents.targets]


def _section(heading: Heading, level: int) -> Section:
    return Section(level, heading.text, heading.page, heading.y if heading.horizontal else math.nan)


def _headings_outside_toc(texts: PageTexts, skipped: frozenset[int]) -> list[Heading]:
    """Return the headings that are recognized by their style, by rubrics, or as marginal notes, or else the titles of
    slides if these are on more pages.

    `skipped` are the TOC pages; of these, only the lines above and below the TOC are searched.
    """
    titles = slide_titles(texts)
    body = body_style_of(texts, smallest=LABEL_RATIO * titles[0].style[1] if titles else 0.0)
    if body is None:
        return titles
    found: list[Heading] = []
    for page in range(1, texts.count + 1):
        lines = texts.displayed_lines(page)
        found += _headings_on(page, outside_toc(lines) if page in skipped else lines, body)
        texts.reader.report_progress()
    chosen = merge_headings(select_headings(found, texts, body, skipped), reference_headings(found, texts, body))
    chosen = with_marginal_notes(chosen, texts, body)
    return titles if len(titles) > len({heading.page for heading in chosen}) else chosen


def _headings_on(page: int, lines: Sequence[StyledLine], body: BodyStyle) -> list[Heading]:
    """Return the heading candidates on a page of horizontal or vertical writing."""
    if not is_vertical(lines):
        return headings_on(page, lines, body)
    return [evolve(heading, horizontal=False) for heading in headings_on(page, columns_as_lines(lines), body)]


def _headings_below(contents: Toc, kept: Sequence[Heading]) -> list[Heading]:
    """Return the headings of `kept` that the TOC does not name, in styles that it mostly does not name.

    In these, `kept` has more than `NAMED_RATIO` times as many headings as the TOC names. Headings in a larger font than
    those that the TOC names are left out, unless there are more of them than entries in the TOC.
    """
    said = {(title_key(each.title), each.page) for each in contents.targets}
    printed = {(each.page, line) for each in contents.targets for line in each.lines}
    largest = max((size for _, size, _ in _fonts_of(contents)), default=math.inf)
    named = Counter(font for each in contents.targets for font in {font_of(line) for line in each.lines})
    found = Counter(heading.style[:3] for heading in kept)
    return [
        heading
        for heading in kept
        if (title_key(heading.text), heading.page) not in said
        and (heading.page, heading.lines[0]) not in printed
        and NAMED_RATIO * named[heading.style[:3]] < found[heading.style[:3]]
        and (heading.style[1] <= largest or found[heading.style[:3]] > len(contents.targets))
    ]


def _interleave(sections: Sequence[Section], below: Sequence[tuple[Heading, int]]) -> list[Section]:
    """Return the sections, each followed by the headings of `below` that come after it on the pages.

    `below` pairs each heading with its level relative to its section. Headings before the first section are left out.
    """
    mixed: list[Section] = []
    rest = list(below)
    for index, section in enumerate(sections):
        mixed.append(section)
        end = sections[index + 1] if index + 1 < len(sections) else None
        while rest and (end is None or (rest[0][0].page, rest[0][0].y) < end.position):
            heading, level = rest.pop(0)
            if (heading.page, heading.y) > section.position:
                mixed.append(_section(heading, section.level + level))
    return mixed
