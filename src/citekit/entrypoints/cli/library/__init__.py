"""Defines the command group `citekit library`, with one module per command."""

from __future__ import annotations

import importlib
from typing import Any

import click

COMMANDS: dict[str, tuple[str, str]] = {
    "list": ("list_books", "List the ingested books with their state, size, and embedder."),
    "stats": ("stats", "Show the size of the library and of the index."),
    "search": ("search", "Find books by author, title, language, and tags."),
    "book": ("book", "Show the details of one book."),
    "preview": ("preview", "List the books that can be ingested, and the file that would be used for each."),
    "ingest": ("ingest", "Ingest books from the library by their IDs."),
    "ingest-file": ("ingest_file", "Ingest files that are not in the library."),
    "batch": ("batch", "Ingest books from the library that match a filter."),
    "query": ("query", "Ask a question and find the passages in ingested books that answer it."),
    "guardians": ("guardians", "List the guardians (personalities for answers) and the answer patterns."),
    "remove": ("remove", "Remove a book from the index."),
    "chunking": ("chunking", "Preview how a book would be split into chunks. Stores nothing."),
    "rebuild": ("rebuild", "Rebuild a collection to change the embedder or to recover from damage."),
}
"""For each command: its module and a one-line description."""


class LibraryGroup(click.Group):
    """A command group that imports the module of a command on use."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names of all commands in display order."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Return the command with that name, after importing its module, or None."""
        if cmd_name not in COMMANDS:
            return None
        module: Any = importlib.import_module(f"{__name__}.{COMMANDS[cmd_name][0]}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the list of commands without importing their modules."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.command("library", cls=LibraryGroup)
def command() -> None:
    """Manage the library: ingest books, ask questions, remove books.

    CALIBRE_LIBRARY_PATH names the library: a Calibre library, or any folder of books.
    """
