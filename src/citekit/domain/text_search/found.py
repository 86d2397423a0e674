"""Defines the result of a text search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import field, frozen

from citekit.domain.address import Address
from citekit.domain.node import Node
from citekit.domain.text_search.matching import Kind

PAGES_COUNTED = 10_000
"""The maximum number of pages with all words that a search of all resources counts."""


@frozen
class TextHit:
    """Lines of a file that match a query.

    `address` has their page, lines, time, or other location. Long lines in `text`, `before`, and `after` are cut.
    `before` and `after` are lines of context. `node` is the deepest node that contains the lines, and `titles` are the
    titles from the top of the map down to it. `hidden` is True if readers of the file do not see the lines. `columns`
    are the column headings of the table row in `text`, or None if they are not known.
    """

    address: Address
    kind: Kind
    text: str
    node: Node | None
    titles: Sequence[str]
    before: Sequence[str]
    after: Sequence[str]
    hidden: bool
    columns: str | None = None


@frozen(kw_only=True)
class FoundText:
    """The best hits of a text search. Hits on the same page are next to each other.

    `total` is the number of all matches in the searched text, not counting pages that lack words. If the words are on
    too many pages, only some are compared: then `total` counts the matches in these, and `pages` is the number of pages
    (or blocks of lines) that have all words, or its lower bound `PAGES_COUNTED`. Otherwise, `pages` is None. `searched`
    is the number of searched resources. `stale` has the reason for each resource whose file has changed or is missing,
    so that the text of the originally mapped file was searched; if all resources were searched, only resources with
    hits are checked. `skipped` has the reason for each resource that could not be searched. `absent` lists the words of
    the query that occur in none of the searched resources, and `instead` has the other forms of words that were found
    (`leases` for `lease`).
    """

    hits: Sequence[TextHit]
    total: int
    searched: int
    pages: int | None = None
    stale: Mapping[str, str] = field(factory=dict)
    skipped: Mapping[str, str] = field(factory=dict)
    absent: Sequence[str] = ()
    instead: Mapping[str, str] = field(factory=dict)

    @property
    def whole(self) -> Sequence[TextHit]:
        """The hits whose page or block contains all words."""
        return [hit for hit in self.hits if hit.kind is not Kind.PARTIAL]

    @property
    def is_partial(self) -> bool:
        """True if no page contains all words: the hits are then the pages that most likely answer the query as a
        question.
        """
        return self.total == 0 and bool(self.hits)
