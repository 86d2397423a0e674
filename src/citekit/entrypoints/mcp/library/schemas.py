"""Builds the JSON Schemas of the library tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from citekit.domain.library.chunking import ChunkingParams
from citekit.entrypoints.mcp.schemas import Schema, text

_USUAL = ChunkingParams()


def optional_text(description: str = "", default: str | None = None, choices: Sequence[str] = ()) -> Schema:
    """Return the schema of an optional string argument."""
    plain = text(description, tuple(choices))
    return plain if default is None else {**plain, "default": default}


def whole(description: str = "", default: int | None = None) -> Schema:
    """Return the schema of an integer argument, without limits, because values beyond them are clamped, not rejected."""
    plain = _described("integer", description)
    return plain if default is None else {**plain, "default": default}


def number(description: str, default: float) -> Schema:
    """Return the schema of a number argument."""
    return {"type": "number", "description": description, "default": default}


def switch(description: str, default: bool) -> Schema:
    """Return the schema of a Boolean argument."""
    return {**_described("boolean", description), "default": default}


def _described(kind: str, description: str) -> Schema:
    return {"type": kind, "description": description} if description else {"type": kind}


def wholes(description: str) -> Schema:
    """Return the schema of a list of integers."""
    return {"type": "array", "items": {"type": "integer"}, "description": description}


BOOK_ID = whole()
FILE_PATH = text("Absolute.")
COLLECTION = optional_text()
FORMAT = optional_text("Such as pdf.", "epub")

AUTHOR = optional_text()
TITLE = optional_text("A part of it.")
LANGUAGE = optional_text("Such as eng.")

CUTTING: Mapping[str, Schema] = {
    "threshold": number(
        "0 to 1. Higher: more and smaller chunks.",
        _USUAL.threshold,
    ),
    "min_chunk_size": whole("Words.", _USUAL.min_words),
    "max_chunk_size": whole("", _USUAL.max_words),
}

INGESTING: Mapping[str, Schema] = {
    "collection": COLLECTION,
    "hierarchical": switch("", True),
    **CUTTING,
    "force": switch("", False),
}

NULL_OR_TEXT: Schema = {"type": ["string", "null"]}
_ERROR: Schema = {
    "type": ["string", "null"],
    "description": "What went wrong and what to do; null if nothing went wrong.",
}


def outputs(properties: Mapping[str, Schema]) -> dict[str, object]:
    """Return the schema of a tool result with the given properties, `success`, and `error`, which alone is required."""
    fields = {**properties, "success": {"type": "boolean"}, "error": _ERROR}
    return {"type": "object", "properties": fields, "required": ["error"]}


def listed(description: str, properties: Mapping[str, Schema] | None = None) -> Schema:
    """Return the schema of a list of objects with, among others, these properties."""
    items: Schema = {"type": "object"} if properties is None else {"type": "object", "properties": dict(properties)}
    return {"type": "array", "items": items, "description": description}


def said(kind: str | Sequence[str], description: str = "") -> Schema:
    """Return the schema of a result field of one or several JSON types."""
    plain: dict[str, object] = {"type": kind if isinstance(kind, str) else list(kind)}
    return {**plain, "description": description} if description else plain


def listed_texts(description: str) -> Schema:
    """Return the schema of a list of strings."""
    return {"type": "array", "items": {"type": "string"}, "description": description}


TEXTS: Schema = {"type": "array", "items": {"type": "string"}}

BOOK: Mapping[str, Schema] = {
    "id": said("integer"),
    "title": said("string"),
    "author": said("string", "All authors, joined by ' & '."),
    "authors": TEXTS,
    "language": said(("string", "null"), "The first language of the book, as an ISO 639-3 code."),
    "languages": TEXTS,
    "tags": TEXTS,
    "series": NULL_OR_TEXT,
    "series_index": said(("number", "null")),
    "formats": TEXTS,
}

INGESTED: Mapping[str, Schema] = {
    "title": said("string"),
    "author": said("string"),
    "language": said("string"),
    "chunks": said("integer"),
    "hierarchical": said("boolean"),
    "chunking_params": said("object", "threshold, min_chunk_size, max_chunk_size."),
    "file_size_mb": said("number"),
    "collection": said("string"),
    "format": said("string"),
    "resource_id": said("string", "The resource id of the book, for getStructure and resolve."),
    "counts": said("object", "The numbers of chapters, chunks, passages, words, and characters."),
    "seconds": said("object", "The time in seconds that each stage took."),
    "progress": said("string", "A progress bar of six boxes."),
    "steps": {**TEXTS, "description": "The steps so far, in order."},
}

TRIED: Mapping[str, Schema] = {
    "file": said("string"),
    "title": said("string"),
    "author": said("string"),
    "parameters": said("object", "threshold, min_chunk_size, and max_chunk_size; the last two also as min and max."),
    "stats": said("object", "The numbers of chunks, words, and characters."),
    "samples": listed("The first chunk, one from the middle, and the last."),
}
