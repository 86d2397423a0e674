"""Ingests a book from the library, or a file that is not in the library.

The texts of the steps and errors are part of the contract of the tools, even if they name Calibre.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import evolve

from citekit.application.library.browse import is_book
from citekit.application.library.choose_file import Chosen, preferred
from citekit.application.library.ingest_book import BookRequest, known
from citekit.container.library import Alexandria
from citekit.domain.errors import BookMissing, Cancelled, CiteKitError, PathNotAllowed
from citekit.domain.formats import BOOK_SUFFIXES
from citekit.domain.library.books import BookFacts, BookRecord
from citekit.domain.progress import Progress
from citekit.entrypoints.failures import sentence
from citekit.entrypoints.library import rendering
from citekit.entrypoints.library.ingest_report import fresh, ingested, request_of, told
from citekit.entrypoints.library.steps import Halted, StepReport

Arguments = Mapping[str, Any]

FIRST_NAMED = (".epub", ".pdf", ".txt", ".md", ".html")
"""The suffixes that an error for unsupported formats lists first."""


def ingest(library: Alexandria, arguments: Arguments, progress: Progress) -> dict[str, Any]:
    """Ingest a book from the library, and return the result with its steps.

    If the ingest fails, the result contains the error; only `Cancelled` is raised.
    """
    return told(lambda report: _book(library, arguments, progress, report))


def _book(library: Alexandria, arguments: Arguments, progress: Progress, report: StepReport) -> dict[str, Any]:
    request = request_of(library, arguments)
    record = _found(library, arguments["book_id"], report)
    report.facts.update(title=record.title, author=record.author)
    chosen = _chosen(library, record, arguments["format_preference"], report)
    fresh(library, evolve(request, path=chosen.path), record.title, report, 4)
    request = evolve(
        request,
        path=chosen.path,
        title=record.title,
        author=record.author or None,
        language=next(iter(record.languages), None),
        book_id=record.id,
        tags=record.tags,
    )
    mode = "hierarchical" if request.hierarchical else "flat"
    report.begin(f"⚙️ Ingesting '{record.title}' ({mode} mode, threshold={request.params.threshold})...", 5)
    return ingested(library, request, chosen.format, progress, report)


def _found(library: Alexandria, book_id: int, report: StepReport) -> BookRecord:
    report.begin("📖 Looking up book in Calibre...", 1)
    try:
        record = library.library.get(book_id)
    except BookMissing as error:
        raise Halted(f"Book with ID {book_id} not found in Calibre", "❌ Book not found") from error
    report.done(f"📖 Found: '{record.title}' by {record.author}")
    return record


def _chosen(library: Alexandria, record: BookRecord, preference: str, report: StepReport) -> Chosen:
    report.begin(f"📁 Selecting format for '{record.title}'...", 2)
    chosen = preferred(record, preference)
    if chosen is None:
        raise Halted(f"No readable formats available for '{record.title}'", "❌ No readable formats")
    report.done(f"📁 Using {chosen.format} format")
    report.begin("🔍 Locating file...", 3)
    if not library.app.sources.exists(chosen.path):
        raise Halted(f"Could not locate {chosen.format} file for '{record.title}'", "❌ File not found")
    report.done("🔍 File located")
    return chosen


def ingest_file(library: Alexandria, arguments: Arguments, progress: Progress) -> dict[str, Any]:
    """Ingest a file that is not in the library, and return the result with its steps."""
    return told(lambda report: _file(library, arguments, progress, report))


def _file(library: Alexandria, arguments: Arguments, progress: Progress, report: StepReport) -> dict[str, Any]:
    request = evolve(
        request_of(library, arguments),
        title=arguments.get("title"),
        author=arguments.get("author"),
        language=arguments.get("language"),
    )
    path = _valid(library, arguments["file_path"], report)
    request = evolve(request, path=path)
    fresh(library, request, None, report, 2)
    request = _described(library, request, report)
    report.facts.update(title=request.title, author=request.author)
    mode = "hierarchical" if request.hierarchical else "flat"
    report.begin(f"⚙️ Ingesting ({mode} mode, threshold={request.params.threshold})...", 4)
    return ingested(library, request, rendering.suffix(path.name), progress, report)


def _valid(library: Alexandria, text: str, report: StepReport) -> Path:
    report.begin("📁 Validating file path...", 1)
    path = Path(text)
    if not path.is_absolute():
        raise Halted(f"File path must be absolute, got: {text}", "❌ Path must be absolute")
    try:
        library.allowed.check(path)
    except PathNotAllowed as error:
        raise Halted(str(error), "❌ Path not allowed") from error
    if not path.is_file():
        raise Halted(f"File not found: {path}", "❌ File not found")
    if not is_book(path):
        suffix = path.suffix or "no extension"
        supported = ", ".join(dict.fromkeys((*FIRST_NAMED, *BOOK_SUFFIXES)))
        error_text = f"Unsupported file format: {suffix}. Supported: {supported}"
        raise Halted(error_text, f"❌ Unsupported format: {suffix}")
    report.done(f"📁 Found: {path.name} ({path.stat().st_size / (1024 * 1024):.1f} MB)")
    return path


def _described(library: Alexandria, request: BookRequest, report: StepReport) -> BookRequest:
    """Return the request with its title and author, or else those of the file.

    Raise `Halted` if the file's metadata cannot be read, or if the title or the author is unknown.
    """
    report.begin("🔍 Extracting metadata from file...", 3)
    try:
        facts = library.ingest_book.facts(request.path)
    except Cancelled:
        raise
    except (CiteKitError, OSError) as error:
        text = sentence(error)
        raise Halted(f"Failed to extract text/metadata: {text}", f"❌ Failed to extract: {text}") from error
    title, author = known(request.title, facts.title), known(request.author, " & ".join(facts.authors))
    if title is None or author is None:
        raise _needs_metadata(
            request.path, facts, [name for name, value in (("title", title), ("author", author)) if not value]
        )
    report.done(f"🔍 Metadata: '{title}' by {author}")
    return evolve(request, title=title, author=author)


def _needs_metadata(path: Path, facts: BookFacts, missing: list[str]) -> Halted:
    listed = ", ".join(missing)
    call = ", ".join([f'file_path="{path}"', *(f'{name}="..."' for name in missing)])
    return Halted(
        f"Missing required metadata: {listed}. Please provide: alexandria_ingest_file({call})",
        f"⚠️ Missing metadata: {listed}",
        needs_metadata=True,
        file_path=str(path),
        file_name=path.name,
        file_size_mb=rendering.megabytes(path.stat().st_size),
        format=rendering.suffix(path.name),
        extracted={
            "title": known(facts.title),
            "author": known(" & ".join(facts.authors)),
            "language": facts.language,
        },
        missing_fields=missing,
    )
