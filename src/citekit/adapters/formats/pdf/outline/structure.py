"""The sections of a PDF without bookmarks: what its printed contents promise, and its headings."""

from __future__ import annotations

import math
from collections.abc import Sequence

from attrs import evolve

from citekit.adapters.formats.pdf.outline.heading_levels import levels_of
from citekit.adapters.formats.pdf.outline.heading_location import Section
from citekit.adapters.formats.pdf.outline.heading_numbers import depth_of
from citekit.adapters.formats.pdf.outline.heading_styles import heading_styles
from citekit.adapters.formats.pdf.outline.headings import LARGER, Body, Heading, body_of, headings_on
from citekit.adapters.formats.pdf.outline.lines import Typed
from citekit.adapters.formats.pdf.outline.pages import PageTexts
from citekit.adapters.formats.pdf.outline.reference_entries import entries_of, with_entries
from citekit.adapters.formats.pdf.outline.rows import type_of
from citekit.adapters.formats.pdf.outline.toc import Contents, letters, read_contents
from citekit.adapters.formats.pdf.outline.toc_entries import Entry
from citekit.adapters.formats.pdf.outline.toc_page import FIRST_PAGES, outside_contents
from citekit.adapters.formats.pdf.outline.toc_tables import tables_of_contents
from citekit.adapters.formats.pdf.outline.vertical_writing import is_vertical, laid_down

SPARSE = 4
"""Pages an entry up to which the printed contents are taken to name every heading."""

BORNE_OUT = 0.5
"""The part of the printed contents that type tells, too, from which on it is trusted with the rest."""

MORE = 1.3
"""How many times as many headings type tells where contents lack some."""

READ_LIMIT = 5000
"""Pages that are searched, at 5 to 10 ms each; a longer document is grouped by pages."""


def sections_of_text(texts: PageTexts, contents: bool = True) -> tuple[list[Section], bool]:
    """The sections in reading order, and whether printed contents tell them; none where nothing tells them from text.

    `contents` says whether the printed table of contents is used. Where it names nearly every heading, pages are only
    read as far as titles need it, as `PageTexts.quick` does.
    """
    if texts.count > READ_LIMIT:
        return [], False
    texts.quick = True
    tables = tables_of_contents(texts, in_front=True) if contents else []
    if tables and (named := _named(texts, tables)):
        return named, True
    texts.slow_down()
    texts.learn_from(range(1, texts.count + 1))
    searched = 0 if tables or not contents else FIRST_PAGES
    promised = read_contents(texts, tables_of_contents(texts, after=searched))
    kept = _kept(texts, promised.pages)
    told = _told(kept)
    if promised.entries and contents and not outdone(_promised(promised), told):
        return _completed(promised, kept, texts.count), True
    return told, False


def _told(kept: Sequence[Heading]) -> list[Section]:
    """The headings as sections; one alone is none."""
    levels = levels_of(kept) if len(kept) > 1 else []
    return [_section(heading, level) for heading, level in zip(kept, levels, strict=False)]


def outdone(promised: Sequence[Section], told: Sequence[Section]) -> bool:
    """Whether type bears out what the contents name, and tells more of the same levels: then they are not whole."""
    named = {(letters(each.title), each.page) for each in promised}
    borne_out = [each for each in told if (letters(each.title), each.page) in named]
    deepest = max((each.level for each in borne_out), default=0)
    as_deep = sum(each.level <= deepest for each in told)
    return len(borne_out) >= BORNE_OUT * len(promised) and as_deep > MORE * len(promised)


def _named(texts: PageTexts, tables: Sequence[Sequence[Entry]]) -> list[Section]:
    """What contents that begin on the first pages name, where that is nearly every heading; else none."""
    if sum(map(len, tables)) * SPARSE < texts.count:
        return []
    texts.learn_from(range(1, texts.count + 1))
    promised = read_contents(texts, tables)
    if not promised.entries or not _is_dense(promised, texts.count):
        return []
    return _promised(promised) if _are_counted(promised) else _deepened(promised, _larger(texts, promised))


