"""Implements the command `citekit query` (also `citekit library query`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from time import perf_counter
from typing import Any

import click

from citekit.domain.address import parse_address
from citekit.domain.phrases import counted
from citekit.domain.progress import silent
from citekit.domain.unicode_controls import printable
from citekit.entrypoints.cli.command import Command
from citekit.entrypoints.cli.formatting import lasted, place
from citekit.entrypoints.cli.library.options import answer, collection, filters
from citekit.entrypoints.cli.library.text_wrapping import folded
from citekit.entrypoints.cli.progress import watching
from citekit.entrypoints.cli.resolve import evidence_lines, plain_evidence
from citekit.entrypoints.cli.session import Session, pass_session
from citekit.entrypoints.cli.terminal import styled
from citekit.entrypoints.library import asking

MODES = ("precise", "contextual", "comprehensive")
SHOWN = 5
"""The maximum number of lines of a passage in text output."""


@click.command("query", cls=Command)
@click.argument("question", nargs=-1, required=True, metavar="QUESTION")
@click.option(
    "--limit", "-n", type=click.IntRange(1, 20), default=5, show_default=True, help="The maximum number of hits."
)
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1),
    default=0.5,
    show_default=True,
    help="The minimum score of a hit. The best two hits are shown even if their scores are lower.",
)
@click.option(
    "--context",
    "context_mode",
    type=click.Choice(MODES),
    default="precise",
    show_default=True,
    help="What to show with each hit: only the chunk (precise), also its chapter (contextual), or also "
    "the neighboring chunks (comprehensive). Only --json shows the texts of chapters and neighbors.",
)
@filters()
@click.option(
    "--tag",
    "tags",
    multiple=True,
    metavar="TEXT",
    help="Match part of a tag. Can be repeated; a book must match all tags.",
)
@click.option(
    "--guardian",
    default="none",
    show_default=True,
    metavar="ID",
    help="The guardian that gives the answer its voice. To see all, run: citekit library guardians",
)
@click.option(
    "--pattern",
    "response_pattern",
    default="free",
    show_default=True,
    metavar="ID",
    help="The pattern that gives the answer its form. To see all, run: citekit library guardians",
)
@collection()
@click.option("--open", "opened", is_flag=True, help="Extract the best hit and print the path of the evidence.")
@pass_session
def command(session: Session, /, question: tuple[str, ...], tags: tuple[str, ...], opened: bool, **wanted: Any) -> None:
    """Ask a question and find the passages in ingested books that answer it.

    Searches by meaning and by words. Every hit has an address that you can pass to `citekit resolve`.
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
    for note in plain.get("notes", ()):
        session.note(printable(note))
    if not plain["results"]:
        session.note(f"Nothing found. To see which books are ingested, run: citekit library list{session.home_words()}")


def _opened(session: Session, best: Mapping[str, Any]) -> dict[str, Any]:
    start = perf_counter()
    with watching(session, "Extracting evidence") as watch:
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
        weak = "  (weak: below the threshold)" if hit.get("weak") else ""
        yield f"   {styled(printable(passage['address'] or hit['address']), fg='cyan')}  score {hit['score']:.2f}{weak}"
        yield from (f"   duplicate  {styled(printable(each), fg='cyan')}" for each in hit.get("copies", ()))
        yield from _context(hit)
    if plain.get("response_instruction"):
        yield ""
        yield from map(printable, plain["response_instruction"].splitlines())
    if plain["results"]:
        yield ""
        yield styled(f"{counted(plain['result_count'], 'hit')} in {lasted(seconds)}", dim=True)


def _context(hit: Mapping[str, Any]) -> Iterator[str]:
    """Yield the addresses of a hit's chapter and neighboring chunks."""
    if hit.get("parent_context"):
        yield f"   chapter  {styled(printable(hit['parent_context']['address']), fg='cyan')}"
    for each in hit.get("siblings", ()):
        side = "before" if each["position"] < 0 else "after "
        yield f"   {side}   {styled(printable(each['address']), fg='cyan')}"
