"""Finds the headings of entries in reference works. Below each of them is the same rubric: an unnumbered heading
(`Synopsis`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from attrs import frozen

from citekit.adapters.formats.pdf.outline.headings import MAX_LENGTH, BodyStyle, Heading
from citekit.adapters.formats.pdf.outline.lines import StyledLine
from citekit.adapters.formats.pdf.outline.pages import PageTexts
from citekit.adapters.formats.pdf.outline.rows import Row, rows_of

MIN_RUBRICS = 8
"""The minimum number of entries that a rubric must open."""

SAME_STYLE_SHARE = 0.8
"""The minimum share of a rubric's occurrences that must be below a row of one style and indent.

It is also the minimum share of these rows that must differ from each other.
"""

ROW_GAP = 1.0
"""The minimum gaps above the heading of an entry and between it and its rubric, as a multiple of the line height."""


@frozen
class _RowAbove:
    """The row above a rubric: its style and indent, and the heading that the row would be."""

    style: tuple[str, float, bool, bool, int]
    heading: Heading


def reference_headings(found: Sequence[Heading], texts: PageTexts, body: BodyStyle) -> list[Heading]:
    """Return the headings of entries in reading order; an empty list if no rubric marks entries.

    A rubric marks entries if at least `SAME_STYLE_SHARE` of its occurrences have a separate row above them, in one
    style and indent. These rows must mostly differ from each other and not be body text.
    """
    times = Counter(heading.text for heading in found if not heading.depth)
    rubrics = {text for text, count in times.items() if count >= MIN_RUBRICS}
    above: dict[str, list[_RowAbove | None]] = defaultdict(list)
    pages: dict[int, list[Row]] = {}
    for heading in found:
        if heading.text in rubrics:
            if heading.page not in pages:
                pages[heading.page] = rows_of(texts.displayed_lines(heading.page))
            above[heading.text].append(_row_above(heading, pages[heading.page], body))
    opened = [each for text in sorted(above) for each in _headings_opened(above[text])]
    return sorted(opened, key=lambda heading: (heading.page, heading.y))


def merge_headings(chosen: Sequence[Heading], entries: Sequence[Heading]) -> list[Heading]:
    """Return the headings of `chosen`, and the `entries` whose line is not among their lines, in reading order."""
    there = {(heading.page, line) for heading in chosen for line in heading.lines}
    new = [heading for heading in entries if (heading.page, heading.lines[0]) not in there]
    merged: list[Heading] = []
    at = 0
    for heading in chosen:
        while at < len(new) and (new[at].page, new[at].y) < (heading.page, heading.y):
            merged.append(new[at])
            at += 1
        merged.append(heading)
    return [*merged, *new[at:]]


def _headings_opened(above: Sequence[_RowAbove | None]) -> Iterator[Heading]:
    styles = Counter(each.style for each in above if each is not None)
    if not styles:
        return
    style, times = styles.most_common(1)[0]
    own = [each.heading for each in above if each is not None and each.style == style]
    if times >= max(MIN_RUBRICS, SAME_STYLE_SHARE * len(above)) and len(
        {heading.text for heading in own}
    ) >= SAME_STYLE_SHARE * len(own):
        yield from own


def _row_above(rubric: Heading, rows: Sequence[Row], body: BodyStyle) -> _RowAbove | None:
    first = rubric.lines[0]
    index = next((at for at, row in enumerate(rows) if first in row.lines), 0)
    if not index:
        return None
    row = rows[index - 1]
    line, height = row.lines[0], max(first.bottom - first.top, 1.0)
    if row.bottom + ROW_GAP * height > first.top or (line.font, line.size) == (body.font, body.size):
        return None
    if index > 1 and rows[index - 2].bottom + ROW_GAP * height > row.top:
        return None
    text = _title(row)
    if not text or len(text) > MAX_LENGTH:
        return None
    style = (line.font, line.size, line.bold, False)
    heading = Heading(text, rubric.page, (line,), style, 0, rubric.column)
    return _RowAbove((line.font, line.size, line.bold, line.italic, round(line.left / 3)), heading)


def _title(row: Row) -> str:
    """Return the text of `row` up to its first change of font or size."""
    kept: list[StyledLine] = []
    for line in row.lines:
        if kept and (kept[-1].font, kept[-1].size) != (line.font, line.size):
            break
        kept.append(line)
    return " ".join(line.text for line in kept)
