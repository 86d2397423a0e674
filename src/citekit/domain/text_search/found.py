"""The result of a search for text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import field, frozen

from citekit.domain.address import Address
from citekit.domain.node import Node
from citekit.domain.text_search.matching import Kind


@frozen
class TextHit:
    """Lines that match. `address` is their page, line range, or time range; `text` has the lines as the file has them.

    `node` is the deepest node that contains them, and `titles` are the titles from the top of the map down to that
    node. `hidden` is true for text that readers of the file do not see.
    """

    address: Address
    kind: Kind
    text: str
    node: Node | None
    titles: Sequence[str]
    before: Sequence[str]
    after: Sequence[str]
    hidden: bool


@frozen(kw_only=True)
class FoundText:
    """The best hits, those of a page together. `total` counts all matches in the searched text.

    `stale` has the reason for each resource whose file has changed or is missing: its text is that of the mapped file.
    `skipped` has the reason for each resource that could not be searched. `absent` are the words of the query that
    occur in none of the searched resources.
    """

    hits: Sequence[TextHit]
    total: int
    searched: int
    stale: Mapping[str, str] = field(factory=dict)
    skipped: Mapping[str, str] = field(factory=dict)
    absent: Sequence[str] = ()
