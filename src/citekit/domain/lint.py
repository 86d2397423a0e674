"""Finds problems in a map that are not errors: titles that cannot be displayed, and nodes that are out of order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from citekit.domain.locations import Chapter, Lines, Location, Pages, TimeSpan
from citekit.domain.node import Node
from citekit.domain.unicode_controls import CONTROLS, DIRECTION_CONTROLS, SEPARATORS, SURROGATES

_CONTROL = re.compile(f"[{CONTROLS}{SEPARATORS}{DIRECTION_CONTROLS}{SURROGATES}]")


def nodes_with_paths(nodes: Sequence[Node]) -> Iterator[tuple[str, Node]]:
    """Yield (path, node) for each of `nodes` and its descendants, in reading order.

    A path has the form `nodes[3].children[0]`.
    """
    pending = [(f"nodes[{at}]", node) for at, node in enumerate(nodes)][::-1]
    while pending:
        path, node = pending.pop()
        yield path, node
        pending += [(f"{path}.children[{at}]", child) for at, child in enumerate(node.children)][::-1]


def title_issue(title: str) -> str | None:
    """Return the reason why a title cannot be displayed on one line, or None if it can."""
    if not title.strip():
        return "is empty"
    return "contains control characters" if _CONTROL.search(title) else None


def display_title(node: Node) -> str:
    """Return a title for a node, without control characters.

    It is the first of these that is not blank: the title of the node, the last segment of its ID, its type, or `part`.
    """
    named = (node.title, node.id.rpartition(".")[2], node.type)
    return next((tidy for each in named if (tidy := one_line(each))), "part")


def one_line(text: str) -> str:
    """Return a text as one line, with control characters and line ends replaced by spaces."""
    return " ".join(_CONTROL.sub(" ", text).split())


def order_issues(nodes: Sequence[Node]) -> Iterator[str]:
    """Yield a `path: reason` line for each node that begins before its previous sibling."""
    for path, family in _families(nodes):
        before: tuple[float, ...] | None = None
        for at, node in enumerate(family):
            begins = _begins(node.location)
            if begins is not None and before is not None and begins < before:
                yield f"{path}[{at}]: {node.id!r} begins before its previous sibling"
            before = begins


def _families(nodes: Sequence[Node]) -> Iterator[tuple[str, Sequence[Node]]]:
    yield "nodes", nodes
    for path, node in nodes_with_paths(nodes):
        yield f"{path}.children", node.children


def _begins(location: Location) -> tuple[float, ...] | None:
    match location:
        case Lines(first=first):
            return (first,)
        case TimeSpan(start=start):
            return (start,)
        case Pages(numbers=numbers):
            return (numbers[0],)
        case Chapter(number=number, chars=chars):
            return (number, chars[0] if chars else 0)
    return None
