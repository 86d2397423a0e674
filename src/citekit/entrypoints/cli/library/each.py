"""Take in one book after the other, and tell of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import click

from citekit.bootstrap.alexandria import Alexandria
from citekit.domain.progress import Progress
from citekit.entrypoints.cli.failing import CommandError
from citekit.entrypoints.cli.printable import printable
from citekit.entrypoints.cli.session import Session
from citekit.entrypoints.cli.watching import Watch, watching
from citekit.entrypoints.cli.wording import counted, lasted, size

Arguments = Mapping[str, Any]
Work = Callable[[Alexandria, Arguments, Progress], dict[str, Any]]


def ingest_each(session: Session, named: Sequence[tuple[str, Arguments]], work: Work) -> None:
    """Do `work` for each (name, arguments); the failure of one does not stop the rest."""
    library = session.app.alexandria.for_its_owner()
    done = []
    with watching(session, "Ingesting") as watch:
        for name, arguments in named:
            plain = work(
                library, {key: value for key, value in arguments.items() if value is not None}, _titled(watch, name)
            )
            done.append(plain)
            with watch.aside():
                session.say(_lines(name, plain))
    failed = [plain for plain in done if not plain["success"]]
    answer = (
        done[0] if len(done) == 1 else {"results": done, "succeeded": len(done) - len(failed), "failed": len(failed)}
    )
    if failed:
        message = (
            failed[0]["error"] if len(done) == 1 else f"{counted(len(failed), 'book')} of {len(done)} not ingested."
        )
        raise CommandError("NotIngested", message, {key: value for key, value in answer.items() if key != "error"})
    session.answer(answer, ())


def _titled(watch: Watch, name: str) -> Progress:
    def progress(done: float, total: float | None = None, message: str = "") -> None:
        watch(done, total, f"{name}: {message}" if message else name)

    return progress


def _lines(name: str, plain: Mapping[str, Any]) -> Iterator[str]:
    if not plain["success"]:
        yield f"{click.style('not ingested', fg='red')}  {printable(name)}: {printable(str(plain['error']))}"
        return
    took = lasted(sum(plain["seconds"].values()))
    counts = plain["counts"]
    parts = f"{counted(counts['chapters'], 'chapter')}, {counted(counts['chunks'], 'chunk')}, {counts['words']} words"
    yield f"{click.style('ingested', fg='green')}  {printable(plain['title'])}, {printable(plain['author'])}"
    weight = size(int(plain["file_size_mb"] * 1024 * 1024))
    yield f"    {plain['format']}, {weight}: {parts} in {took}, as {printable(plain['resource_id'])}"
