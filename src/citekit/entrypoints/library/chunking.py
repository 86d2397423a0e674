"""Previews the chunks of a book or a file, and compares thresholds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from citekit.application.library.browse import is_book
from citekit.application.library.choose_file import Chosen, preferred
from citekit.application.library.compare_chunking import ComparedChunking, Comparison
from citekit.application.library.ingest_book import known
from citekit.application.library.try_chunking import Sample, TriedChunks
from citekit.container.library import Alexandria
from citekit.domain.errors import BookMissing, RequestRefused
from citekit.domain.library.books import BookFacts, BookRecord
from citekit.domain.progress import Progress
from citekit.entrypoints.library import rendering
from citekit.entrypoints.library.ingest_report import params_of

Arguments = Mapping[str, Any]

PREVIEW = 500
"""The maximum number of characters of a sample chunk."""


def test(library: Alexandria, arguments: Arguments, progress: Progress) -> dict[str, Any]:
    """Return a preview of how a book of the library would be split into chunks.

    Raise `BookMissing`, `LibraryUnavailable`, `RequestRefused` if the book has no readable format, its file is missing,
    or the parameters are invalid, and the errors of `TryChunking`.
    """
    record = library.library.get(arguments["book_id"])
    chosen = preferred(record, arguments["format_preference"])
    if chosen is None:
        raise RequestRefused(f"No readable formats for '{record.title}'")
    if not library.app.sources.exists(chosen.path):
        raise RequestRefused(f"Could not locate file for '{record.title}'")
    tried = library.try_chunking(chosen.path, params_of(arguments), language=_language(record), progress=progress)
    return {"success": True, **tried_card(tried), **_names(record), "error": None}


def test_file(library: Alexandria, arguments: Arguments, progress: Progress) -> dict[str, Any]:
    """Return a preview of how a file would be split into chunks.

    Raise `RequestRefused` if the path is not absolute, the file is missing or unsupported, or the parameters are
    invalid, `PathNotAllowed`, and the errors of `TryChunking`.
    """
    path = Path(arguments["file_path"])
    if not path.is_absolute():
        raise RequestRefused(f"File path must be absolute: {path}")
    library.allowed.check(path)
    if not path.is_file():
        raise RequestRefused(f"File not found: {path}")
    if not is_book(path):
        raise RequestRefused(f"Unsupported format: {path.suffix or 'no extension'}")
    tried = library.try_chunking(path, params_of(arguments), progress=progress)
    return {"success": True, **tried_card(tried), "error": None}


def compare(library: Alexandria, arguments: Arguments, progress: Progress) -> dict[str, Any]:
    """Split a book of the library with several thresholds, and return a comparison of the results.

    Raise `RequestRefused` if the book is not in the library, has no readable format, or its file is missing,
    `LibraryUnavailable`, and the errors of `CompareChunking`.
    """
    record, chosen = _to_compare(library, arguments["book_id"], arguments["format_preference"])
    compared = library.compare_chunking(chosen.path, language=_language(record), progress=progress)
    return {
        "success": True,
        **compared_card(compared),
        **_names(record),
        "book_id": record.id,
        "format": chosen.format,
        "error": None,
    }


def _to_compare(library: Alexandria, book_id: int, preference: str) -> tuple[BookRecord, Chosen]:
    try:
        record = library.library.get(book_id)
    except BookMissing as error:
        raise RequestRefused(f"Book not found: {book_id}") from error
    chosen = preferred(record, preference)
    if chosen is None:
        raise RequestRefused(f"No formats available for book {book_id}")
    if not library.app.sources.exists(chosen.path):
        raise RequestRefused(f"File not found for book {book_id}")
    return record, chosen


def _language(record: BookRecord) -> str | None:
    return next(iter(record.languages), None)


def _names(record: BookRecord) -> dict[str, Any]:
    return {"title": record.title, "author": record.author}


def _said(path: Path, facts: BookFacts) -> dict[str, Any]:
    return {
        "file": path.name,
        "title": known(facts.title) or path.stem,
        "author": known(" & ".join(facts.authors)) or "Unknown",
    }


def tried_card(tried: TriedChunks) -> dict[str, Any]:
    """Return the chunks of one set of parameters as plain data."""
    params, average = tried.params, round(tried.average_words, 1)
    return {
        **_said(tried.path, tried.facts),
        "parameters": {**rendering.params_card(params), "min": params.min_words, "max": params.max_words},
        "stats": {
            "total_chunks": len(tried.chunks),
            "total_words": tried.total_words,
            "total_chars": tried.total_characters,
            "avg_words_per_chunk": average,
            "avg_words": average,
            "min_words": tried.least_words,
            "max_words": tried.most_words,
            "avg_chars_per_chunk": round(tried.average_characters, 1),
        },
        "samples": [_sample(sample) for sample in tried.samples],
    }


def _sample(sample: Sample) -> dict[str, Any]:
    preview = sample.text if len(sample.text) <= PREVIEW else f"{sample.text[:PREVIEW]}..."
    return {
        "index": sample.index,
        "chunk_num": sample.index + 1,
        "word_count": sample.words,
        "words": sample.words,
        "preview": preview,
        "text": preview,
    }


def compared_card(compared: ComparedChunking) -> dict[str, Any]:
    """Return a comparison of thresholds, and the recommendation, as plain data."""
    similarities = compared.similarities
    return {
        **_said(compared.path, compared.facts),
        "total_sentences": compared.total_sentences,
        "total_words": compared.total_words,
        "similarity_distribution": {
            "min": round(similarities.least, 3),
            "max": round(similarities.most, 3),
            "mean": round(similarities.mean, 3),
            "median": round(similarities.median, 3),
        },
        "comparisons": [_comparison(each) for each in compared.comparisons],
        "recommendation": compared.recommendation,
        "recommendation_reason": compared.reason,
    }


def _comparison(comparison: Comparison) -> dict[str, Any]:
    return {
        "threshold": comparison.threshold,
        "chunks": comparison.chunks,
        "avg_words": round(comparison.average_words, 1),
        "min_words": comparison.least_words,
        "max_words": comparison.most_words,
        "coherence": round(comparison.coherence, 3),
        "semantic_breaks": comparison.semantic_breaks,
        "forced_breaks": comparison.forced_breaks,
        "sample_breaks": [
            {
                "index": each.index,
                "similarity": round(each.similarity, 3),
                "reason": each.reason.value,
                "before": each.before,
                "after": each.after,
            }
            for each in comparison.sample_breaks
        ],
    }