def _are_counted(contents: Contents) -> bool:
    """Whether numbers tell the deepest level that the contents name: what has none below is no section then."""
    deepest = max(each.level for each in contents.entries)
    own = [each for each in contents.entries if each.level == deepest]
    return sum(depth_of(each.title) > 1 for each in own) * 3 > len(own)


def _larger(texts: PageTexts, contents: Contents) -> list[Heading]:
    """The headings in larger type than the text, on pages that have lines in a larger type that the contents do not name."""
    body, named = body_of(texts), _types(contents)
    if body is None:
        return []
    large = LARGER * body.size
    found: list[Heading] = []
    for page in range(1, texts.count + 1):
        lines = texts.shown(page)
        if page not in contents.pages and any(line.size >= large and type_of(line) not in named for line in lines):
            found += _on(page, lines, body)
            texts.go_on()
    return [each for each in heading_styles(found, texts, body, contents.pages) if each.style[1] >= large]


def _types(contents: Contents) -> set[tuple[str, float, bool]]:
    """The types that the headings have that the contents name."""
    return {type_of(line) for each in contents.entries for line in each.lines}


def _deepened(contents: Contents, kept: Sequence[Heading]) -> list[Section]:
    """What the contents promise, and the headings below their entries."""
    below = _below(contents, kept)
    levels = levels_of(below) if below else []
    return _interleaved(_promised(contents), list(zip(below, levels, strict=True)))


def _is_dense(contents: Contents, page_count: int) -> bool:
    return len(contents.entries) * SPARSE >= page_count


def _promised(contents: Contents) -> list[Section]:
    return [Section(each.level, each.title, each.page, each.y) for each in contents.entries]


def _section(heading: Heading, level: int) -> Section:
    return Section(level, heading.text, heading.page, heading.y if heading.across else math.nan)


def _kept(texts: PageTexts, skipped: frozenset[int]) -> list[Heading]:
    """The headings that their type tells, outside the contents."""
    body = body_of(texts)
    if body is None:
        return []
    found: list[Heading] = []
    for page in range(1, texts.count + 1):
        lines = texts.shown(page)
        found += _on(page, outside_contents(lines) if page in skipped else lines, body)
        texts.go_on()
    return with_entries(heading_styles(found, texts, body, skipped), entries_of(found, texts, body))


def _on(page: int, lines: Sequence[Typed], body: Body) -> list[Heading]:
    """What may be a heading on a page, whichever way it is written; of columns the place is not known."""
    if not is_vertical(lines):
        return headings_on(page, lines, body)
    return [evolve(heading, across=False) for heading in headings_on(page, laid_down(lines), body)]


def _completed(contents: Contents, kept: Sequence[Heading], page_count: int) -> list[Section]:
    """What the contents promise; where they leave long stretches untold, the headings below their entries too."""
    if _is_dense(contents, page_count):
        return _promised(contents)
    return _deepened(contents, kept)


def _below(contents: Contents, kept: Sequence[Heading]) -> list[Heading]:
    """Headings that the contents do not name, of other styles than those that they name."""
    said = {(letters(each.title), each.page) for each in contents.entries}
    named = _types(contents)
    largest = max((size for _, size, _ in named), default=math.inf)
    return [
        heading
        for heading in kept
        if (letters(heading.text), heading.page) not in said
        and heading.style[:3] not in named
        and heading.style[1] <= largest
    ]


def _interleaved(sections: Sequence[Section], below: Sequence[tuple[Heading, int]]) -> list[Section]:
    """The sections with each of the others below the one that it follows; what stands before the first is left out."""
    mixed: list[Section] = []
    rest = list(below)
    for place, section in enumerate(sections):
        mixed.append(section)
        end = sections[place + 1] if place + 1 < len(sections) else None
        while rest and (end is None or _where(rest[0][0].page, rest[0][0].y) < _where(end.page, end.y)):
            heading, level = rest.pop(0)
            if _where(heading.page, heading.y) > _where(section.page, section.y):
                mixed.append(_section(heading, section.level + level))
    return mixed


def _where(page: int, y: float) -> tuple[int, float]:
    return page, y if math.isfinite(y) else 0.0
