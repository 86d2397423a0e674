"""The levels of headings that no table of contents tells: by their numbers, else by their type."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from citekit.adapters.mapping.local.pdf.headings import Heading, Style
from citekit.adapters.mapping.local.pdf.numbering import rank_of

DEPTH = 6


def levels_of(found: Sequence[Heading]) -> list[int]:
    """The depth of its number, where a heading has one; else that of its style, larger ones above smaller ones."""
    styles = sorted({heading.style for heading in found}, key=lambda style: (-style[1], not style[2], not style[3]))
    depths = {style: _usual_depth(found, style) for style in styles}
    numbered = any(depths.values())
    levels: dict[Style, int] = {}
    level = 0
    for style in styles:
        below = min(level + 1, DEPTH) if level or not numbered else 1
        level = depths[style] or below
        levels[style] = level
    raw = [_level(heading, levels) for heading in found]
    least = min(raw)
    return [level - least + 1 for level in raw]


def _level(heading: Heading, levels: dict[Style, int]) -> int:
    if rank_of(heading.text) == 0:
        return 0
    return min(heading.depth or levels[heading.style], DEPTH)


def _usual_depth(found: Sequence[Heading], style: Style) -> int:
    """The depth of most numbered headings of `style`, 0 where fewer than a quarter of them has a number."""
    own = [heading.depth for heading in found if heading.style == style]
    depths = Counter(depth for depth in own if depth)
    return depths.most_common(1)[0][0] if depths.total() * 4 >= len(own) and depths else 0
