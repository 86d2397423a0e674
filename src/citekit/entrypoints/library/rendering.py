"""Converts objects of the library to plain data."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from citekit.application.library.answers import Answers, AskRequest, Chunk, ContextMode, Hit, Parent
from citekit.application.library.browse import LocalFile
from citekit.application.library.ingest_book import BookIngested
from citekit.domain.library.books import BookRecord
from citekit.domain.library.chunking import ChunkingParams
from citekit.domain.library.excerpt import excerpt
from citekit.domain.library.personas import Guardian
from citekit.wire import locations

LEAST = 200
"""The minimum number of characters for the text of each hit if texts are cut."""

OPENING = 600
"""The maximum number of characters of the excerpt from a chapter."""

CUT = " [truncated]"

FOREIGN = (
    "The text is not shown because this index was not built in this home. To read it, resolve the address, or rebuild "
    "the index in this home: citekit library rebuild --collection {collection} --home {home}"
)
"""The note for a hit from an index of another home, with the name of the collection and the path of this home."""


def megabytes(size: int) -> float:
    """Return a size in bytes as megabytes of 1024 * 1024 bytes, with two decimal places."""
    return round(size / (1024 * 1024), 2)


def card(record: BookRecord) -> dict[str, Any]:
    """Return the main details of a book as plain data."""
    return {
        "id": record.id,
        "title": record.title,
        "author": record.author,
        "authors": list(record.authors),
        "language": next(iter(record.languages), None),
        "languages": list(record.languages),
        "tags": list(record.tags),
        "series": record.series,
        "series_index": record.series_index,
        "formats": list(record.formats),
    }


def whole_card(record: BookRecord) -> dict[str, Any]:
    """Return all details of a book as plain data."""
    return {
        **card(record),
        "isbn": record.isbn,
        "identifiers": dict(record.identifiers),
        "publisher": record.publisher,
        "pubdate": None if record.pubdate is None else record.pubdate.isoformat(),
        "rating": record.rating,
        "comments": record.comments,
        "custom": {label: _plain(value) for label, value in record.custom.items()},
        "files": {format: str(path) for format, path in record.files.items()},
        "cover": None if record.cover is None else str(record.cover),
        "uuid": record.uuid,
    }


def _plain(value: object) -> object:
    """Return the value of a custom column for JSON."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case Mapping():
            return {str(key): _plain(each) for key, each in value.items()}
        case list() | tuple() | set() | frozenset():
            return [_plain(each) for each in value]
    return str(value)


def guardian_card(guardian: Guardian) -> dict[str, Any]:
    """Return the details of a guardian as plain data."""
    return {
        "id": guardian.id,
        "name": guardian.name,
        "title": guardian.title,
        "emoji": guardian.emoji,
        "role": guardian.role,
        "specialties": list(guardian.specialties),
        "greeting": guardian.greeting,
    }


def file_card(file: LocalFile) -> dict[str, Any]:
    """Return the details of a file as plain data."""
    return {
        "name": file.path.name,
        "size_mb": megabytes(file.size),
        "format": suffix(file.path.name),
        "full_path": str(file.path),
    }


def suffix(name: str) -> str:
    """Return the extension of a file name in upper case, such as `EPUB`."""
    return name.rpartition(".")[2].upper()


def params_card(params: ChunkingParams) -> dict[str, Any]:
    """Return chunking parameters as plain data."""
    return {
        "threshold": params.threshold,
        "min_chunk_size": params.min_words,
        "max_chunk_size": params.max_words,
    }


def ingested_card(done: BookIngested, format: str) -> dict[str, Any]:
    """Return the result of an ingest as plain data."""
    entry = done.entry
    return {
        "title": entry.title,
        "author": entry.author,
        "language": entry.language,
        "chunks": done.chunks,
        "hierarchical": done.hierarchical,
        "chunking_params": params_card(done.params),
        "file_size_mb": megabytes(entry.size),
        "collection": entry.collection,
        "format": format,
        "resource_id": entry.resource_id,
        "counts": dict(entry.counts),
        "seconds": dict(entry.seconds),
    }


