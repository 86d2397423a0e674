"""Finds nodes by words in their titles and summaries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from citekit.domain.phrases import counted
from citekit.domain.unicode_controls import printable
from citekit.entrypoints.cli.tables import node_line
from citekit.entrypoints.cli.terminal import styled

if TYPE_CHECKING:
    from citekit.application.search import Hit
    from citekit.container import Container

TITLES = 20
"""The default maximum number of nodes."""


def nodes_titled(app: Container, query: str, resources: Sequence[str], limit: int) -> list[Hit]:
    """Return at most `limit` nodes that best match the words, from `resources` or, if it is empty, from all maps.

    Raise the errors of `MapStore.get` for `resources`.
    """
    for resource in resources:
        app.maps.get(resource)
    return app.search(query, limit=limit, resources=resources or None)


def plain_nodes(hits: Sequence[Hit]) -> list[dict[str, object]]:
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
    """Yield up to three lines for each node: ID, location, and title; summary; and address."""
    for hit in hits:
        yield f"{printable(hit.resource_id)}  {node_line(hit.head)}"
        if hit.head.summary:
            yield f"    {printable(hit.head.summary)}"
        yield f"    {styled(str(hit.address), dim=True)}"


def compact_lines(hits: Sequence[Hit]) -> Iterator[str]:
    """Yield the number of nodes, then the address and title of each."""
    if hits:
        yield counted(len(hits), "title")
    for hit in hits:
        yield f"{hit.address}  {' '.join(hit.head.title.split())}"
