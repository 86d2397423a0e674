"""`citekit library`: what is on the shelves and in the index, one module for each command."""

from __future__ import annotations

import importlib
from typing import Any

import click

COMMANDS: dict[str, tuple[str, str]] = {
    "stats": ("stats", "Say how much there is in the library and in the index."),
    "search": ("search", "Find books by author, title, language and tags."),
    "book": ("book", "Show one book of the library."),
    "preview": ("preview", "Show which books could be ingested, and from which file."),
    "ingest": ("ingest", "Ingest books of the library, by their ids."),
    "ingest-file": ("ingest_file", "Ingest files that no library lists."),
    "batch": ("batch", "Ingest many books of the library."),
    "query": ("query", "Ask a library of books, and open the very page."),
    "guardians": ("guardians", "List who can speak for the library, and the patterns of answers."),
    "remove": ("remove", "Take a book out of the index again."),
    "chunking": ("chunking", "Try how a book would be cut, without storing anything."),
    "rebuild": ("rebuild", "Make a collection anew, for another embedder or after damage."),
}
"""Every command: its module here, and what it does in one line."""


class LibraryGroup(click.Group):
    """Imports a command's module when that command is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """The names of all commands, in the order of the work."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The command of that name, imported now."""
        if cmd_name not in COMMANDS:
            return None
        module: Any = importlib.import_module(f"{__name__}.{COMMANDS[cmd_name][0]}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the list of commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.command("library", cls=LibraryGroup)
def command() -> None:
    """Look after the library: ingest books, ask them, take them out.

    The library is the folder that CALIBRE_LIBRARY_PATH names: Calibre's, or any folder of books.
    """
