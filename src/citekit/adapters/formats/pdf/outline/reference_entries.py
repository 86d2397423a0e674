"""The entries of a work of reference: what the same rubric (`Description`, `Synopsis`) opens again and again."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from attrs import frozen

from citekit.adapters.formats.pdf.outline.headings import LONGEST, Body, Heading
from citekit.adapters.formats.pdf.outline.lines import Typed
from citekit.adapters.formats.pdf.outline.pages import PageTexts
from citekit.adapters.formats.pdf.outline.rows import Row, rows_of

FEWEST = 8
"""How often a rubric opens an entry at least."""

ALIKE = 0.8
"""The part of its rubrics that must stand below a row of one type and one indent."""

PARTED = 1.0
"""Heights of a line that lie between the rows of an entry's heading and of its rubric at least."""


@frozen
class _Above:
    """The row that stands above a rubric: its type, its indent, and the heading it would be."""

    look: tuple[str, float, bool, bool, int]
    heading: Heading


def entries_of(found: Sequence[Heading], texts: PageTexts, body: Body) -> list[Heading]:
    """The headings of entries, in reading order; none where no rubric opens them.

    A rubric opens entries where nearly always a row of the same type and indent stands above it, parted from it, that
    says something else each time and is no running text: it is the entry's heading. Of a term and its gloss beside it
    in another type, the term is the title.
    """
    times = Counter(heading.text for heading in found if not heading.depth)
    rubrics = {text for text, count in times.items() if count >= FEWEST}
    above: dict[str, list[_Above | None]] = defaultdict(list)
    pages: dict[int, list[Row]] = {}
    for heading in found:
        if heading.text in rubrics:
            if heading.page not in pages:
                pages[heading.page] = rows_of(texts.shown(heading.page))
            above[heading.text].append(_above(heading, pages[heading.page], body))
    opened = [each for text in sorted(above) for each in _opened(above[text])]
    return sorted(opened, key=lambda heading: (heading.page, heading.y))


def with_entries(chosen: Sequence[Heading], entries: Sequence[Heading]) -> list[Heading]:
    """`chosen` and the entries in reading order, each line once."""
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


def _opened(above: Sequence[_Above | None]) -> Iterator[Heading]:
    looks = Counter(each.look for each in above if each is not None)
    if not looks:
        return
    look, times = looks.most_common(1)[0]
    own = [each.heading for each in above if each is not None and each.look == look]
    if times >= max(FEWEST, ALIKE * len(above)) and len({heading.text for heading in own}) >= ALIKE * len(own):
        yield from own


def _above(rubric: Heading, rows: Sequence[Row], body: Body) -> _Above | None:
    first = rubric.lines[0]
    place = next((at for at, row in enumerate(rows) if first in row.lines), 0)
    if not place:
        return None
    row = rows[place - 1]
    line, height = row.lines[0], max(first.bottom - first.top, 1.0)
    if row.bottom + PARTED * height > first.top or (line.font, line.size) == (body.font, body.size):
        return None
    if place > 1 and rows[place - 2].bottom + PARTED * height > row.top:
        return None
    text = _title(row)
    if not text or len(text) > LONGEST:
        return None
    style = (line.font, line.size, line.bold, False)
    heading = Heading(text, rubric.page, (line,), style, 0, rubric.column)
    return _Above((line.font, line.size, line.bold, line.italic, round(line.left / 3)), heading)


def _title(row: Row) -> str:
    """The words of the row up to a change of type."""
    kept: list[Typed] = []
    for line in row.lines:
        if kept and (kept[-1].font, kept[-1].size) != (line.font, line.size):
            break
        kept.append(line)
    return " ".join(line.text for line in kept)
