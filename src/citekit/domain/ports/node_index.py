"""Defines the port for the full-text search of nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from attrs import frozen

from citekit.domain.node import Node

SCORED = 500
"""Default maximum number of nodes that are scored."""


@frozen
class FoundNode:
    """A node found in the map `resource_id`. A higher `score` is better.

    `head` is the node without its children; `is_leaf` says that it has none.
    """

    resource_id: str
    head: Node
    is_leaf: bool
    score: float


class NodeIndex(Protocol):
    """Finds nodes by words. Results reflect the current maps.

    **Matching nodes.** A node matches a query word if a word of its title or summary begins with that query word. A
    node must match every word of the query, except words that no node matches. If no node matches all the other words,
    the most common word is dropped, and so on, until some node matches all remaining words. The frequency of a query
    word is the sum, over all nodes, of the number of different words in the node that begin with it. If several words
    are equally common, the one that is latest in the query is dropped first. If more than 500 nodes (or `limit`, if
    that is greater) match all remaining words, only the first 500 (or `limit`) are scored, in this order: nodes whose
    title contains every remaining word as a whole, nodes whose title has words that begin with each remaining word, and
    all other nodes. Among nodes matched by title, those with a length (see below) of less than 32 come first.
    Otherwise, nodes are in the order of their maps and in reading order.

    **Score.** A query word counts 1 if a text contains it as a whole, plus 1/2 if a longer word begins with it. In a
    title it counts three times as much. Dropped words count too. Each word is weighted by `1 + ln(1 + n / (1 + k))`,
    where `n` is the number of scored nodes, and `k` is the number of scored nodes in which the word counts 3 or more.
    The sum is divided by `1 + ln(1 + length) / 10`. The length is the number of characters of the title plus a quarter
    of the number of characters of the summary. Nodes with equal scores are in the order of their maps and in reading
    order.
    """

    def best(
        self, words: Sequence[str], *, limit: int, resources: Sequence[str] | None = None, scored: int = SCORED
    ) -> Sequence[FoundNode]:
        """Return the `limit` best nodes, best first.

        `words` are distinct words from `words_of`; if there are none, the result is empty. `resources` are the IDs of
        the maps to search, in that order; other maps do not affect the result. None means all maps in the order of
        their IDs. Maps that are missing or damaged are skipped. `scored` replaces the 500 of the rules above. Raise
        `StoreUnavailable` if the index is in a database that cannot be used.
        """
