"""Ingests books one after the other and reports each result."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from citekit.container.library import Alexandria
from citekit.domain.phrases import counted
from citekit.domain.progress import Progress
from citekit.domain.unicode_controls import printable
from citekit.entrypoints.cli.errors import CommandError
from citekit.entrypoints.cli.formatting import lasted, size
from citekit.entrypoints.cli.library import preconditions
from citekit.entrypoints.cli.progress import Watch, watching
from citekit.entrypoints.cli.session import Session
from citekit.entrypoints.cli.terminal import styled
from citekit.entrypoints.library.ingest_report import is_there

Arguments = Mapping[str, Any]
Work = Callable[[Alexandria, Arguments, Progress], dict[str, Any]]


def ingest_each(session: Session, named: Sequence[tuple[str, Arguments]], work: Work) -> None:
    """Ingest several books by calling `work` with the arguments of each (name, arguments) pair in `named`.

    If one book fails, the others are still ingested. Raise `CommandError` if a book could not be ingested, or if the
    only one is already in the collection, and the errors of `preconditions.to_ingest`.
    """
    library = session.app.alexandria
    done = []
    session.note_personal_home()
    with watching(session, "Ingesting") as watch:
        preconditions.to_ingest(library, named[0][1])
        for name, arguments in named:
            given = {key: value for key, value in arguments.items() if value is not None}
            plain = work(library, given, _titled(watch, name))
            done.append(plain)
            if plain["success"] or len(named) > 1:
                with watch.aside():
                    session.say(_lines(name, plain))
    _answer(session, named[0][0], done)


def _answer(session: Session, name: str, done: Sequence[dict[str, Any]]) -> None:
    if len(done) == 1:
        _one(session, name, done[0])
        return
    there = sum(is_there(plain) for plain in done)
    failed = sum(not plain["success"] for plain in done) - there
    answer = {"results": done, "succeeded": len(done) - failed - there, "skipped": there, "failed": failed}
    if failed:
        raise CommandError("SomeFailed", f"{failed} of {counted(len(done), 'book')} could not be ingested.", answer)
    session.answer(answer, ())


def _one(session: Session, name: str, plain: dict[str, Any]) -> None:
    if not plain["success"]:
        rest = {key: value for key, value in plain.items() if key != "error"}
        reason = _reason(name, plain)
        if reason.endswith("not found in Calibre"):  # a contract fixes these words
            reason += f". To find the IDs of books, run: citekit library search{session.home_words()}"
        raise CommandError("NotIngested", reason, rest)
    session.answer(plain, ())


def _reason(name: str, plain: Mapping[str, Any]) -> str:
    """Return why a book was not ingested and, if known, which options help."""
    if is_there(plain):
        return f"'{plain['title']}' was already ingested into this collection. To replace it, use --force."
    if plain.get("needs_metadata"):
        missing: list[str] = plain["missing_fields"]
        given = " and ".join(f"--{field}" for field in missing)
        return f"{name} does not contain its {' and '.join(missing)}. Ingest it with {given}."
    return str(plain["error"])


def _titled(watch: Watch, name: str) -> Progress:
    def progress(done: float, total: float | None = None, message: str = "") -> None:
        watch(done, total, f"{name}: {message}" if message else name)

    return progress


def _lines(name: str, plain: Mapping[str, Any]) -> Iterator[str]:
    if is_there(plain):
        yield f"already ingested  {printable(plain['title'])}"
        return
    if not plain["success"]:
        yield f"{styled('not ingested', fg='red')}  {printable(name)}: {printable(_reason(name, plain))}"
        return
    took = lasted(sum(plain["seconds"].values()))
    counts = plain["counts"]
    parts = f"{counted(counts['chapters'], 'chapter')}, {counted(counts['chunks'], 'chunk')}, {counts['words']} words"
    yield f"{styled('ingested', fg='green')}  {printable(plain['title'])}, {printable(plain['author'])}"
    weight = size(int(plain["file_size_mb"] * 1024 * 1024)) if plain["file_size_mb"] else "less than 10 kB"
    yield f"    {plain['format']}, {weight}: {parts} in {took}, as {printable(plain['resource_id'])}"
