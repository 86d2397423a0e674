"""Creates the report of an ingest, with the steps that all ingests share."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from citekit.application.library.ingest_book import BookIngested, BookRequest
from citekit.container.library import Alexandria
from citekit.domain.errors import AlreadyIngested, Cancelled, CiteKitError, LibraryUnavailable
from citekit.domain.library.chunking import ChunkingParams
from citekit.domain.progress import Progress
from citekit.entrypoints.failures import sentence
from citekit.entrypoints.library import rendering
from citekit.entrypoints.library.steps import Halted, StepReport

Arguments = Mapping[str, Any]
Tell = Callable[[StepReport], dict[str, Any]]

NO_LIBRARY = "Calibre library not found"
_THERE = "⚠️ Already ingested"

_log = logging.getLogger(__name__)


def told(tell: Tell) -> dict[str, Any]:
    """Return the result of `tell` with a new report.

    If it fails, return the steps so far and the error instead; `Cancelled` is raised.
    """
    report = StepReport()
    try:
        return tell(report)
    except Cancelled:
        raise
    except Halted as halted:
        if halted.line is not None:
            report.done(halted.line)
        return report.failure(halted.error, **halted.facts)
    except Exception as error:
        return broken(report, error)


def broken(report: StepReport, error: Exception) -> dict[str, Any]:
    """Return the result for an error that is not about one step."""
    text = sentence(error)
    if not isinstance(error, CiteKitError | OSError):
        _log.error("A library tool failed", exc_info=error)
    if isinstance(error, LibraryUnavailable):
        report.lines.append(f"❌ {NO_LIBRARY if text.startswith(NO_LIBRARY) else text}")
        return report.failure(text, reached=0)
    reached = len(report.lines)
    report.lines.append(f"❌ Error: {text}")
    return report.failure(text, reached=reached)


def params_of(arguments: Arguments) -> ChunkingParams:
    """Return the chunking parameters in the arguments. Raise `RequestRefused` if they are invalid."""
    return ChunkingParams(arguments["threshold"], arguments["min_chunk_size"], arguments["max_chunk_size"])


def collection_of(library: Alexandria, arguments: Arguments) -> str:
    """Return the collection in the arguments, or the default."""
    named: str | None = arguments.get("collection")
    return named or library.chosen.collection


def request_of(library: Alexandria, arguments: Arguments) -> BookRequest:
    """Return the ingest request that the arguments describe, with an empty path. Raise `RequestRefused` if its
    parameters are invalid.
    """
    return BookRequest(
        path=Path(),
        collection=collection_of(library, arguments),
        hierarchical=arguments["hierarchical"],
        params=params_of(arguments),
        force=arguments["force"],
    )


def fresh(library: Alexandria, request: BookRequest, title: str | None, report: StepReport, number: int) -> None:
    """Begin the step `number`. Raise `Halted` if the book is already in the collection, unless the request has `force`
    set.
    """
    report.begin("📋 Checking if already ingested...", number)
    there = None if request.force else library.ingest_book.already(request.path, request.collection)
    if there is not None:
        raise _already(title or there.title, request.collection)
    report.done("📋 Ingesting again because force is set" if request.force else "📋 Not previously ingested")


def _already(title: str, collection: str) -> Halted:
    error = f"'{title}' already ingested in collection '{collection}'"
    return Halted(error, f"{_THERE} in '{collection}'", title=title)


def is_there(plain: Mapping[str, Any]) -> bool:
    """Return whether a result says that the book is already there."""
    return not plain["success"] and bool(plain["steps"]) and str(plain["steps"][-1]).startswith(_THERE)


def ingested(
    library: Alexandria, request: BookRequest, format: str, progress: Progress, report: StepReport
) -> dict[str, Any]:
    """Run the ingest, whose step has begun, and return its result. Raise `Halted` if it fails or the book is already
    there.
    """
    try:
        done = library.ingest_book(request, progress)
    except Cancelled:
        raise
    except AlreadyIngested as error:
        raise _already(error.title, error.collection) from error
    except (CiteKitError, OSError) as error:
        raise Halted(sentence(error), "❌ Ingestion failed") from error
    return _told_to_the_end(done, format, report)


def _told_to_the_end(done: BookIngested, format: str, report: StepReport) -> dict[str, Any]:
    title = done.entry.title
    report.done(f"⚙️ Created {done.chunks} chunks")
    report.lines += ["💾 Manifest updated", f"✅ Successfully ingested '{title}'!"]
    return report.success(**rendering.ingested_card(done, format))
