"""The tree and the order that the relationships of LlamaIndex's nodes tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from citekit.adapters.adapting.llamaindex_nodes import LlamaNode
from citekit.adapters.adapting.nesting import parents_of


def tree_of(nodes: Mapping[str, LlamaNode]) -> dict[str, str]:
    """The parent of every node that has one among `nodes`."""
    told = [(number, node.parent) for number, node in nodes.items()]
    return parents_of([*told, *((child, number) for number, node in nodes.items() for child in node.children)], nodes)


def in_order(numbers: Sequence[str], nodes: Mapping[str, LlamaNode]) -> list[str]:
    """Siblings in reading order: as they are stored, but each directly followed by the one that it names as next."""
    family = set(numbers)
    followers = {nodes[number].next for number in numbers if nodes[number].next in family - {number}}
    ordered: dict[str, None] = {}
    for start in [*(number for number in numbers if number not in followers), *numbers]:
        number = start
        while number in family and number not in ordered:
            ordered[number] = None
            number = nodes[number].next
    return list(ordered)
