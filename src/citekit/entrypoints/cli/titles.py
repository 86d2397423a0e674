"""Finds nodes by the words in their titles and summaries, for `citekit find`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from citekit.application.named_parts import part_named
from citekit.domain.chunks import is_chunk
from citekit.domain.text_search.matching import Kind
from citekit.domain.unicode_controls import printable
from citekit.domain.words import words_of
from citekit.entrypoints.cli.tables import node_line
from citekit.entrypoints.cli.terminal import styled

if TYPE_CHECKING:
    from citekit.application.search import Hit
    from citekit.container import Container
    from citekit.domain.text_search.found import FoundText

TITLES = 20
"""The default number of nodes in an answer about titles only."""

TITLES_WITH_TEXT = 5
"""The maximum number of nodes in an answer that also has matches in the text."""


def nodes_titled(app: Container, query: str, resources: Sequence[str], limit: int) -> list[Hit]:
    """Return the best nodes for the words, from `resources` or, if there are none, from all maps.

    Raise `ResourceMissing`.
    """
    for resource in resources:
        app.maps.get(resource)
    return app.search(query, limit=limit, resources=resources or None)


def nodes_besides(app: Container, query: str, resources: Sequence[str], found: FoundText) -> list[Hit]:
    """Return the nodes with every word of `query` in their titles that are not in `found` as headings.

    They are the nodes of files without text, and titles that are not written in the text. The chunks of the library are
    left out.
    """
    wanted = set(words_of(query))
    headings = {
        (hit.address.resource_id, hit.node.id)
        for hit in found.hits
        if hit.kind is Kind.HEADING and hit.node is not None
    }
    named = [part_named(app.maps, each) for each in resources]
    names = [each if isinstance(each, str) else each.resource_id for each in named]
    hits = app.search(query, limit=TITLES, resources=names or None)
    besides = [
        hit
        for hit in hits
        if not is_chunk(hit.head)
        and wanted <= set(words_of(hit.head.title))
        and (hit.resource_id, hit.head.id) not in headings
    ]
    return besides[:TITLES_WITH_TEXT]


def plain_nodes(hits: Sequence[Hit]) -> list[dict[str, Any]]:
    """Return the nodes as plain data."""
    return [
        {
            "resource_id": hit.resource_id,
            "node_id": hit.head.id,
            "title": hit.head.title,
            "type": hit.head.type,
            "summary": hit.head.summary,
            "address": str(hit.address),
            "score": round(hit.score, 4),
        }
        for hit in hits
    ]


def node_lines(hits: Sequence[Hit]) -> Iterator[str]:
    """Yield up to three lines for each node: its ID, location, and title; its summary; and its address."""
    for hit in hits:
        yield f"{printable(hit.resource_id)}  {node_line(hit.head)}"
        if hit.head.summary:
            yield f"    {printable(hit.head.summary)}"
        yield f"    {styled(str(hit.address), dim=True)}"


def compact_lines(hits: Sequence[Hit]) -> Iterator[str]:
    """Yield a line for each node with its address and title, after a line that counts them."""
    if hits:
        yield f"{len(hits)} {'title' if len(hits) == 1 else 'titles'}"
    for hit in hits:
        yield f"{hit.address}  {' '.join(hit.head.title.split())}"
