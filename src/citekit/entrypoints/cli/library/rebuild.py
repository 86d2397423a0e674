"""Implements the command `citekit library rebuild`."""

from __future__ import annotations

import click

from citekit.domain.phrases import counted
from citekit.domain.unicode_controls import printable
from citekit.entrypoints.cli.command import Command
from citekit.entrypoints.cli.errors import CommandError
from citekit.entrypoints.cli.library.options import collection
from citekit.entrypoints.cli.progress import watching
from citekit.entrypoints.cli.session import Session, pass_session
from citekit.entrypoints.failures import sentence


@click.command("rebuild", cls=Command)
@collection()
@pass_session
def command(session: Session, collection: str | None) -> None:
    """Rebuild a collection to change the embedder or to recover from damage.

    Reads the files of the ingested books again and uses the configured embedder (CITEKIT_EMBEDDER). The list of
    books and their chunking parameters come from the ledger.
    """
    library = session.app.alexandria
    name = collection or library.chosen.collection
    books = library.rebuild.books(name)
    if not books:
        raise CommandError(
            "NothingFound",
            f"There is nothing to rebuild: the collection '{name}' contains no books. To see which books are ingested, run: "
            f"citekit library list{session.home_words()}",
        )
    with watching(session, "Rebuilding") as watch:
        done = list(library.rebuild(books, name, watch))
    failed = {each.entry.title: sentence(each.error) for each in done if each.error is not None}
    plain = {"collection": name, "books": len(done), "failed": failed, "model": str(library.embedder.identity)}
    session.say(f"not ingested  {printable(title)}: {printable(reason)}" for title, reason in failed.items())
    if failed:
        raise CommandError("SomeFailed", f"{len(failed)} of {counted(len(done), 'book')} could not be ingested.", plain)
    session.answer(plain, [f"{counted(len(done), 'book')} in {printable(name)}, with vectors of {plain['model']}."])
