"""The tree and the order that the relationships of LlamaIndex's nodes tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from citekit.adapters.adapting.llamaindex_nodes import LlamaNode

DEPTH_LIMIT = 40
"""Levels of nodes; deeper ones stand on the last level."""


def parents_of(nodes: Mapping[str, LlamaNode]) -> dict[str, str]:
    """The parent of every node that has one among `nodes`; a relation that would close a circle is left out."""
    told = [(number, node.parent) for number, node in nodes.items()]
    told += [(child, number) for number, node in nodes.items() for child in node.children]
    parents: dict[str, str] = {}
    for child, parent in told:
        if child in nodes and parent in nodes and child not in parents:
            above = _above(parents, parent)
            if child not in above:
                parents[child] = above[-DEPTH_LIMIT] if len(above) >= DEPTH_LIMIT else parent
    return parents


def _above(parents: Mapping[str, str], number: str) -> list[str]:
    """That node and all above it, the nearest first."""
    found = [number]
    while found[-1] in parents:
        found.append(parents[found[-1]])
    return found


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
