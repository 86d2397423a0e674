"""Implements the commands of `citekit library chunking`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from citekit.domain.unicode_controls import printable
from citekit.entrypoints.cli.command import Command
from citekit.entrypoints.cli.library.options import answer, cutting, named_file, preference
from citekit.entrypoints.cli.library.text_wrapping import folded
from citekit.entrypoints.cli.progress import watching
from citekit.entrypoints.cli.session import Session, pass_session
from citekit.entrypoints.cli.tables import pairs, table
from citekit.entrypoints.cli.terminal import styled
from citekit.entrypoints.library import chunking


@click.group("chunking")
def command() -> None:
    """Preview how a book would be split into chunks. Stores nothing."""


@command.command("test", cls=Command)
@click.argument("book")
@cutting()
@preference()
@pass_session
def test(session: Session, /, book: str, **wanted: Any) -> None:
    """Split a book with the given parameters and show counts and samples.

    BOOK is an ID in the library, or the path of a file.
    """
    library = session.app.alexandria
    with watching(session, "Splitting") as watch:
        work = chunking.test if _is_id(book) else chunking.test_file
        plain = work(library, {**wanted, **_named(book)}, watch)
    answer(session, plain, lambda: _tried(plain))


@command.command("compare", cls=Command)
@click.argument("book_id", type=int, metavar="ID")
@preference()
@pass_session
def compare(session: Session, /, **wanted: Any) -> None:
    """Split a book with five thresholds and recommend one.

    ID is the ID of the book in the library.
    """
    with watching(session, "Comparing") as watch:
        plain = chunking.compare(session.app.alexandria, wanted, watch)
    answer(session, plain, lambda: _compared(plain))


def _is_id(book: str) -> bool:
    return book.isascii() and book.isdigit() and not Path(book).exists()


def _named(book: str) -> dict[str, Any]:
    if _is_id(book):
        return {"book_id": int(book)}
    return {"file_path": str(named_file(book, "BOOK", "the ID of a book or the path of a file"))}


def _tried(plain: Mapping[str, Any]) -> Iterator[str]:
    found = plain["stats"]
    yield styled(printable(plain["title"]), bold=True)
    yield from pairs(
        [
            ("chunks", str(found["total_chunks"])),
            (
                "words",
                f"{found['total_words']}, {found['avg_words']} per chunk ({found['min_words']} to "
                f"{found['max_words']})",
            ),
        ]
    )
    for sample in plain["samples"]:
        yield ""
        yield f"chunk {sample['chunk_num']}, {sample['words']} words"
        yield from (f"  {line}" for line in folded(printable(" ".join(sample["preview"].split())), 94, 8))


def _compared(plain: Mapping[str, Any]) -> Iterator[str]:
    yield styled(printable(plain["title"]), bold=True)
    rows = [
        (
            f"{each['threshold']:.2f}",
            str(each["chunks"]),
            str(each["avg_words"]),
            f"{each['coherence']:.3f}",
            str(each["semantic_breaks"]),
            str(each["forced_breaks"]),
        )
        for each in plain["comparisons"]
    ]
    yield from table(rows, ("THRESHOLD", "CHUNKS", "WORDS EACH", "COHERENCE", "SEMANTIC BREAKS", "FORCED"))
    yield f"Recommended: {plain['recommendation']} ({plain['recommendation_reason']})"
