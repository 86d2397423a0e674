"""Recognizes lines in the cells of a table whose first columns name what the cells say."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from citekit.adapters.formats.pdf.outline.lines import StyledLine

EDGE_TOLERANCE = 1.5
"""The maximum difference in points between the left edges of the lines of one cell."""

LABEL_SHARE = (0.1, 0.45)
"""The minimum and maximum width of the columns of names, as a share of the width of the text. Columns of text are
wider.
"""

MIN_CELL_LINES = 3
"""The minimum number of lines with one left edge in a column of cells."""

SPARSE = 0.6
"""The largest number of lines of names, as a share of the lines of the cells beside them."""

_NAME = re.compile(r"[^\W\d_]{2}")


def is_in_cell(line: StyledLine, lines: Sequence[StyledLine]) -> bool:
    """Return whether `line` is in a column of cells among the `lines` of a page, with names of cells on their left.

    There are few names next to many lines in the cells, and at least one name is at the height of such a line. No line
    among them reaches from the one column into the other.
    """
    upright = [other for other in lines if other.upright]
    left, right = min(other.left for other in upright), max(other.right for other in upright)
    least, most = (left + share * (right - left) for share in LABEL_SHARE)
    if not least <= line.left <= most:
        return False
    edge = line.left
    across = [other for other in upright if other.left < edge - EDGE_TOLERANCE and other.right > edge + EDGE_TOLERANCE]
    top = max((other.bottom for other in across if other.top < line.top), default=-math.inf)
    bottom = min((other.top for other in across if other.top >= line.top), default=math.inf)
    near = [other for other in upright if top <= (other.top + other.bottom) / 2 <= bottom]
    cells = [other for other in near if abs(other.left - edge) <= EDGE_TOLERANCE]
    names = [other for other in near if other.right <= edge and _NAME.search(other.text)]
    if len(cells) < MIN_CELL_LINES or not names or len(names) > SPARSE * len(cells):
        return False
    return any(abs(name.top - cell.top) < (cell.bottom - cell.top) / 2 for name in names for cell in cells)
