"""Plain text: by its headings where it has some (`Chapter 1`, underlined, numbered, in capitals), else in groups of lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from attrs import evolve

from citekit.adapters.formats.plain_text.headings import HeadingFinder
from citekit.adapters.formats.shared.outline import Outline, OutlineItem, one_line
from citekit.adapters.formats.shared.sections import section_openings, sections
from citekit.adapters.formats.shared.summaries import first_sentence, has_text
from citekit.adapters.formats.shared.text_file import TextFile, open_text
from citekit.domain.locations import Lines
from citekit.domain.progress import Progress
from citekit.domain.source import Source

GROUP = (40, 80)
"""Lines of a group: it ends at the first blank line after the smaller number, at the latest after the larger."""

GROUPS_LIMIT = 2500
"""Groups in one file; in a longer one the groups are larger."""

SHELF = 50
"""Groups below one parent, where there are many."""

_LONG = 160
"""The number of lines from which a section without subsections is split into groups."""

_FIRST_LINES = [Lines(1, last) for last in range(1, 6)]
_PROSE = frozenset(("text", "markdown", "html", "rst"))
_DATA = (".csv", ".tsv", ".log", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".css", ".scss", ".sql", ".lua")
_TITLE_LIMIT = 60


class PlainTextOutliner:
    """For texts of every kind that nothing better is known about. Every line lies in exactly one node of the top level.

    Of a text of more than `LINES_LIMIT` lines only the first ones of each group are looked at.
    """

    def outline(self, source: Source, progress: Progress) -> Outline:
        """Chapters and sections, or groups of lines. Raises `SourceUnreadable`."""
        text = open_text(source.path, progress)
        prose = source.format.name in _PROSE and source.path.suffix.lower() not in _DATA
        finder = HeadingFinder(prose)
        blank = bytearray(text.line_count + 2)
        for number, line in enumerate(() if text.is_long else text.lines(progress), 1):
            blank[number] = not line or line.isspace()
            finder.feed(number, line)
        headings = finder.finish()
        drafts = sections(text, headings) if headings else ()
        drafts = _with_line_groups(_from_the_first_line(drafts), text, blank)
        before = drafts[0] if drafts and drafts[0].type == "preamble" else None
        title = before.title if before and before.location in _FIRST_LINES else finder.title
        return Outline(title=title, bounds=text.bounds, items=drafts, facts=text.facts)


def _from_the_first_line(drafts: Sequence[OutlineItem]) -> Sequence[OutlineItem]:
    """The drafts, the first one with the lines before it too: `sections` leaves out what holds no letter."""
    match [draft.location for draft in drafts[:1]]:
        case [Lines(last=last)]:
            return (evolve(drafts[0], location=Lines(1, last)), *drafts[1:])
    return drafts


def _with_line_groups(drafts: Sequence[OutlineItem], text: TextFile, blank: bytearray) -> tuple[OutlineItem, ...]:
    """The drafts, long ones without children split into groups; groups alone where there are no drafts."""
    if not text.line_count:
        return ()
    leaves = list(_long_leaves(drafts)) if drafts else [(1, text.line_count)]
    scale = 1 + sum(last - first + 1 for first, last in leaves) // (GROUPS_LIMIT * GROUP[1] // 2)
    spans = {leaf: group_lines(leaf, blank, scale) for leaf in leaves}
    starts = {first: 0 for groups in spans.values() for first, _ in groups}
    begins = section_openings(text, starts)
    groups = {leaf: tuple(_group(each, begins) for each in found) for leaf, found in spans.items()}
    return tuple(_split(drafts, groups)) if drafts else _with_parents(groups[leaves[0]])


def _long_leaves(drafts: Sequence[OutlineItem]) -> list[tuple[int, int]]:
    found = []
    for draft in drafts:
        if draft.children:
            found.extend(_long_leaves(draft.children))
        elif isinstance(draft.location, Lines) and draft.location.last - draft.location.first >= _LONG:
            found.append((draft.location.first, draft.location.last))
    return found


def _split(
    drafts: Sequence[OutlineItem], groups: Mapping[tuple[int, int], tuple[OutlineItem, ...]]
) -> list[OutlineItem]:
    parted = []
    for draft in drafts:
        if isinstance(draft.location, Lines):
            span = (draft.location.first, draft.location.last)
            below = tuple(_split(draft.children, groups)) or _with_parents(groups.get(span, ()))
            parted.append(evolve(draft, children=below))
    return parted


def group_lines(span: tuple[int, int], blank: bytearray, scale: int = 1) -> list[tuple[int, int]]:
    """The lines from `span[0]` to `span[1]` in groups, each (first, last); `blank[n]` says whether line n is blank.

    A group begins after a blank line where there is one in reach. `scale` makes groups longer.
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


def _group(span: tuple[int, int], begins: Mapping[int, Sequence[str]]) -> OutlineItem:
    lines = begins.get(span[0], ())
    said = next((line for line in lines if has_text(line)), "")
    title = one_line(said, _TITLE_LIMIT) or f"Lines {span[0]}-{span[1]}"
    return OutlineItem(title, "lines", Lines(*span), first_sentence(lines))


def _with_parents(groups: Sequence[OutlineItem]) -> tuple[OutlineItem, ...]:
    """Many groups, gathered below parents of `SHELF` groups."""
    if len(groups) <= SHELF + SHELF // 2:
        return tuple(groups)
    shelves = []
    for start, end in pairwise([*range(0, len(groups), SHELF), len(groups)]):
        below = groups[start:end]
        first, last = below[0].location, below[-1].location
        if isinstance(first, Lines) and isinstance(last, Lines):
            span = Lines(first.first, last.last)
            shelves.append(OutlineItem(f"Lines {span.first}-{span.last}", "lines", span, below[0].summary, below))
    return tuple(shelves)
