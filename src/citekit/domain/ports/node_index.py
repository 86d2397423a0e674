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
    """Every answer is that of the maps as they are now: what is remembered of them is checked before it is told.

    **Which nodes count.** A node has a word where a word of its title or summary begins with it. Those count that have
    the most of the words. Of the nodes that have the same words, where there are more than 500 (or `limit`, where that is
    more), only the first 500 count: those whose title has every such word whole come first, then those where words of the
    title begin with them, then the others; of these the short ones, by the length below: under 32, under 64, under
    128, and longer; of these the first in the order of the maps and of reading.

    **Score.** A word counts 1 where it is in a text whole, and 1/2 where others begin with it; in a title three times as
    much. Each word is weighed by `1 + ln(1 + n / (1 + k))`, where `n` nodes count, and `k` have the word with 3 or more.
    The sum is divided by `1 + ln(1 + length) / 10`, the length being the characters of the title and a quarter of those of
    the summary. Of equal scores the first in the order of the maps and of reading comes first.
    """

    def best(self, words: Sequence[str], *, limit: int, resources: Sequence[str] | None = None) -> Sequence[FoundNode]:
        """The best `limit` nodes, best first. `words` are different ones of `words_of`; without any nothing is found.

        `resources` are the maps that are looked into, in that order; without, it is all, in the order of their ids.
        Maps that are missing or damaged are passed over.
        """
