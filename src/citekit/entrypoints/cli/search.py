"""Implements `citekit search`, the former name of `citekit find --titles`, with its earlier JSON document."""

from __future__ import annotations

import click

from citekit.entrypoints.cli.command import Command, resources_option
from citekit.entrypoints.cli.session import Session, pass_session
from citekit.entrypoints.cli.titles import TITLES, node_lines, nodes_titled, plain_nodes


@click.command("search", cls=Command)
@click.argument("words", nargs=-1, required=True)
@click.option(
    "--limit", type=click.IntRange(min=1), default=TITLES, show_default=True, help="The maximum number of hits."
)
@resources_option()
@pass_session
def command(session: Session, words: tuple[str, ...], limit: int, resources: tuple[str, ...]) -> None:
    """Find nodes by words in their titles and summaries. This is the former name of: citekit find --titles."""
    query = " ".join(words)
    hits = nodes_titled(session.app, query, resources, limit)
    session.answer({"query": query, "hits": plain_nodes(hits)}, node_lines(hits))
    if not hits:
        session.note("Nothing found.")
