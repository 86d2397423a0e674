"""Returns a map, or a part of it if the whole map is too large for one answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import evolve, field, frozen

from citekit.domain.errors import RequestRefused
from citekit.domain.locations import Pages
from citekit.domain.node import Node
from citekit.domain.ports.map_store import MapStore
from citekit.domain.resource_map import ResourceMap

ANSWER_LIMIT = 90_000
"""The approximate maximum number of characters in an answer: 22,000 tokens. Clients cut off answers over 25,000 tokens.
"""

NODE_COST = 190
"""Characters of a serialized node in addition to its id, title, and summary."""


@frozen(kw_only=True)
class Structure:
    """A map, or a part of it that fits into one answer.

    `nodes` is a tree that includes the ancestors of the first returned node. `whole` is true if the tree is the
    complete map. `next_cursor` requests the next part; it is None if there is no next part. `total` is the number of
    nodes in all parts.
    """

    resource_map: ResourceMap
    nodes: Sequence[Node] = field(converter=tuple[Node, ...])
    whole: bool
    next_cursor: str | None
    total: int


@frozen
class GetStructure:
    """Returns the nodes of a map in reading order, in answers of limited size."""

    maps: MapStore

    def __call__(
        self,
        resource_id: str,
        *,
        node_id: str | None = None,
        depth: int | None = None,
        cursor: str | None = None,
        limit: int = ANSWER_LIMIT,
    ) -> Structure:
        """Return the nodes of a map, or the next part of them if they do not fit into one answer.

        `node_id` selects a node and its descendants; None selects the whole map. `depth` is the number of levels: 1
        omits all children, and None includes all levels. `cursor` is the `next_cursor` of the previous part; None
        starts at the beginning. `limit` is the approximate maximum size in characters.

        Raise `ResourceMissing`, `NodeMissing`, and `RequestRefused` if the cursor is invalid or the depth is below 1.
        """
        resource_map = self.maps.get(resource_id)
        if depth is not None and depth < 1:
            raise RequestRefused(f"The depth must be at least 1, not {depth}.")
        roots = resource_map.nodes if node_id is None else (resource_map.find(node_id),)
        kept = _pruned(roots, depth)
        total = sum(1 for root in kept for _ in root.walk())
        start = _offset(cursor, total)
        count = _fitting(kept, start, limit - len(str(resource_map.metadata)))
        whole = start == 0 and count == total and depth is None and node_id is None
        return Structure(
            resource_map=resource_map,
            nodes=kept if count == total else _window(kept, start, start + count),
            whole=whole,
            next_cursor=str(start + count) if start + count < total else None,
            total=total,
        )


def _pruned(nodes: Sequence[Node], depth: int | None) -> tuple[Node, ...]:
    if depth is None:
        return tuple(nodes)
    if depth == 0:
        return ()
    return tuple(evolve(node, children=_pruned(node.children, depth - 1)) for node in nodes)


def _offset(cursor: str | None, total: int) -> int:
    if cursor is None:
        return 0
    if not cursor.isascii() or not cursor.isdigit() or len(cursor) > 9 or not 0 <= int(cursor) < max(total, 1):
        raise RequestRefused(f"The cursor {cursor[:40]!r} does not belong to this structure. Use the last next_cursor.")
    return int(cursor)


def _fitting(nodes: Sequence[Node], start: int, limit: int) -> int:
    """Return how many nodes, counted in reading order from index `start`, fit into `limit` characters. At least one
    fits.
    """
    spent = count = 0
    for number, node in enumerate(_walk(nodes)):
        if number < start:
            continue
        spent += NODE_COST + len(node.id) + len(node.title) + len(node.summary or "") + _place_cost(node)
        if count and spent > limit:
            break
        count += 1
    return count


def _place_cost(node: Node) -> int:
    """Return the estimated number of characters for the page numbers in the node's location."""
    return 7 * len(node.location.numbers) if isinstance(node.location, Pages) else 0


def _walk(nodes: Sequence[Node]) -> Iterator[Node]:
    for node in nodes:
        yield from node.walk()


def _window(nodes: Sequence[Node], start: int, end: int) -> tuple[Node, ...]:
    """Return the nodes with the indexes `start` to `end` (exclusive) in reading order, as a tree with their ancestors."""
    number = -1

    def cut(level: Sequence[Node]) -> tuple[Node, ...]:
        nonlocal number
        kept = []
        for node in level:
            number += 1
            mine = number
            if mine >= end:
                break
            children = cut(node.children)
            if start <= mine:
                kept.append(evolve(node, children=children))
            elif children:
                kept.append(evolve(node, summary=None, children=children))
        return tuple(kept)

    return cut(nodes)
