"""Finds nodes by their titles, in addition to the matches in the text of files."""

from __future__ import annotations

from collections.abc import Sequence

from citekit.application.named_parts import part_named
from citekit.application.search import Hit, Search
from citekit.domain.chunks import is_chunk
from citekit.domain.text_search.found import FoundText
from citekit.domain.text_search.match_kind import Kind
from citekit.domain.words import words_of

SEARCHED = 20
"""The maximum number of nodes whose titles are compared with the words."""

LISTED = 5
"""The maximum number of nodes that are listed in addition to the matches in the text."""


def nodes_besides(search: Search, query: str, resources: Sequence[str], found: FoundText) -> list[Hit]:
    """Return at most `LISTED` nodes whose titles contain every word of `query`, except chunks and the headings in
    `found`.
    """
    wanted = set(words_of(query))
    headings = {
        (hit.address.resource_id, hit.node.id)
        for hit in found.hits
        if hit.kind is Kind.HEADING and hit.node is not None
    }
    named = [part_named(search.maps, each) for each in resources]
    names = [each if isinstance(each, str) else each.resource_id for each in named]
    hits = search(query, limit=SEARCHED, resources=names or None)
    besides = [
        hit
        for hit in hits
        if not is_chunk(hit.head)
        and wanted <= set(words_of(hit.head.title))
        and (hit.resource_id, hit.head.id) not in headings
    ]
    return besides[:LISTED]
