"""Implements the command `citekit library ingest-file`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from citekit.application.library.browse import is_book
from citekit.entrypoints.cli.command import Command
from citekit.entrypoints.cli.library.one_by_one import ingest_each
from citekit.entrypoints.cli.library.options import ingesting as how
from citekit.entrypoints.cli.library.options import named_file
from citekit.entrypoints.cli.session import Session, pass_session
from citekit.entrypoints.library import ingesting


@click.command("ingest-file", cls=Command)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--title", metavar="TEXT", help="The title. Overrides the title in the file.")
@click.option("--author", metavar="TEXT", help="The author. Overrides the author in the file.")
@click.option("--language", metavar="CODE", help="The language. Overrides the language in the file.")
@how()
@pass_session
def command(session: Session, /, paths: tuple[str, ...], flat: bool, **wanted: object) -> None:
    """Ingest files that are not in the library.

    If PATH is a folder, all books in it and its subfolders are ingested. Hidden files are ignored.
    """
    files = list(dict.fromkeys(_files(paths)))
    if wanted["title"] is not None and len(files) > 1:
        raise click.UsageError("--title works with exactly one file, because it names one book.")
    if not files:
        raise click.UsageError(f"There are no books in {', '.join(paths)}. Hidden files are ignored.")
    named = [(path.name, {**wanted, "hierarchical": not flat, "file_path": str(path)}) for path in files]
    ingest_each(session, named, ingesting.ingest_file)


def _files(paths: tuple[str, ...]) -> Iterator[Path]:
    for text in paths:
        path = named_file(text, "PATH", "the path of a file or a folder")
        yield from _below(path) if path.is_dir() else [path]


def _below(folder: Path) -> list[Path]:
    """Return the books in a folder and its subfolders, sorted, without hidden ones."""
    return sorted(
        each
        for each in folder.rglob("*")
        if is_book(each) and not any(part.startswith(".") for part in each.relative_to(folder).parts) and each.is_file()
    )
