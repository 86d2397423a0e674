"""Outlines plain text by its headings, or in groups of lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from attrs import evolve

from citekit.adapters.formats.plain_text.headings import TOC_LIMIT, HeadingFinder, is_toc_heading
from citekit.adapters.formats.shared.outline import Outline, OutlineItem, one_line
from citekit.adapters.formats.shared.sections import section_openings, sections
from citekit.adapters.formats.shared.summaries import first_sentence, has_text
from citekit.adapters.formats.shared.text_file import TextFile, open_text
from citekit.domain.locations import Lines
from citekit.domain.progress import Progress
from citekit.domain.source import Source

GROUP = (40, 80)
"""The minimum and maximum number of lines of a group. A group ends at the first blank line after the minimum."""

GROUPS_LIMIT = 2500
"""The maximum number of groups in one file. In a longer file, groups have more lines."""

PARENT_SIZE = 50
"""The number of groups below one parent, if there are many groups."""

_LONG = 160
"""The maximum number of lines of a section without subsections. A longer one is split into groups."""

_FIRST_LINES = [Lines(1, last) for last in range(1, 6)]
_PROSE = frozenset(("text", "markdown", "html", "rst"))
_DATA = (".csv", ".tsv", ".log", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".css", ".scss", ".sql", ".lua")
_TITLE_LIMIT = 60


class PlainTextOutliner:
    """An outliner for plain text, and for files in which the outliner of their format finds no structure.

    In a text of more than `text_file.LINES_LIMIT` lines, only the first lines of each group are read.
    """

    def outline(self, source: Source, progress: Progress) -> Outline:
        """See `Outliner.outline`. The items are chapters and sections, or groups of lines if no headings are found."""
        text = open_text(source.path, progress)
        prose = source.format.name in _PROSE and source.path.suffix.lower() not in _DATA
        finder = HeadingFinder(prose)
        blank = bytearray(text.line_count + 2)
        for number, line in enumerate(() if text.is_long else text.lines(progress), 1):
            blank[number] = not line or line.isspace()
            finder.feed(number, line)
        headings = finder.finish()
        items = sections(text, headings) if headings else ()
        items = _with_line_groups(_from_the_first_line(items), text, blank)
        before = items[0] if items and items[0].type == "preamble" else None
        title = before.title if before and before.location in _FIRST_LINES else finder.title
        title = finder.own_title or title
        return Outline(title=title, extent=text.extent, items=items, facts=text.facts)


def _from_the_first_line(items: Sequence[OutlineItem]) -> Sequence[OutlineItem]:
    """Return the items, with the first one extended to line 1, because `sections` omits leading lines without letters."""
    match [item.location for item in items[:1]]:
        case [Lines(last=last)]:
            return (evolve(items[0], location=Lines(1, last)), *items[1:])
    return items


def _with_line_groups(items: Sequence[OutlineItem], text: TextFile, blank: bytearray) -> tuple[OutlineItem, ...]:
    """Return the items, with those that are long and have no children split into groups of lines.

    The titles of these groups are line numbers, because their first line is no heading. Without items, return groups
    of lines of the whole text, titled by their first lines.
    """
    if not text.line_count:
        return ()
    leaves = list(_long_leaves(items)) if items else [(1, text.line_count)]
    scale = 1 + sum(last - first + 1 for first, last in leaves) // (GROUPS_LIMIT * GROUP[1] // 2)
    spans = {leaf: group_lines(leaf, blank, scale) for leaf in leaves}
    starts = {first: 0 for groups in spans.values() for first, _ in groups}
    begins = section_openings(text, starts)
    groups = {leaf: tuple(_group(each, begins, is_whole=not items) for each in found) for leaf, found in spans.items()}
    return tuple(_split(items, groups)) if items else _with_parents(groups[leaves[0]])


def _long_leaves(items: Sequence[OutlineItem]) -> list[tuple[int, int]]:
    found = []
    for item in items:
        if item.children:
            found.extend(_long_leaves(item.children))
        elif isinstance(item.location, Lines) and _is_split(item.title, item.location):
            found.append((item.location.first, item.location.last))
    return found


def _is_split(title: str, lines: Lines) -> bool:
    """Return whether a section without subsections is long enough to be split into groups.

    A printed table of contents is split only if it has more than `TOC_LIMIT` lines.
    """
    length = lines.last - lines.first
    return length >= (TOC_LIMIT if is_toc_heading(title) else _LONG)


def _split(
    items: Sequence[OutlineItem], groups: Mapping[tuple[int, int], tuple[OutlineItem, ...]]
) -> list[OutlineItem]:
    result = []
    for item in items:
        if isinstance(item.location, Lines):
            span = (item.location.first, item.location.last)
            below = tuple(_split(item.children, groups)) or _with_parents(groups.get(span, ()))
            result.append(evolve(item, children=below))
    return result


def group_lines(span: tuple[int, int], blank: bytearray, scale: int = 1) -> list[tuple[int, int]]:
    """Split the lines from `span[0]` to `span[1]` into groups; return the (first, last) line numbers of each.

    `blank[n]` is 1 if line n is blank. A group ends with a blank line if this gives it an allowed length. `scale` is a
    factor for the lengths in `GROUP`.
    """
    least, most = GROUP[0] * scale, GROUP[1] * scale
    first, end = span
    groups = []
    while end - first + 1 > most:
        last = blank.find(1, first + least - 1, first + most)
        last = first + most - 1 if last < 0 else last
        while last < first + most - 1 and last < end and blank[last + 1]:
            last += 1
        groups.append((first, last))
        first = last + 1
    if first <= end:
        groups.append((first, end))
    return groups


def _group(span: tuple[int, int], begins: Mapping[int, Sequence[str]], *, is_whole: bool) -> OutlineItem:
    lines = begins.get(span[0], ())
    first_text = next((line for line in lines if is_whole and has_text(line)), "")
    title = one_line(first_text, _TITLE_LIMIT) or f"Lines {span[0]}-{span[1]}"
    return OutlineItem(title, "lines", Lines(*span), first_sentence(lines))


def _with_parents(groups: Sequence[OutlineItem]) -> tuple[OutlineItem, ...]:
    """Return `groups` gathered below parent items of `PARENT_SIZE` groups each, or unchanged if they are few."""
    if len(groups) <= PARENT_SIZE + PARENT_SIZE // 2:
        return tuple(groups)
    parents = []
    for start, end in pairwise([*range(0, len(groups), PARENT_SIZE), len(groups)]):
        below = groups[start:end]
        first, last = below[0].location, below[-1].location
        if isinstance(first, Lines) and isinstance(last, Lines):
            span = Lines(first.first, last.last)
            parents.append(OutlineItem(f"Lines {span.first}-{span.last}", "lines", span, below[0].summary, below))
    return tuple(parents)
