"""Finds the column headings of a table row in the text above it.

The text of a page has no marks for tables, only tabs between cells. The rules are narrow, because wrong column headings
are worse than none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from citekit.domain.text_search.matching import shown_row

DISTANCE = 80
"""One more than the number of lines above a row that are searched for its column headings."""

GAP = 3
"""The maximum number of one-cell lines between two rows of text."""

_CELL = 60
_PROSE = 100

_FIGURE = re.compile(
    r"[-+(~<>≈]*+\s*+(?:[$€£¥]\s*+)?[-+(]*+\s*+[.,]*+\d[\d.,\s]*+(?:[)%xX]|bps|bn|[mk])*+\s*+\)?(?:⁽\w⁾)?|[-–—]|n/?a|n\.?m\.?",
    re.I,
)
_YEAR = re.compile(r"(?:fy\s*)?(?:18|19|20|21)\d\d", re.IGNORECASE)
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DATE = re.compile(rf"(?:{_MONTH}\s+\d\d?\s*,?\s*|\d\d?\s+{_MONTH}\s*)?((?:19|20)\d\d)", re.IGNORECASE)
_DATE_LINE = re.compile(rf"(?:(?>{_MONTH}(?:\s+\d\d?(?!\d))?|\d\d?\s+{_MONTH}|(?:19|20)\d\d)[\s,]*+)++", re.IGNORECASE)
_NAMED = re.compile(
    rf"\b(?:{_MONTH}\s+\d\d?|(?:18|19|20|21)\d\d|(?:level|tier|stage|phase|quarter|year|week|group|model|class|q)\s*\d)\b|⁽\w+⁾",
    re.IGNORECASE,
)
_PERIOD = re.compile(
    rf"\(|\b(?:years?|fiscal|months?|weeks?|quarters?|ended|as (?:of|at)|millions|thousands|{_MONTH})", re.IGNORECASE
)
_WORD = re.compile(r"[(#%]?\s*[^\W\d_]{2}|id$|[#%]$|№$", re.IGNORECASE)
_SEPARATOR = re.compile(r"\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?")


def column_headings(lines: Sequence[str], number: int) -> str | None:
    """Return the column headings of the row `lines[number]`, with ` | ` between them, or None.

    `lines` are those of a page or block, with tabs between cells.
    """
    if lines[number].lstrip().startswith("|"):
        return _of_pipe_table(lines, number)
    cells = _cells(lines[number])
    if len(cells) < 2 or _is_row_of_headings(cells):
        return None
    figures = _figures_at_end(cells)
    return (
        _above_figures(lines, number, len(cells), figures)
        if figures > 1
        else _above_text(lines, number, len(cells), figures)
    )


def _cells(line: str) -> list[str]:
    row = shown_row(line)
    return row.split(" | ") if row else []


def _figures_at_end(cells: Sequence[str]) -> int:
    return next((count for count, cell in enumerate(reversed(cells)) if not _FIGURE.fullmatch(cell)), len(cells))


def _is_row_of_headings(cells: Sequence[str]) -> bool:
    years = [cell for cell in cells if _YEAR.fullmatch(cell)]
    texts = [cell for cell in cells if not _YEAR.fullmatch(cell)]
    if any(
        len(cell) > _CELL or not _WORD.match(cell) or cell.endswith((".", ":")) or _has_figure(cell) for cell in texts
    ):
        return False
    if years and (len(set(years)) < len(years) or years not in (sorted(years), sorted(years, reverse=True))):
        return False
    if len(years) == 1 and len(cells) == 2:
        return False
    numbers = [int(year[-4:]) for year in years]
    in_series = len(years) > 1 and all(abs(one - other) == 1 for one, other in pairwise(numbers))
    return len(set(texts)) == len(texts) and (not years or in_series or all(map(_PERIOD.search, texts)))


def _has_figure(cell: str) -> bool:
    """Return whether a cell is a figure or has digits outside a date or a name such as `Level 1`."""
    return _FIGURE.fullmatch(cell) is not None or re.search(r"\d", _NAMED.sub("", cell)) is not None


def _above_figures(lines: Sequence[str], number: int, width: int, figures: int) -> str | None:
    """Return the nearest column headings above a row of `width` cells, of which the last `figures` are figures, or
    None.
    """
    for at in range(number - 1, max(-1, number - DISTANCE), -1):
        cells = _cells(lines[at])
        if len(cells) > 1:
            if _is_row_of_headings(cells):
                fits = len(cells) == width or (len(cells) == width - 1 == figures)
                dated = [_DATE_LINE.fullmatch(cell) is not None for cell in cells[-figures:]]
                alike = all(dated) or (width > figures and not any(dated))
                return " | ".join(cells) if fits and alike else None
        elif cells and _DATE_LINE.fullmatch(cells[0]):
            return _stacked_dates(lines, at, figures)
        elif cells and len(cells[0]) > _CELL and cells[0].endswith("."):
            return None
    return None


def _stacked_dates(lines: Sequence[str], last: int, figures: int) -> str | None:
    """Return the dates on the lines that end at `last`, or None unless there is a different date for each figure."""
    pieces: list[str] = []
    for at in range(last, -1, -1):
        cells = _cells(lines[at])
        if len(cells) == 1 and _DATE_LINE.fullmatch(cells[0]):
            pieces.append(cells[0])
        elif cells:
            break
    dates = [" ".join(found[0].split()) for found in _DATE.finditer(" ".join(reversed(pieces)))]
    return " | ".join(dates) if len(dates) == figures and len(set(dates)) == figures else None


def _above_text(lines: Sequence[str], number: int, width: int, figures: int) -> str | None:
    """Return the first row of the table around the row `number` if it can be a row of column headings; otherwise, None.

    Two cells are often a name and its value, so a table of two columns needs a figure in each row.
    """
    first, gap = number, 0
    for at in range(number - 1, max(-1, number - DISTANCE), -1):
        cells = _cells(lines[at])
        if len(cells) > 1:
            first, gap = at, 0
            if _is_named(cells, width):
                break
            if width == 2 and not _figures_at_end(cells):
                return None
        elif cells:
            gap += 1
            if width == 2 or gap > GAP or len(cells[0]) > _PROSE or (len(cells[0]) > _CELL and cells[0][-1] in ".:"):
                break
    cells = _cells(lines[first])
    is_table = first < number and _is_named(cells, width) and (width > 2 or figures == 1)
    return " | ".join(cells) if is_table and not _continues(lines, first) else None


def _continues(lines: Sequence[str], number: int) -> bool:
    """Return whether the column headings begin above the row `number`."""
    above = [cells for line in lines[max(0, number - 4) : number] if (cells := _cells(line))][-2:]
    return any(len(cells) > 1 and _is_named(cells, len(cells)) for cells in above)


def _is_named(cells: Sequence[str], width: int) -> bool:
    """Return whether a row has `width` different cells with short names without digits."""
    return (
        len(cells) == width
        and len(set(cells)) == width
        and all(
            len(cell) <= _CELL / 2 and not cell[0].islower() and not re.search(r"\d|[.:;,]$|: |[{}=;]", cell)
            for cell in cells
        )
    )


def _of_pipe_table(lines: Sequence[str], number: int) -> str | None:
    """Return the first row of the Markdown table with the row `number`, or None if there is no row of dashes below it."""
    at = number
    while at >= 2 and lines[at].lstrip().startswith("|"):
        if _SEPARATOR.fullmatch(lines[at - 1].strip()):
            return shown_row("\t".join(lines[at - 2].strip().strip("|").split("|"))) or None
        at -= 1
    return None