def answers_card(answers: Answers, home: Path, max_chars: int | None = None) -> dict[str, Any]:
    """Return the hits for a question in a home as plain data, with their chapters if the request asks for context.

    `max_chars` is divided equally among the hits: each text is cut to its share, but not below `LEAST` characters,
    around its best passage, and only the beginnings of chapters are included.
    """
    mode = answers.request.mode
    parents = {parent.id: parent for parent in answers.parents}
    results = [_hit(hit, parents.get(hit.parent_id or ""), answers.request, home) for hit in answers.hits]
    if max_chars is not None:
        for each in results:
            _shorten(each, max(LEAST, max_chars // len(results)))
    found: dict[str, Any] = {
        "results": results,
        "result_count": len(answers.hits),
        "context_mode": mode.value,
    }
    if mode is not ContextMode.PRECISE:
        found["parent_chunks"] = [_parent(parent, whole=max_chars is None) for parent in answers.parents]
        found["hierarchy_stats"] = {
            "context_mode": mode.value,
            "parent_chunks_fetched": len(parents),
            "unique_chapters": len({hit.parent_id for hit in answers.hits if hit.parent_id is not None}),
        }
    return found


def _hit(hit: Hit, parent: Parent | None, request: AskRequest, home: Path) -> dict[str, Any]:
    chunk = hit.chunk
    found = {
        "score": round(hit.score, 4),
        "book_title": chunk.book_title,
        "author": chunk.author,
        "section_name": chunk.section,
        "text": chunk.text,
        "address": chunk.address,
        "resource_id": chunk.resource_id,
        "node_id": chunk.node_id,
        "location": locations.to_plain(hit.address.location),
        "language": chunk.language,
        "chunk_level": chunk.level,
        "parent_id": hit.parent_id,
    }
    if chunk.foreign:
        found["foreign"] = FOREIGN.format(
            collection=shlex.quote(request.collection), home=shlex.quote(str(home.absolute()))
        )
    if hit.weak:
        found["weak"] = True
    if hit.stale:
        found["stale"] = "The file has changed since this book was ingested. Ingest it again."
    if hit.passage is not None:
        found["passage"] = {"text": hit.passage, "address": hit.passage_address}
    if hit.copies:
        found["copies"] = list(hit.copies)
    if parent is not None:
        found["parent_context"] = _around(hit, parent)
    if request.mode is ContextMode.COMPREHENSIVE:
        found["siblings"] = [_sibling(chunk, hit) for chunk in hit.siblings]
    return found


def _shorten(found: dict[str, Any], limit: int) -> None:
    """Cut the text of a hit to `limit` characters around its best passage, and omit repeated texts. Neighbors get a
    quarter of that.
    """
    passage = found.get("passage")
    found["text"] = excerpt(found["text"], passage["text"] if passage else "", limit)
    if passage and passage["text"] in found["text"]:
        found["passage"] = {"address": passage["address"]}
    if "parent_context" in found:
        del found["parent_context"]["full_text"]
    for each in found.get("siblings", ()):
        each["text"] = excerpt(each["text"], "", limit // 4)


def _sibling(chunk: Chunk, hit: Hit) -> dict[str, Any]:
    return {
        "position": chunk.sequence - hit.chunk.sequence,
        "text": chunk.text,
        "address": chunk.address,
        "node_id": chunk.node_id,
        "section_name": chunk.section,
    }


def _parent(parent: Parent, *, whole: bool) -> dict[str, Any]:
    first = parent.first
    found = {
        "id": parent.id,
        "text": _opening(parent.full_text),
        "full_text": parent.full_text,
        "truncated": parent.truncated,
        "section_name": first.section,
        "book_title": first.book_title,
        "author": first.author,
        "chunk_level": "parent",
        "address": first.parent_address,
        "resource_id": first.resource_id,
    }
    if not whole:
        del found["full_text"]
    return found


def _around(hit: Hit, parent: Parent) -> dict[str, Any]:
    return {
        "section_name": parent.first.section,
        "address": parent.first.parent_address,
        "text": _opening(parent.full_text),
        "full_text": hit.around or hit.chunk.text,
        "truncated": parent.truncated or len(hit.around or "") < len(parent.full_text),
    }


def _opening(text: str) -> str:
    return text if len(text) <= OPENING else f"{text[:OPENING].rsplit(maxsplit=1)[0]}{CUT}"
