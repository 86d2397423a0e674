"""`citekit query`, and `citekit library query`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from time import perf_counter
from typing import Any

import click

from citekit.domain.address import parse_address
from citekit.domain.progress import silent
from citekit.domain.unicode_controls import printable
from citekit.entrypoints.cli.command import Command
from citekit.entrypoints.cli.formatting import counted, lasted, place
from citekit.entrypoints.cli.library.options import answer, collection, filters
from citekit.entrypoints.cli.library.text_wrapping import folded
from citekit.entrypoints.cli.progress import watching
from citekit.entrypoints.cli.resolve import evidence_lines, plain_evidence
from citekit.entrypoints.cli.session import Session, pass_session
from citekit.entrypoints.cli.terminal import styled
from citekit.entrypoints.library import asking

MODES = ("precise", "contextual", "comprehensive")
SHOWN = 5
"""Lines of a hit that a person is shown."""


@click.command("query", cls=Command)
@click.argument("question", nargs=-1, required=True, metavar="QUESTION")
@click.option("--limit", "-n", type=click.IntRange(1, 20), default=5, show_default=True, help="How many hits at most.")
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1),
    default=0.5,
    show_default=True,
    help="The score that a hit has at least.",
)
@click.option(
    "--context",
    "context_mode",
    type=click.Choice(MODES),
    default="precise",
    show_default=True,
    help="With each hit: nothing, its chapter, or also the chunks around it (their texts with --json).",
)
@filters()
@click.option("--tag", "tags", multiple=True, metavar="TEXT", help="Only books with such a tag; repeatable.")
@click.option("--guardian", default="none", show_default=True, metavar="ID", help="Who speaks: see library guardians.")
@click.option(
    "--pattern", "response_pattern", default="free", show_default=True, metavar="ID", help="How the answer is given."
)
@collection()
@click.option("--open", "opened", is_flag=True, help="Cut out the best hit: print where its evidence is.")
@pass_session
def command(session: Session, /, question: tuple[str, ...], tags: tuple[str, ...], opened: bool, **wanted: Any) -> None:
    """Ask a library of books, and open the very page.

    Finds by meaning and by words at once. Every hit has an address that `citekit resolve` cuts out.
    """
    arguments = {**wanted, "query": " ".join(question), "tags": ",".join(tags)}
    start = perf_counter()
    plain = asking.query(session.app.alexandria, arguments, silent)
    seconds = perf_counter() - start
    if opened and plain["results"] and not plain["error"]:
        plain = {**plain, "opened": _opened(session, plain["results"][0])}
    answer(session, plain, lambda: _lines(plain, seconds))
    for problem in ("guardian_error", "response_pattern_error"):
        if problem in plain:
            session.note(printable(plain[problem]))
    if not plain["results"]:
        session.note("Nothing found. A lower --threshold shows what comes nearest.")


def _opened(session: Session, best: Mapping[str, Any]) -> dict[str, Any]:
    start = perf_counter()
    with watching(session, "Cutting out") as watch:
        evidence = session.app.resolve(parse_address(best["address"]), progress=watch)
    seconds = perf_counter() - start
    session.say(evidence_lines(evidence, seconds))
    session.say([""])
    return plain_evidence(evidence, seconds)


def _lines(plain: Mapping[str, Any], seconds: float) -> Iterator[str]:
    for number, hit in enumerate(plain["results"], start=1):
        where = place(parse_address(hit["address"]).location)
        head = f"{number}. {hit['book_title']}, {hit['author']}: {hit['section_name']}, {where}"
        yield styled(printable(head), bold=True)
        passage = hit.get("passage") or {"text": hit["text"], "address": hit["address"]}
        if "foreign" in hit:
            passage = {**passage, "text": f"({hit['foreign']})"}
        flat = printable(" ".join(passage["text"].split()))
        yield from (f"   {line}" for line in folded(flat, 93, SHOWN))
        yield f"   {styled(printable(passage['address'] or hit['address']), fg='cyan')}  score {hit['score']:.2f}"
        yield from (f"   the same  {styled(printable(each), fg='cyan')}" for each in hit.get("copies", ()))
        yield from _context(hit)
    if plain.get("response_instruction"):
        yield ""
        yield from map(printable, plain["response_instruction"].splitlines())
    if plain["results"]:
        yield ""
        yield styled(f"{counted(plain['result_count'], 'hit')} in {lasted(seconds)}", dim=True)


def _context(hit: Mapping[str, Any]) -> Iterator[str]:
    """Where the chapter of a hit is, and the chunks around it; their texts are in the JSON document."""
    if hit.get("parent_context"):
        yield f"   chapter  {styled(printable(hit['parent_context']['address']), fg='cyan')}"
    for each in hit.get("siblings", ()):
        side = "before" if each["position"] < 0 else "after "
        yield f"   {side}   {styled(printable(each['address']), fg='cyan')}"
