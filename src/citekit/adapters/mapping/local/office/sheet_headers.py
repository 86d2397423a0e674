"""What the first rows of a block of cells say: its title, and the names of its columns."""

from __future__ import annotations

import re
from collections.abc import Sequence

from attrs import frozen

from citekit.adapters.drivers.sheet_cells import Value
from citekit.adapters.drivers.workbook import Workbook
from citekit.adapters.mapping.local.office.blocks import Block

ROW_VALUES = 60
"""Characters of a value that is kept for titles and headers."""

_WORDS = frozenset(("s", "str", "inlineStr"))
"""Kinds of values that are text."""

_YEAR = re.compile(r"(?:1[89]|20|21)\d\d(?:-\d\d(?:-\d\d)?)?\Z")


def first_words(workbook: Workbook, block: Block) -> str:
    """What the first row of a block says."""
    return said(workbook, block.head[min(block.head)])


def said(workbook: Workbook, row: dict[int, Value]) -> str:
    """The first value of a row, where it is words."""
    texts = _texts(workbook, row)
    return texts[0].text if texts and texts[0].is_words else ""


def headed(workbook: Workbook, block: Block) -> tuple[str, list[str], int]:
    """(title, header, rows below it) of a block.

    The first row that is about as wide as those below is the header where it holds words and years alone; what stands
    above that row are titles and notes, of which the first is the title.
    """
    rows = [(row, _texts(workbook, block.head[row])) for row in sorted(block.head)]
    widest = max((len(texts) for _, texts in rows), default=0)
    at = next((at for at, (_, texts) in enumerate(rows) if len(texts) * 3 >= widest * 2), 0)
    worded = next((end for end, (_, texts) in enumerate(rows) if end >= at and not _is_header(texts)), 0)
    if worded > at:  # notes above the header may be nearly as wide
        at = max(range(at, worded), key=lambda each: len(rows[each][1]))
    number, texts = rows[at]
    title = said(workbook, block.head[rows[0][0]]) if at else ""
    return title, [each.text for each in texts] if _is_header(texts) else [], block.bottom - number


def _is_header(texts: Sequence[_Text]) -> bool:
    """Whether a row names what stands below it: by words, beside which years or dates may stand in order."""
    others = [each.text for each in texts if not each.is_words]
    dated = all(each.is_dated for each in texts if not each.is_words)
    in_order = len(others) > 1 and (others == sorted(set(others)) or others == sorted(set(others), reverse=True))
    return len(others) < len(texts) and (not others or (dated and in_order))


@frozen
class _Text:
    """A value as it is shown; years and dates are `is_dated`."""

    text: str
    is_words: bool
    is_dated: bool = False


def _texts(workbook: Workbook, row: dict[int, Value]) -> list[_Text]:
    """The values of a row that show something."""
    return [each for each in (_text(workbook, row[column]) for column in sorted(row)) if each.text]


def _text(workbook: Workbook, value: Value) -> _Text:
    shown = " ".join(workbook.shown(value)[:200].split())[:ROW_VALUES]
    return _Text(shown, value.kind in _WORDS, bool(_YEAR.match(shown)) if value.kind == "n" else value.kind == "d")
