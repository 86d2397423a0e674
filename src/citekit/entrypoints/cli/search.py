"""Implements the command `citekit search`, which finds nodes by the words in their titles and summaries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from citekit.entrypoints.cli.command import Command, resources_option
from citekit.entrypoints.cli.session import Session, pass_session
from citekit.entrypoints.cli.terminal import styled

if TYPE_CHECKING:
    from citekit.application.search import Hit


@click.command("search", cls=Command)
@click.argument("words", nargs=-1, required=True)
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="The maximum number of hits.")
@resources_option()
@pass_session
def command(session: Session, words: tuple[str, ...], limit: int, resources: tuple[str, ...]) -> None:
    """Find nodes by words in their titles and summaries.

    Searches all maps and shows the best hits first. Each of the WORDS must match the beginning of a word in the
    node. Case and accents are ignored. Words that no node contains are ignored. If no node contains all of the
    remaining words, the most common word is dropped, then the next.
    """
    for resource in resources:
        session.app.maps.get(resource)
    hits = session.app.search(" ".join(words), limit=limit, resources=resources or None)
    session.answer({"query": " ".join(words), "hits": [_plain(hit) for hit in hits]}, _lines(hits))
    if not hits:
        session.note("Nothing found.")


def _plain(hit: Hit) -> dict[str, Any]:
    return {
        "resource_id": hit.resource_id,
        "node_id": hit.head.id,
        "title": hit.head.title,
        "type": hit.head.type,
        "summary": hit.head.summary,
        "address": str(hit.address),
        "score": round(hit.score, 4),
    }


def _lines(hits: Sequence[Hit]) -> Iterator[str]:
    from citekit.domain.unicode_controls import printable
    from citekit.entrypoints.cli.tables import node_line

    for hit in hits:
        yield f"{printable(hit.resource_id)}  {node_line(hit.head)}"
        if hit.head.summary:
            yield f"    {printable(hit.head.summary)}"
        yield f"    {styled(str(hit.address), dim=True)}"
