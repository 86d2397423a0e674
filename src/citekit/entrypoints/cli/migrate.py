"""Implements the command `citekit migrate`."""

from __future__ import annotations

import click

from citekit.entrypoints.cli.command import Command
from citekit.entrypoints.cli.session import Session, pass_session


@click.command("migrate", cls=Command)
@click.argument("store")
@pass_session
def command(session: Session, store: str) -> None:
    """Copy the maps of a home to a shared store.

    STORE is s3://BUCKET/PREFIX, gs://..., az://..., or an absolute path.

    The home stays as it is. Afterward, set CITEKIT_STORE to use the store. If the command is interrupted, run it again:
    maps that are in the store are only compared. Evidence and texts are made again when they are needed.
    """
    from citekit.domain.phrases import counted
    from citekit.domain.unicode_controls import printable
    from citekit.entrypoints.cli.progress import watching

    with watching(session, f"Copying the maps to {printable(store)}") as watch:
        done = session.app.migrate_to(store)(watch)
    session.answer(
        {"copied": list(done.copied), "already_there": done.there, "failed": dict(done.failed)},
        [
            f"{counted(len(done.copied), 'map')} copied, {done.there} already there, {len(done.failed)} failed.",
            *(f"  {printable(name)}: {printable(reason)}" for name, reason in done.failed.items()),
        ],
    )
    if done.failed:
        raise click.exceptions.Exit(1)
