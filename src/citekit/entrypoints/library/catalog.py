"""Searches the catalog, reports counts, and lists files that can be ingested."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from citekit.application.library.choose_file import offered
from citekit.container.library import Alexandria
from citekit.domain.errors import CiteKitError, IndexUnavailable, LibraryUnavailable, RequestRefused
from citekit.domain.library.books import BookFilter
from citekit.domain.progress import Progress
from citekit.entrypoints.failures import sentence
from citekit.entrypoints.library import rendering

Arguments = Mapping[str, Any]

_PAGE = 200
"""The number of books per catalog query of `preview`."""


def wanted(arguments: Arguments) -> BookFilter:
    """Return the book filter that the arguments describe."""
    return BookFilter(
        author=arguments.get("author") or None,
        title=arguments.get("title") or None,
        language=arguments.get("language") or None,
        tags=tags_in(arguments.get("tags")),
    )


def tags_in(text: str | None) -> tuple[str, ...]:
    """Return the tags in a comma-separated list, or no tags for None."""
    return tuple(tag.strip() for tag in (text or "").split(",") if tag.strip())


def search(library: Alexandria, arguments: Arguments, _progress: Progress) -> dict[str, Any]:
    """Return the books in the catalog that match the arguments."""
    found = library.library.find(wanted(arguments), arguments["limit"])
    return {"books": [rendering.card(record) for record in found], "count": len(found), "error": None}


def book(library: Alexandria, arguments: Arguments, _progress: Progress) -> dict[str, Any]:
    """Return all details of one book in the catalog. Raise `BookMissing` or `LibraryUnavailable`."""
    return {"book": rendering.whole_card(library.library.get(arguments["book_id"])), "error": None}


def preview(library: Alexandria, arguments: Arguments, _progress: Progress) -> dict[str, Any]:
    """Return the books that match the arguments, with the files that would be ingested."""
    limit, preference = arguments["limit"], arguments["format_filter"]
    books: list[dict[str, Any]] = []
    offset = 0
    while len(books) < limit:
        page = library.library.find(wanted(arguments), _PAGE, offset)
        books += [
            {**rendering.card(record), "selected_format": chosen.format, "file_path": str(chosen.path)}
            for record, chosen in offered(page, preference)
        ]
        offset += _PAGE
        if len(page) < _PAGE:
            break
    return {"books": books[:limit], "count": len(books[:limit]), "format_filter": preference, "error": None}


def stats(library: Alexandria, _arguments: Arguments, _progress: Progress) -> dict[str, Any]:
    """Return the counts of the library and of the index, each even if the other is unavailable."""
    calibre, error = None, None
    try:
        calibre = _library_stats(library)
    except LibraryUnavailable as missing:
        error = sentence(missing)
    except (CiteKitError, OSError) as failed:
        error = f"Calibre stats failed: {sentence(failed)}"
    return {"calibre": calibre, "qdrant": _index_stats(library), "error": error}


def _library_stats(library: Alexandria) -> dict[str, Any]:
    found = library.library.stats()
    return {
        "total_books": found.books,
        "total_authors": found.authors,
        "formats": dict(found.formats),
        "languages": dict(found.languages),
        "place": library.library.place,
    }


def _index_stats(library: Alexandria) -> dict[str, Any]:
    name = library.chosen.collection
    try:
        facts = library.index.facts(name)
        if facts is None:
            known = library.ledger.books(name)
            told = f"Collection '{name}' not found: " + (
                f"the index has none of its books. Check {library.index.place}, or run: citekit library rebuild "
                f"--collection {shlex.quote(name)} --home {shlex.quote(str(library.settings.home.absolute()))}"
                if known
                else "no book has been ingested into it yet. To create it, ingest a book."
            )
            return {"connected": True, "collection_name": name, "place": library.index.place, "error": told}
        books, cut_off = len(library.ledger.books(name)), len(library.ledger.unfinished(name))
    except IndexUnavailable as error:
        told = f"Cannot connect to Qdrant server: {sentence(error)}"
        return {"connected": False, "collection_name": name, "error": told}
    except (CiteKitError, OSError) as error:
        return {"connected": True, "collection_name": name, "error": sentence(error)}
    return {
        "connected": True,
        "collection_name": facts.name,
        "points_count": facts.points,
        "vector_size": facts.model.dimensions,
        "status": facts.status,
        "ingested_books": books,
        "unfinished_books": cut_off,
        "model": str(facts.model),
        "place": facts.place,
    }


def browse(library: Alexandria, arguments: Arguments, _progress: Progress) -> dict[str, Any]:
    """Return the files in a folder that can be ingested.

    Raise `RequestRefused` if no folder is given or configured or it does not exist, `PathNotAllowed`, or
    `SourceUnreadable`.
    """
    folder = arguments.get("path") or library.chosen.browse
    if folder is None:
        raise RequestRefused("No folder is configured. Give the argument path, or set LOCAL_INGEST_PATH.")
    found = library.browse(Path(folder), recursive=arguments["recursive"], allowed=library.allowed)
    files = [rendering.file_card(file) for file in found.files]
    return {"path": str(found.folder), "files": files, "count": len(files), "truncated": found.truncated, "error": None}
