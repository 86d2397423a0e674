"""Implements the second half of `citekit demo`: a question, the passage that answers it, and its evidence."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

from citekit.application.library.answers import Answers, AskRequest
from citekit.application.library.ingest_book import BookIngested, BookRequest
from citekit.container import Container
from citekit.domain.address import parse_address
from citekit.domain.errors import AlreadyIngested, CiteKitError, DriverMissing
from citekit.domain.evidence import Evidence
from citekit.domain.unicode_controls import printable
from citekit.entrypoints.cli.formatting import counted, lasted, place
from citekit.entrypoints.cli.progress import watching
from citekit.entrypoints.cli.session import Session
from citekit.entrypoints.cli.tables import pairs
from citekit.entrypoints.cli.terminal import styled
from citekit.entrypoints.failures import sentence

BOOK, AUTHOR = "An Introduction to R", "W. N. Venables & D. M. Smith"
QUESTION = "How are missing values marked?"


def show_library(session: Session, app: Container, path: Path) -> dict[str, Any]:
    """Ingest the sample book, ask a question, extract the best hit, and return the results as plain data.

    If a required extra is missing or a step fails, print a note with the reason and return the error instead.
    """
    try:
        with watching(session, "Ingesting") as watch:
            done = _ingested(app, path, watch)
        started = perf_counter()
        answers = app.alexandria.ask(AskRequest(query=QUESTION, collection=app.alexandria.chosen.collection, limit=1))
        asked = perf_counter() - started
        evidence = app.resolve(parse_address(answers.hits[0].chunk.address)) if answers.hits else None
    except DriverMissing as missing:
        _note(session, str(missing))
        return {"error": str(missing)}
    except CiteKitError as error:
        _note(session, sentence(error))
        return {"error": sentence(error)}
    session.say(_lines(done, answers, asked, evidence))
    return {
        "question": QUESTION,
        "address": answers.hits[0].chunk.address if answers.hits else None,
        "output_path": None if evidence is None else str(evidence.output_path),
        "asked": round(asked, 6),
    }


def _note(session: Session, text: str) -> None:
    session.note("")
    session.note(f"The library: {text}")


def _ingested(app: Container, path: Path, watch: Any) -> BookIngested | None:
    request = BookRequest(path=path, collection=app.alexandria.chosen.collection, title=BOOK, author=AUTHOR)
    try:
        return app.alexandria.ingest_book(request, watch)
    except AlreadyIngested:
        return None


def _lines(done: BookIngested | None, answers: Answers, asked: float, evidence: Evidence | None) -> Iterator[str]:
    yield ""
    yield styled(printable(f"citekit query {QUESTION!r}"), bold=True)
    if done is not None:
        took = lasted(sum(done.entry.seconds.values()))
        yield f"  ingested {printable(BOOK)}: {done.entry.counts['words']} words, {counted(done.chunks, 'chunk')} in {took}"
    if not answers.hits or evidence is None:
        yield "  nothing found"
        return
    hit = answers.hits[0]
    yield from pairs(
        [
            ("says", " ".join((hit.passage or hit.chunk.text).split())[:200]),
            ("in", f"{hit.chunk.section}, {place(hit.address.location)}, found in {lasted(asked)}"),
            ("address", hit.chunk.address),
            ("opened", str(evidence.output_path)),
        ]
    )
