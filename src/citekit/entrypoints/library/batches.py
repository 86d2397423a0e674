"""Ingests several books from the library, and removes books."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from citekit.application.library.batch import BatchRequest, Outcome, Status
from citekit.application.library.remove_book import BookName
from citekit.container.library import Alexandria
from citekit.domain.errors import Cancelled, CiteKitError, LibraryUnavailable, RequestRefused
from citekit.domain.progress import Progress
from citekit.entrypoints.failures import sentence
from citekit.entrypoints.library.catalog import wanted
from citekit.entrypoints.library.ingest_report import NO_LIBRARY, collection_of, params_of

Arguments = Mapping[str, Any]

NOTHING_NAMED = "❌ Must provide either book_ids or search criteria (author/title/language)"

_log = logging.getLogger(__name__)


def batch_ingest(
    library: Alexandria, arguments: Arguments, progress: Progress, *, everything: bool = False
) -> dict[str, Any]:
    """Ingest the books of the library that match a filter, and return the results.

    If `everything` is True, the limit is ignored. `Cancelled` is raised; other errors are part of the result.
    """
    try:
        return _batch(library, _unlimited(library, arguments) if everything else arguments, progress, everything)
    except Cancelled:
        raise
    except Exception as error:
        return stopped(error)


def stopped(error: BaseException) -> dict[str, Any]:
    """Return the result for a batch that could not start or was aborted."""
    text = sentence(error)
    if not isinstance(error, CiteKitError | OSError):
        _log.error("A batch failed", exc_info=error)
    missing = isinstance(error, LibraryUnavailable) and text.startswith(NO_LIBRARY)
    return {**_counts([]), "summary": f"❌ {NO_LIBRARY}" if missing else f"❌ Error: {text}", "error": text}


def _unlimited(library: Alexandria, arguments: Arguments) -> Arguments:
    return {**arguments, "limit": max(1, library.library.stats().books)}


def _batch(library: Alexandria, arguments: Arguments, progress: Progress, everything: bool) -> dict[str, Any]:
    request = _request(library, arguments)
    criteria = (request.book_ids, request.wanted.author, request.wanted.title, request.wanted.language)
    if not everything and not any(criteria):
        return {**_counts([]), "summary": NOTHING_NAMED, "error": "No books specified"}
    books = library.batch_ingest.books(request)
    if not books:
        return {**_counts([]), "summary": "⚠️ No books found matching criteria", "error": None}
    outcomes = list(library.batch_ingest(books, request, progress))
    there = {record.id for record in books}
    unknown = [each for each in (request.book_ids or ())[: request.limit] if each not in there]
    named = {"unknown_ids": unknown, "ids_over_limit": list((request.book_ids or ())[request.limit :])}
    return {
        **_counts(outcomes),
        **{key: ids for key, ids in named.items() if ids},
        "summary": _summary(outcomes),
        "error": None,
    }


def _request(library: Alexandria, arguments: Arguments) -> BatchRequest:
    ids = arguments.get("book_ids")
    return BatchRequest(
        collection=collection_of(library, arguments),
        book_ids=tuple(ids) if ids else None,
        wanted=wanted(arguments),
        limit=arguments["limit"],
        format_preference=arguments["format_preference"],
        hierarchical=arguments["hierarchical"],
        params=params_of(arguments),
        force=arguments["force"],
    )


def _counts(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    return {
        "total": len(outcomes),
        "succeeded": _count(outcomes, Status.SUCCESS),
        "skipped": _count(outcomes, Status.SKIPPED),
        "failed": _count(outcomes, Status.FAILED),
        "results": [_card(outcome) for outcome in outcomes],
    }


def _count(outcomes: Sequence[Outcome], status: Status) -> int:
    return sum(outcome.status is status for outcome in outcomes)


def _card(outcome: Outcome) -> dict[str, Any]:
    record, done = outcome.record, outcome.ingested
    card = {
        "id": record.id,
        "title": record.title,
        "author": record.author,
        "status": outcome.status.value,
        "chunks": 0 if done is None else done.chunks,
        "error": outcome.reason,
    }
    return card if done is None else {**card, "resource_id": done.entry.resource_id}


def _summary(outcomes: Sequence[Outcome]) -> str:
    others = [(_count(outcomes, status), status.value) for status in (Status.SKIPPED, Status.FAILED)]
    more = "".join(f", {count} {word}" for count, word in others if count)
    return f"📚 Batch ingest complete: {_count(outcomes, Status.SUCCESS)}/{len(outcomes)} succeeded{more}"


def remove(library: Alexandria, arguments: Arguments, progress: Progress) -> dict[str, Any]:
    """Remove a book from a collection, and return the result.

    Raise `RequestRefused` if the arguments do not name exactly one book, `PathNotAllowed` for a file outside the
    allowed folders, and the errors of `RemoveBook`.
    """
    given = {name: arguments[name] for name in ("book_id", "resource_id", "file_path") if name in arguments}
    if len(given) != 1:
        raise RequestRefused("Give exactly one of book_id, resource_id, and file_path.")
    path = given.get("file_path")
    if path is not None:
        library.allowed.check(Path(path))
    name = BookName(
        book_id=given.get("book_id"),
        resource_id=given.get("resource_id"),
        path=None if path is None else Path(path),
    )
    collection = collection_of(library, arguments)
    removed = library.remove_book(name, collection, progress)
    first = removed.books[0]
    return {
        "success": True,
        "title": first.title,
        "author": first.author,
        "resource_id": first.resource_id,
        "chunks": sum(book.counts.get("chunks", 0) for book in removed.books),
        "points": removed.entries,
        "collection": collection,
        "error": None,
    }
