"""The port for the full-text search of nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from attrs import frozen

from citekit.domain.node import Node


@frozen
class FoundNode:
    """A node found in the map `resource_id`. A higher `score` is better.

    `head` is the node without its children. `is_leaf` is True if it has none, so that `head` is the complete node.
    """

    resource_id: str
    head: Node
    is_leaf: bool
    score: float


class NodeIndex(Protocol):
    """Finds nodes by words. Every result reflects the current maps: cached data is checked before it is returned.

    **Matching nodes.** A node matches a word if a word of its title or summary begins with it. A node must match every
    word of the query, except words that no node matches. If no node matches all the others, the most common word is
    dropped, and so on, until some node matches all remaining words. The frequency of a word is the number of different
    words that begin with it in a node, summed over the nodes. Of equally common words, the later one in the query is
    dropped first. If more than 500 nodes (or `limit`, if that is greater) match all remaining words, only the first 500
    are scored: nodes whose title contains every such word as a whole, then nodes whose title has words that begin with
    each, then the others. Among those matched by title, titles shorter than 32 characters come first. After that, the
    order is that of the maps and of reading.

    **Score.** A word counts 1 if a text contains it as a whole, and 1/2 if a longer word begins with it; in a title,
    three times as much. Dropped words count too. Each is weighted by `1 + ln(1 + n / (1 + k))`, where `n` nodes are
    scored, and `k` of them have the word with 3 or more. The sum is divided by `1 + ln(1 + length) / 10`. The length is
    the number of characters of the title plus a quarter of those of the summary. Nodes with equal scores are in the
    order of the maps and of reading.
    """

    def best(self, words: Sequence[str], *, limit: int, resources: Sequence[str] | None = None) -> Sequence[FoundNode]:
        """Return the best `limit` nodes, best first. `words` are distinct words of `words_of`; without any, the result
        is empty.

        `resources` are the maps to search, in that order, as if there were no others. By default, all maps are searched
        in the order of their IDs. Maps that are missing or damaged are skipped.
        """
