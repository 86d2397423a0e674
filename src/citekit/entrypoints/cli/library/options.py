"""What the commands of the library share: their options, and how an answer becomes lines or an error."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from citekit.entrypoints.cli.errors import CommandError
from citekit.entrypoints.cli.session import Session
from citekit.settings import expanded

_Function = TypeVar("_Function", bound=Callable[..., Any])


def answer(session: Session, plain: Mapping[str, Any], lines: Callable[[], Iterable[str]]) -> None:
    """Give the answer of a tool, or fail with its error; the JSON document is the same as over MCP."""
    if plain.get("error"):
        raise CommandError("LibraryError", str(plain["error"]), {k: v for k, v in plain.items() if k != "error"})
    session.answer(plain, lines())


def named_file(text: str, what: str) -> Path:
    """The absolute path of a file that is named on the command line as `what`."""
    if not text.strip():
        raise click.UsageError(f"{what} is empty: name a file.")
    return expanded(text).absolute()


def options(*chosen: Callable[[_Function], _Function]) -> Callable[[_Function], _Function]:
    """Several options as one decorator, shown in that order."""

    def decorate(function: _Function) -> _Function:
        for each in reversed(chosen):
            function = each(function)
        return function

    return decorate


def filters() -> Callable[[_Function], _Function]:
    """Which books: `--author`, `--title`, `--language`."""
    return options(
        click.option("--author", metavar="TEXT", help="Found inside the author's name, whatever the case."),
        click.option("--title", metavar="TEXT", help="Found inside the title, whatever the case."),
        click.option("--language", metavar="CODE", help="The language, such as eng or hrv."),
    )


def cutting() -> Callable[[_Function], _Function]:
    """How a text is cut into chunks: `--threshold`, `--min-words`, `--max-words`."""
    return options(
        click.option(
            "--threshold",
            type=click.FloatRange(0, 1),
            default=0.55,
            show_default=True,
            help="Cut where neighbouring sentences are less alike than this.",
        ),
        click.option(
            "--min-words",
            "min_chunk_size",
            type=click.IntRange(1),
            default=200,
            show_default=True,
            help="Words of a chunk at least.",
        ),
        click.option(
            "--max-words",
            "max_chunk_size",
            type=click.IntRange(1),
            default=1200,
            show_default=True,
            help="Words of a chunk at most.",
        ),
    )


def ingesting() -> Callable[[_Function], _Function]:
    """How a book is taken in: `--collection`, `--flat`, `--force`, and how it is cut."""
    return options(
        collection(),
        click.option("--flat", is_flag=True, help="Take the text as one, without chapters."),
        click.option("--force", is_flag=True, help="Replace what is there of the same file."),
        cutting(),
    )


def collection() -> Callable[[_Function], _Function]:
    """`--collection`."""
    return click.option(
        "--collection", metavar="NAME", help="Which collection (default: $QDRANT_COLLECTION, else alexandria)."
    )


def preference() -> Callable[[_Function], _Function]:
    """`--format`."""
    return click.option(
        "--format",
        "format_preference",
        default="epub",
        show_default=True,
        metavar="FORMAT",
        help="Which file of a book is preferred: epub, pdf, ...",
    )
