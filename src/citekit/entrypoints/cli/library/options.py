"""Defines the options that the library commands share, and prints their results."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from citekit.entrypoints.cli.errors import CommandError
from citekit.entrypoints.cli.session import Session
from citekit.entrypoints.cli.terminal import echo
from citekit.settings import expanded

_Function = TypeVar("_Function", bound=Callable[..., Any])


def answer(session: Session, plain: Mapping[str, object], lines: Callable[[], Iterable[str]]) -> None:
    """Print the result of a library tool. Raise `CommandError` if it contains an error.

    `plain` is the JSON document, the same as over MCP. `lines` returns the lines for people.
    """
    if plain.get("error"):
        raise CommandError("LibraryError", str(plain["error"]), {k: v for k, v in plain.items() if k != "error"})
    session.answer(plain, lines())


def named_file(text: str, what: str, wanted: str = "the path of a file") -> Path:
    """Return the absolute path for a command-line argument.

    `what` is its name, and `wanted` is what it can be. Raise `click.UsageError` if it is blank, and the errors of
    `expanded`.
    """
    if not text.strip():
        raise click.UsageError(f"{what} is empty. Give {wanted}.")
    return expanded(text).absolute()


def options(*chosen: Callable[[_Function], _Function]) -> Callable[[_Function], _Function]:
    """Combine option decorators into one. The help text shows the options in this order."""

    def decorate(function: _Function) -> _Function:
        for each in reversed(chosen):
            function = each(function)
        return function

    return decorate


def filters() -> Callable[[_Function], _Function]:
    """Return a decorator that adds `--author`, `--title`, and `--language`, which select books."""
    return options(
        click.option("--author", metavar="TEXT", help="Match part of the author's name. Case is ignored."),
        click.option("--title", metavar="TEXT", help="Match part of the title. Case is ignored."),
        click.option("--language", metavar="CODE", help="Match the language code, such as eng or hrv."),
    )


def cutting() -> Callable[[_Function], _Function]:
    """Return a decorator that adds the chunking options."""
    return options(
        click.option(
            "--threshold",
            type=click.FloatRange(0, 1),
            default=0.55,
            show_default=True,
            help="End a chunk where the similarity of neighboring sentences is below this value (not in recordings).",
        ),
        click.option(
            "--min-words",
            "min_chunk_size",
            type=click.IntRange(1),
            default=200,
            show_default=True,
            help="The minimum number of words in a chunk, except in recordings (fewer in short chapters and where "
            "sentences are long).",
        ),
        click.option(
            "--max-words",
            "max_chunk_size",
            type=click.IntRange(1),
            default=1200,
            show_default=True,
            help="The maximum number of words in a chunk, except in recordings.",
        ),
    )


def ingesting() -> Callable[[_Function], _Function]:
    """Return a decorator that adds `--collection`, `--no-chapters`, `--force`, and the chunking options."""
    return options(
        collection(),
        click.option(
            "--no-chapters",
            "flat",
            is_flag=True,
            is_eager=True,
            help="Split the whole text without regard to chapters.",
        ),
        click.option("--flat", "former_flat", is_flag=True, hidden=True, expose_value=False, callback=_former_flat),
        click.option(
            "--force", is_flag=True, help="Ingest again if the file was already ingested, and replace its chunks."
        ),
        cutting(),
    )


def _former_flat(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    """Treat `--flat`, the former name of `--no-chapters`, as that option, and print a note.

    `--no-chapters` is eager, so its default does not overwrite the value that is set here.
    """
    if value:
        echo(["Note: '--flat' is now called '--no-chapters'."], sys.stderr)
        context.params["flat"] = True


def collection(
    help: str = "The collection to use (default: $QDRANT_COLLECTION, or alexandria).",
) -> Callable[[_Function], _Function]:
    """Return a decorator that adds the option `--collection`."""
    return click.option("--collection", metavar="NAME", help=help)


def preference() -> Callable[[_Function], _Function]:
    """Return a decorator that adds the option `--format`."""
    return click.option(
        "--format",
        "format_preference",
        default="epub",
        show_default=True,
        metavar="FORMAT",
        help="The preferred format of a book: epub, pdf, ...",
    )
