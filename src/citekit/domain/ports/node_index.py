"""Finds nodes by words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from attrs import frozen

from citekit.domain.node import Node


@frozen
class FoundNode:
    """A node that was found in the map `resource_id`; a higher `score` is better.

    `head` is the node without its children; `is_leaf` where it has none, so that `head` is all of it.
    """

    resource_id: str
    head: Node
    is_leaf: bool
    score: float


class NodeIndex(Protocol):
    """Every answer is that of the maps as they are now: cached data is checked before it is returned.

    **Which nodes count.** A node has a word where a word of its title or summary begins with it. A node must have every
    word of the question, but words that no node has are left out; and where no node has all of the others, the most
    common is left out, then the next, until some node has all that remain. How common a word is: the different words of a
    node that begin with it, summed over the nodes; of equally common ones the later in the question is left out first.
    Where more than 500 nodes (or `limit`, where that is more) have all that remain, only the first 500 count: those
    whose title has every such word whole, then those where words of the title begin with each, then the others; of those
    found by their titles the short ones, of a length under 32, come first; then the order is that of the maps and of reading.

    **Score.** A word counts 1 where it is in a text whole, and 1/2 where others begin with it; in a title three times as
    much; one that was left out counts, too. Each is weighed by `1 + ln(1 + n / (1 + k))`, where `n` nodes count, and `k`
    of them have the word with 3 or more.
    The sum is divided by `1 + ln(1 + length) / 10`, the length being the characters of the title and a quarter of those of
    the summary. Of equal scores the first in the order of the maps and of reading comes first.
    """

    def best(self, words: Sequence[str], *, limit: int, resources: Sequence[str] | None = None) -> Sequence[FoundNode]:
        """The best `limit` nodes, best first. `words` are different ones of `words_of`; without any nothing is found.

        `resources` are the maps that are looked into, in that order, as if there were no others; without, it is all, in the
        order of their ids.
        Maps that are missing or damaged are passed over.
        """
