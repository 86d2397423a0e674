"""Returns a map, or a part of it if the whole map is too large for one answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from functools import partial

from attrs import evolve, field, frozen

from citekit.domain.errors import RequestRefused
from citekit.domain.locations import Pages
from citekit.domain.node import Node
from citekit.domain.ports.map_store import MapStore
from citekit.domain.resource_map import ResourceMap

ANSWER_LIMIT = 90_000
"""The approximate maximum number of characters in an answer: 22,000 tokens. Some clients cut off answers over 25,000
tokens.
"""

NODE_COST = 190
"""The approximate number of characters of a serialized node without its ID, title, summary, and page numbers."""

Cost = Callable[[Node, int], int]
"""Returns the number of characters that a node at a depth (from 0) takes up in an answer."""


def json_cost(node: Node, _depth: int) -> int:
    """Return the approximate number of characters of a node in JSON."""
    return NODE_COST + len(node.id) + len(node.title) + len(node.summary or "") + _place_cost(node)


@frozen(kw_only=True)
class Structure:
    """A part of a map: `nodes` as a tree, below the ancestors of the first node.

    `nodes` were selected from `outline`: the stored map `resource_map`, without the library's chunks unless they were
    requested.
    `whole` is true if all of `outline` was requested, without a budget, and is in `nodes`. `next_cursor` requests the
    next part, if any. `total` is the number of requested nodes, and `cut` the number of those that did not fit into the
    budget.
    """

    resource_map: ResourceMap
    outline: ResourceMap
    nodes: Sequence[Node] = field(converter=tuple[Node, ...])
    whole: bool
    next_cursor: str | None
    total: int
    cut: int = 0


@frozen
class GetStructure:
    """Returns a map, or a part of it, in answers of bounded size."""

    maps: MapStore

    def __call__(
        self,
        resource_id: str,
        *,
        node_id: str | None = None,
        depth: int | None = None,
        title_contains: str | None = None,
        include_chunks: bool = False,
        cursor: str | None = None,
        limit: int = ANSWER_LIMIT,
        budget: int | None = None,
        cost: Cost = json_cost,
    ) -> Structure:
        """Return the node `node_id` and what is below it (default: everything), starting at `cursor`.

        `depth` is the number of levels: 1 means the top level, or `node_id` and its children. With `title_contains`,
        return only the nodes whose titles contain that text, regardless of case, below their ancestors. The library's
        chunks are returned only if `include_chunks` is true, or if `node_id` is a chunk.

        About `limit` characters are returned at once, in reading order. With a `budget` in characters, higher levels
        come first instead, and the nodes that do not fit are cut.

        Raise the errors of `MapStore.get`, `NodeMissing`, and `RequestRefused` for an invalid cursor, a depth below 1,
        an empty `title_contains`, and a cursor together with a budget.
        """
        _check(depth, title_contains, cursor, budget)
        stored = self.maps.get(resource_id)
        outline = stored if include_chunks or _is_below_outline(stored, node_id) else stored.outline
        roots = outline.nodes if node_id is None else (outline.find(node_id),)
        wanted = _levels(roots, node_id, depth)
        if title_contains is not None:
            wanted = _only(wanted, _matching(wanted, title_contains))
        total = sum(1 for _ in _walk(wanted))
        found = partial(Structure, resource_map=stored, outline=outline, total=total)
        if budget is not None:
            shown = _coarse(wanted, budget, cost)
            cut = total - len(shown)
            return found(nodes=_only(wanted, shown) if cut else wanted, whole=False, next_cursor=None, cut=cut)
        start = _offset(cursor, total)
        end = start + _fitting(wanted, start, limit - len(str(outline.metadata)), cost)
        is_complete = start == 0 and end == total
        return found(
            nodes=wanted if is_complete else _window(wanted, start, end),
            whole=is_complete and (node_id, depth, title_contains) == (None, None, None),
            next_cursor=str(end) if end < total else None,
        )


def _check(depth: int | None, title_contains: str | None, cursor: str | None, budget: int | None) -> None:
    if depth is not None and depth < 1:
        raise RequestRefused(f"The depth must be at least 1, not {depth}.")
    if title_contains is not None and not title_contains.strip():
        raise RequestRefused("title_contains is empty. Give a part of a title, or omit title_contains.")
    if cursor is not None and budget is not None:
        raise RequestRefused("A cursor cannot be combined with a token budget. Omit one of the two.")


def _is_below_outline(stored: ResourceMap, node_id: str | None) -> bool:
    """Return whether the caller named a chunk."""
    return node_id is not None and node_id in stored and node_id not in stored.outline


def _levels(roots: Sequence[Node], node_id: str | None, depth: int | None) -> tuple[Node, ...]:
    """Return `depth` levels of the trees, not counting the level of a named node."""
    return _pruned(roots, depth + 1 if depth is not None and node_id is not None else depth)


def _matching(nodes: Sequence[Node], words: str) -> set[str]:
    """Return the IDs of the nodes whose titles contain `words`, and of all nodes above them."""
    wanted = _plain(words)
    found: set[str] = set()
    for node in reversed(list(_walk(nodes))):
        if wanted in _plain(node.title) or any(child.id in found for child in node.children):
            found.add(node.id)
    return found


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _only(nodes: Sequence[Node], wanted: Set[str]) -> tuple[Node, ...]:
    """Return the trees of the nodes with the IDs in `wanted`, which include those of their parents."""
    return tuple(evolve(node, children=_only(node.children, wanted)) for node in nodes if node.id in wanted)


def _coarse(nodes: Sequence[Node], budget: int, cost: Cost) -> set[str]:
    """Return the IDs of the nodes that fit into the budget, level by level."""
    shown: set[str] = set()
    level, depth = list(nodes), 0
    while level:
        for node in level:
            budget -= cost(node, depth)
            if budget < 0:
                return shown
            shown.add(node.id)
        level, depth = [child for node in level for child in node.children], depth + 1
    return shown


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
        raise RequestRefused(
            f"The cursor {cursor[:40]!r} does not belong to this structure. Use the next_cursor of the last answer."
        )
    return int(cursor)


def _fitting(nodes: Sequence[Node], start: int, limit: int, cost: Cost) -> int:
    """Return how many nodes, in reading order from index `start`, fit into `limit` characters; at least one."""
    spent = count = 0
    for number, node in enumerate(_walk(nodes)):
        if number < start:
            continue
        spent += cost(node, 0)
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
    """Return the nodes with the indexes `start` to `end` (exclusive) in reading order, as a tree with their ancestors.

    Ancestors before `start` have no summaries.
    """
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
