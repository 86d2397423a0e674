"""Defines the result of a text search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import field, frozen

from citekit.domain.address import Address
from citekit.domain.node import Node
from citekit.domain.text_search.match_kind import Kind


@frozen
class TextHit:
    """Lines of a file that match a query.

    Long lines in `text` are cut. `before` and `after` are lines of context. `node` is the deepest node that contains
    the lines, and `titles` are those from the top of the map down to it. `hidden` is True if readers do not see the
    lines. `columns` are the column headings of the table row in `text`, if known.
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

    `total` is the number of all matches, not counting pages that lack words. If the words are on too many pages, only
    some are compared: then `total` counts the matches in these, and `pages` is the number of pages (or blocks of lines)
    that have all words, or its lower bound `PAGES_COUNTED`. `searched` is the number of searched resources. `stale` has
    the reason for each resource whose file has changed or is missing; if all resources were searched, only those with
    hits are checked. `skipped` has the reason for each resource that could not be searched. `absent` lists the words
    that occur in none of the searched resources, and `instead` has other forms of words that were found (`leases` for
    `lease`).
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
        """True if no page contains all words, but there are hits, all of them `Kind.PARTIAL`."""
        return self.total == 0 and bool(self.hits)
