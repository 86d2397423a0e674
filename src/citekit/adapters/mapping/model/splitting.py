"""Where a long input is cut: at borders of its structure, coarse ones first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate

from citekit.adapters.mapping.model.places import Place
from citekit.adapters.mapping.model.scales import Scale
from citekit.domain.node import Node


def pieces(costs: Sequence[float], limit: float, borders: Mapping[int, int]) -> list[tuple[int, int]]:
    """Ranges (start, end), end excluded, that cover all items of `costs` in order; each costs at most `limit`.

    An item that costs more is a piece of its own. `borders` tells of items that begin a part how deep that part is, from 1:
    of the borders in the second half of what fits, the one least deep is taken, and of those the last.
    """
    sums = [0.0, *accumulate(costs)]
    found: list[tuple[int, int]] = []
    start = 0
    while start < len(costs):
        end = start + 1
        while end < len(costs) and sums[end + 1] - sums[start] <= limit:
            end += 1
        if end < len(costs):
            good = [n for n in range(start + 1, end + 1) if n in borders and sums[n] - sums[start] >= limit / 2]
            end = min(good, key=lambda n: (borders[n], -n), default=end)
        found.append((start, end))
        start = end
    return found


def borders_of(nodes: Iterable[Node], scale: Scale) -> dict[float, int]:
    """Where nodes of a map begin, on `scale`, and how deep the least deep of them is."""
    found: dict[float, int] = {}
    pending = [(node, 1) for node in nodes]
    while pending:
        node, depth = pending.pop()
        place = scale.placed(node.location)
        if place is not None:
            found[place[0]] = min(depth, found.get(place[0], depth))
        pending.extend((child, depth + 1) for child in node.children)
    return found


def overlapping(place: Place, window: Place) -> bool:
    """Whether a place begins in `window` or reaches into it."""
    return place[0] <= window[1] and place[1] >= window[0]
