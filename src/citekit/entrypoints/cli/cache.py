"""Implements the commands of `citekit cache`."""

from __future__ import annotations

import click

from citekit.entrypoints.cli.command import Command
from citekit.entrypoints.cli.session import Session, pass_session


@click.group("cache")
def command() -> None:
    """Show, check, or reduce the evidence cache, or clean up the shared store.

    Deleted evidence is created again when it is needed.
    """


@command.command("stats", cls=Command)
@pass_session
def stats(session: Session) -> None:
    """Show the number and size of the objects in the cache."""
    from citekit.domain.phrases import counted
    from citekit.entrypoints.cli.formatting import size

    found = session.app.evidence.stats()
    folder = str(session.app.settings.cache_folder)
    session.answer(
        {
            "objects": found.objects,
            "size": found.size,
            "linked": found.linked,
            "limit": found.limit,
            "folder": folder,
        },
        [
            f"{counted(found.objects, 'object')}, {size(found.size)} of at most {size(found.limit)}, in {folder}",
            *(
                [
                    f"{size(found.linked)} of this is shared with copies outside the cache, such as those in "
                    f"{session.app.settings.output_folder}, and is freed only when these are deleted, too."
                ]
                if found.linked
                else []
            ),
        ],
    )


@command.command("verify", cls=Command)
@pass_session
def verify(session: Session) -> None:
    """Check every object in the cache, and delete those that are damaged.

    Deleted objects are created again when they are needed. Temporary files that earlier processes left are deleted, too.
    """
    from citekit.domain.phrases import counted

    found = session.app.evidence.verify()
    leftovers = found.leftovers + session.app.clean_leftovers()
    healed = f"{counted(len(found.healed), 'was', 'were')} damaged and deleted" if found.healed else "no damage found"
    session.answer(
        {"checked": found.checked, "damaged": list(found.healed), "leftovers": leftovers},
        [
            f"{counted(found.checked, 'object')} checked: {healed}.",
            *(f"  {digest}" for digest in found.healed),
            *([f"{counted(leftovers, 'temporary file')} of earlier processes deleted."] if leftovers else []),
        ],
    )


@command.command("prune", cls=Command)
@click.option(
    "--limit",
    metavar="SIZE",
    help="The maximum size to keep, such as 500M or 1G (default: $CITEKIT_CACHE_LIMIT, or 10G).",
)
@pass_session
def prune(session: Session, limit: str | None) -> None:
    """Delete the least recently used evidence until the rest fits the limit."""
    from citekit.settings import read_size

    gone = session.app.evidence.prune(None if limit is None else read_size(limit, "--limit"))
    _tell_freed(session, gone)


@command.command("clear", cls=Command)
@pass_session
def clear(session: Session) -> None:
    """Delete all evidence in the cache. Maps, and files that were copied elsewhere, are kept."""
    _tell_freed(session, session.app.evidence.clear())


@command.command("collect", cls=Command)
@click.option(
    "--grace",
    type=click.FloatRange(24),
    default=48,
    show_default=True,
    metavar="HOURS",
    help="Keep what was replaced or removed during the last HOURS, because a machine may still use it. At least 24.",
)
@pass_session
def collect(session: Session, grace: float) -> None:
    """Delete maps in the shared store (CITEKIT_STORE) that were removed, or replaced by maps that the same mapper made
    from the same bytes.

    Other machines can map, read, and remove at the same time. If the command is interrupted, run it again.
    """
    from datetime import timedelta

    from citekit.domain.phrases import counted

    removed = session.app.collect_shared_maps(timedelta(hours=grace))
    session.answer({"removed": removed}, [f"{counted(removed, 'object')} deleted."])


def _tell_freed(session: Session, gone: int) -> None:
    from citekit.entrypoints.cli.formatting import size

    left = session.app.evidence.stats()
    session.answer(
        {"freed": gone, "objects": left.objects, "size": left.size}, [f"{size(gone)} freed, {size(left.size)} kept."]
    )
