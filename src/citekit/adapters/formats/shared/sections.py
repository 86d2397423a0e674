"""Derives the sections of a text from its headings and their line numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise

from attrs import frozen

from citekit.adapters.formats.shared.outline import OutlineItem, nested
from citekit.adapters.formats.shared.summaries import first_sentence, has_text
from citekit.adapters.formats.shared.text_file import TextFile
from citekit.domain.locations import Lines

SUMMARY_LINES = 40
"""Number of lines after a heading that are searched for a summary."""

HEADING_LIMIT = 20_000
"""Maximum number of sections in one text; see `kept_headings`."""

_NUMBER = re.compile(
    r"\W*(?:[^\W\d_]{2,12}\W+)?(?:\d{1,4}|[ivxlcdm]{1,8}|one|two|three|four|five|six|seven|eight|nine|ten)\W*", re.I
)


def is_bare_number(title: str) -> bool:
    """Return whether a title is only a number, such as `CHAPTER I` or `12.`, and needs the rest of the title."""
    return _NUMBER.fullmatch(title) is not None


@frozen
class TextHeading:
    """A heading in a text: its first line (1-based), its level (1 is the top level), title, and height in lines.

    An item with `last`, such as a figure, ends at that line at the latest and does not end the surrounding section.
    """

    line: int
    level: int
    title: str
    height: int = 1
    type: str = "section"
    last: int | None = None


FLOAT = 99
"""The level of figures, tables, and other items in a section that contain no sections."""


def sections(
    text: TextFile,
    headings: Sequence[TextHeading],
    plain: Callable[[str], str] = str,
    skipped: int = 0,
) -> tuple[OutlineItem, ...]:
    """Return a section for each heading, nested by level.

    Text before the first heading becomes a section of type `preamble`; the first `skipped` lines do not count. `plain`
    removes the markup from a line for summaries.
    """
    kept = kept_headings(headings)
    behind = {heading.last + 1: 0 for heading in kept if heading.last is not None and heading.last < text.line_count}
    begins = section_openings(text, {1: skipped, **behind, **{heading.line: heading.height for heading in kept}})
    return section_items(kept, text.line_count, _with_text_after_figures(kept, begins), plain, skipped)


def _with_text_after_figures(
    headings: Sequence[TextHeading], bodies: Mapping[int, list[str]]
) -> Mapping[int, list[str]]:
    """Return `bodies`, in which the text after a figure replaces the empty body of a section that starts with the
    figure.
    """
    joined = dict(bodies)
    section: TextHeading | None = None
    for heading in headings:
        if heading.last is None:
            section = heading
        elif section is not None and heading.level == FLOAT and not any(map(has_text, joined[section.line])):
            joined[section.line] = bodies.get(heading.last + 1, [])
    return joined


def section_items(
    headings: Sequence[TextHeading],
    line_count: int,
    bodies: Mapping[int, Sequence[str]],
    plain: Callable[[str], str] = str,
    skipped: int = 0,
) -> tuple[OutlineItem, ...]:
    """Return a section for each of `headings`, as `sections` does, for text that has already been read.

    `bodies` maps a heading's line to the lines below the heading, and 1 to the text before the first heading.
    """
    items = [
        (heading.level, _section(heading, end, map(plain, bodies.get(heading.line, ()))))
        for heading, end in zip(headings, _ends(headings, line_count), strict=True)
    ]
    first = headings[0].line if headings else line_count + 1
    return _preamble([plain(line) for line in bodies.get(1, ())], skipped + 1, first) + nested(items)


def by_line(headings: Sequence[TextHeading]) -> list[TextHeading]:
    """Return the headings sorted by line, and only the first on each line."""
    kept: dict[int, TextHeading] = {}
    for heading in sorted(headings, key=lambda each: each.line):
        kept.setdefault(heading.line, heading)
    return list(kept.values())


def section_openings(text: TextFile, starts: Mapping[int, int]) -> dict[int, list[str]]:
    """Return up to `SUMMARY_LINES` lines of text from each line in `starts` on, but not beyond the next line in `starts`.

    The values of `starts` are the heights, in lines, of the headings there, which are skipped.
    """
    lines = [*sorted(starts), text.line_count + 1]
    spans = [(line + starts[line], min(line + starts[line] + SUMMARY_LINES, end) - 1) for line, end in pairwise(lines)]
    return dict(zip(lines, text.passages(spans), strict=False))


def kept_headings(headings: Sequence[TextHeading]) -> list[TextHeading]:
    """Return the headings, without those of the deepest levels if there are more than `HEADING_LIMIT`.

    Of too many headings of the same level, the first are kept.
    """
    kept = list(headings)
    while len(kept) > HEADING_LIMIT:
        deepest = max(heading.level for heading in kept)
        fewer = [heading for heading in kept if heading.level < deepest]
        kept = fewer or kept[:HEADING_LIMIT]
    return kept


def _ends(headings: Sequence[TextHeading], line_count: int) -> list[int]:
    """Return the last line number of each heading's section, in the order of `headings`."""
    ends = [line_count] * len(headings)
    open_: list[int] = []
    for position, heading in enumerate(headings):
        while open_ and heading.last is None and headings[open_[-1]].level >= heading.level:
            ends[open_.pop()] = heading.line - 1
        if heading.last is None:
            open_.append(position)
        else:
            after = headings[position + 1].line if position + 1 < len(headings) else line_count + 1
            ends[position] = min(heading.last, max(heading.line, after - 1))
    return ends


def _section(heading: TextHeading, end: int, lines: Iterable[str]) -> OutlineItem:
    summary = first_sentence(lines, skip=heading.title)
    return OutlineItem(heading.title, heading.type, Lines(heading.line, max(heading.line, end)), summary)


def _preamble(lines: Sequence[str], start: int, first: int) -> tuple[OutlineItem, ...]:
    """Return the text from line `start` up to the first heading (in line `first`) as a section; () if there is none."""
    title = next((line.strip() for line in lines if has_text(line)), "")
    if first <= start or not title:
        return ()
    return (OutlineItem(title, "preamble", Lines(start, first - 1), first_sentence(lines, skip=title)),)
