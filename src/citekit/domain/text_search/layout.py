"""Lays out blocks of text for reading: rows, headings, and marks for locations."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from attrs import frozen

from citekit.domain.library.extracted_text import ExtractedText, SheetRows, UnitKind
from citekit.domain.locations import Cells, Chapter, Lines, Location, Pages, TimeSpan
from citekit.domain.quotes.superscripts import visible_text
from citekit.domain.quotes.transcript import Transcript
from citekit.domain.text_search.blocks import TextBlock
from citekit.domain.text_search.headings import headings_in
from citekit.domain.text_search.matching import shown_row

LINES_PER_MARK = 20
"""The number of lines after which a mark repeats the line number."""

SECONDS_PER_MARK = 30.0
"""The number of seconds after which a mark repeats the time."""

_MARK = re.compile(r"\[(?:pages?|chapter|sheet|line|time|cut:|note:|stale:) ")


@frozen
class LaidOutLine:
    """A line to show for the characters from `start` to `end` of its block, which for a heading can be several lines."""

    start: int
    end: int
    text: str
    is_heading: bool = False


def laid_out(
    block: TextBlock,
    span: tuple[int, int],
    titles: Collection[tuple[str, ...]],
    running: Collection[int] = (),
    *,
    raw: bool = False,
) -> Iterator[LaidOutLine]:
    """Yield the lines in the character range `span` of a block, without blank lines unless `raw` is True.

    `titles`, each a tuple of words, are marked as headings where they first occur. `running` are the indexes of running
    headers and footers, which are left out unless they are headings. `raw` keeps the indentation and single blank
    lines, which code needs.
    """
    text = block.text
    starts = list(line_starts(text))
    lines = [text[start:end] for start, end in starts]
    headings = dict(sorted(headings_in(lines, titles).values()))
    skipped = {index for first, last in headings.items() for index in range(first + 1, last + 1)}
    hidden_by_layout = {index for index in running if index not in headings}
    was_blank = True
    for index, (start, end) in enumerate(starts):
        if end < span[0] or start >= span[1] or index in skipped or index in hidden_by_layout:
            continue
        low, high = max(start, span[0]), min(end, span[1])
        if index in headings:
            high = starts[headings[index]][1]
            shown = " ".join(
                filter(None, (shown_row(visible_text(each)) for each in lines[index : headings[index] + 1]))
            )
            shown = f"## {shown.lstrip('#').strip()}"
        else:
            # a part of code begins after the indentation of its first line
            indented = start if raw and not text[start:low].strip() else low
            shown = shown_line(text[indented:high], raw=raw)
        if shown or (raw and not was_blank):
            yield LaidOutLine(low, high, shown, index in headings)
        was_blank = not shown


def line_starts(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each line."""
    start = 0
    for line in text.split("\n"):
        yield start, start + len(line)
        start += len(line) + 1


def shown_line(line: str, *, raw: bool) -> str:
    """Return a line as it is shown. Text that looks like a mark gets a backslash."""
    shown = visible_text(line).expandtabs(4).rstrip() if raw else shown_row(visible_text(line))
    return f"\\{shown}" if _MARK.match(shown) else shown


def mark_of(block: TextBlock, offset: int, last: Location | None) -> tuple[str, Location] | None:
    """Return the mark before the character at `offset`, with its location, or None if the previous mark still applies.

    `last` is the location of the previous mark. That mark applies on the same page, in the same chapter or sheet, and
    for `LINES_PER_MARK` lines or `SECONDS_PER_MARK` seconds.
    """
    located = block.located
    here = located.locate(offset, offset + 1)
    match here, last:
        case Pages(numbers=(page, *_)), _:
            return None if here == last else (f"[page {page}]", here)
        case Chapter(number=number), Chapter(number=before) if number == before:
            return None
        case Chapter(number=number), _:
            return f"[chapter {number}]", here
        case Cells(sheet=sheet), Cells(sheet=before) if sheet == before:
            return None
        case Cells(sheet=sheet), _:
            return f"[sheet {sheet}]", here
        case Lines(first=line), Lines(first=before) if line < before + LINES_PER_MARK:
            return None
        case Lines(first=line), _:
            return f"[line {line}]", here
        case TimeSpan(start=start), TimeSpan(start=before) if start < before + SECONDS_PER_MARK:
            return None
        case TimeSpan(start=start), _:
            minutes, seconds = divmod(int(start), 60)
            shown = ", on the screen" if isinstance(located, Transcript) and located.screen_reader else ""
            return f"[time {minutes // 60:02}:{minutes % 60:02}:{seconds:02}{shown}]", here
    return None


def covering(first: Location, last: Location, pages: Sequence[int]) -> Location:
    """Return the location from `first` to `last`, with the numbers in `pages` for pages. For cells on two sheets, it is
    only `first`.
    """
    match first, last:
        case Pages(), Pages():
            return Pages.of(pages)
        case Lines(), Lines():
            return Lines(first.first, max(first.last, last.last))
        case Chapter(), Chapter():
            if first.number == last.last and first.chars and last.chars:
                return Chapter(first.number, (first.chars[0], max(first.chars[1], last.chars[1])))
            return Chapter(first.number, last=last.last)
        case Cells(first=(row, column)), Cells(last=(bottom, right)) if first.sheet == last.sheet:
            return Cells(first.sheet, (row, column), (bottom, right))
        case TimeSpan(), TimeSpan(end=float(end)):
            return TimeSpan(first.start, end, first.modality)
    return first


def order_of(block: TextBlock) -> tuple[float, float]:
    """Return the position of a block in its file, ascending for visible text. Blocks of hidden text are last."""
    located = block.located
    if block.hidden:
        return float("inf"), 0.0
    if not isinstance(located, ExtractedText):
        return located.since[0], 0.0
    first = located.units[0]
    return float(first.number), float(-first.start if located.kind is UnitKind.CHAPTER else 0)


def order_of_location(
    location: Location, sheets: Sequence[SheetRows] = ()
) -> tuple[tuple[float, float], tuple[float, float]] | None:
    """Return the positions, as those of `order_of`, at which a location begins and ends, or None if they are unknown."""
    match location:
        case Pages(numbers=numbers):
            return (float(numbers[0]), 0.0), (float(numbers[-1]), 0.0)
        case Lines(first=first, last=last):
            return (float(first), 0.0), (float(last), 0.0)
        case Chapter(number=number, last=last, chars=chars):
            begin, end = chars or (0, float("inf"))
            return (float(number), float(begin)), (float(last), float(end))
        case TimeSpan(start=start, end=end):
            return (start, 0.0), (float("inf") if end is None else end, 0.0)
        case Cells(sheet=name, first=first, last=last):
            sheet = next((each for each in sheets if each.name == name), None)
            if sheet is not None:
                low, high = (first[0], last[0]) if first and last else (1, sheet.rows)
                return (float(sheet.before + low), 0.0), (float(sheet.before + high), 0.0)
    return None
