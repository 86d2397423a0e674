"""Implements the command `citekit find`."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click

from citekit.application.find_text import resource_named
from citekit.application.titled_nodes import nodes_besides
from citekit.domain.formats import by_name
from citekit.domain.suggestions import name_meant
from citekit.domain.text_search.limits import CONTEXT_LIMIT, HIT_LIMIT, LIMIT, PARTIAL_LIMIT
from citekit.domain.unicode_controls import printable
from citekit.entrypoints.cli.command import Command, password_option, resources_option, roots_option, tag_option
from citekit.entrypoints.cli.progress import watching
from citekit.entrypoints.cli.session import Session, pass_session
from citekit.entrypoints.cli.titles import TITLES, compact_lines, node_lines, nodes_titled, plain_nodes
from citekit.entrypoints.cli.view import search_for, show
from citekit.entrypoints.found_text import found_lines
from citekit.wire.found_text import to_plain

if TYPE_CHECKING:
    from citekit.domain.ports.map_store import MapStore


@click.command("find", cls=Command)
@click.argument("words", nargs=-1, required=True)
@resources_option()
@tag_option("Search only resources with this tag.")
@click.option("--regex", is_flag=True, help="Treat WORDS as a regular expression that matches inside one line.")
@click.option("--titles", is_flag=True, help="Search only the titles and summaries of nodes, and show their IDs.")
@click.option(
    "--limit",
    type=click.IntRange(1, HIT_LIMIT),
    help=f"The maximum number of matches (default: {LIMIT}; {PARTIAL_LIMIT} if no page has all words; {TITLES} with "
    "--titles).",
)
@click.option(
    "--context",
    "context_lines",
    type=click.IntRange(0, CONTEXT_LIMIT),
    default=0,
    show_default=True,
    help="The number of lines to show before and after each match.",
)
@click.option("--open", "opened", is_flag=True, help="Show the search in the browser (see citekit view).")
@roots_option()
@password_option("a source PDF")
@pass_session
def command(
    session: Session,
    words: tuple[str, ...],
    resources: tuple[str, ...],
    tag: str | None,
    regex: bool,
    titles: bool,
    limit: int | None,
    context_lines: int,
    opened: bool,
    roots: tuple[str, ...],
    password: str | None,
) -> None:
    """Find words in the text of mapped files.

    Shows the matching lines with the address of their page, lines, or time: headings and captions first, then lines
    that contain all WORDS, then groups of nearby lines that together contain them, then pages on which they are
    farther apart. Case and accents are ignored. Put a phrase in quotation marks inside the argument: citekit find
    '"net sales" 2023'. The text of a file that was not searched before is read first, which can take seconds. If the
    last of the WORDS is the ID of a resource or the name of a mapped file, such as report.pdf, only this resource is
    searched; a name that is also an ordinary word needs --resource.

    Titles of nodes that contain all WORDS and are not written in the text, such as those of scenes in a video, come
    first. With --titles, only titles and summaries are searched: each of the WORDS must match the beginning of a word in
    the node. Words that no node contains are ignored. If no node contains all of the remaining words, the most common
    word is dropped, then the next.
    """
    if tag is not None:
        if resources:
            raise click.UsageError("--tag cannot be combined with --resource.")
        resources = tuple(session.app.tag.tagged(tag))
    last = None if resources or tag or regex or len(words) < 2 else _resource_named(session.app.maps, words[-1])
    if last is not None and not words[-1].isalnum():
        session.note(
            f"Searching only in {last}. To search for {words[-1]} as words, put it in quotation marks: '\"{words[-1]}\"'."
        )
        words, resources, last = words[:-1], (last,), None
    query = " ".join(words)
    if titles:
        if regex or context_lines or opened:
            raise click.UsageError("--titles cannot be combined with --regex, --context, or --open.")
        nodes = nodes_titled(session.app, query, resources, limit or TITLES)
        session.answer({"query": query, "titles": plain_nodes(nodes)}, node_lines(nodes))
        if not nodes:
            session.note("Nothing found.")
        return
    if opened and tag is None and len(resources) > 1:
        raise click.UsageError(
            "--open cannot be combined with several --resource options. Name one resource, or use --tag."
        )
    app = session.app_with(password=password)
    with watching(session, "Searching") as watch:
        found = app.find_text(
            query,
            resources,
            regex=regex,
            limit=limit,
            context_lines=context_lines,
            roots=[Path(root) for root in roots],
            progress=watch,
        )
        nodes = [] if regex else nodes_besides(app.search, query, resources, found)
    if last is not None and not found.whole:
        session.note(
            f"{last} is also the ID of a mapped file. To search only in this file, replace the last word with --resource "
            f"{last}."
        )
    if not found.searched and not found.skipped:
        session.note(f"Nothing is mapped. {session.home_hint()}")
    plain = {"query": query, **({"titles": plain_nodes(nodes)} if nodes else {}), **to_plain(found)}
    session.answer(plain, (printable(line) for line in chain(compact_lines(nodes), found_lines(found))))
    if opened:
        show(session, app, search_for(query, tag, resource_named(resources[0]) if resources and tag is None else ""))


def _resource_named(maps: MapStore, text: str) -> str | None:
    """Return the ID of the resource that `text` names by its ID, its address, or a file name that fits only this
    resource, or None.
    """
    if '"' in text:
        return None
    named, known = resource_named(text), maps.ids()
    if named in known:
        return named
    return name_meant(text, known) if by_name(text) is not None else None
