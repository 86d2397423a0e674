"""`citekit cache`: stats, verify, prune, clear."""

from __future__ import annotations

import click

from citekit.entrypoints.cli.command import Command
from citekit.entrypoints.cli.session import Session, pass_session


@click.group("cache")
def command() -> None:
    """Look after the store of evidence.

    Whatever goes from it is made again when it is asked for.
    """


@command.command("stats", cls=Command)
@pass_session
def stats(session: Session) -> None:
    """Say how full the store is."""
    from citekit.entrypoints.cli.formatting import counted, size

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
            f"{size(found.linked)} of that is linked from the output folder, whose files are yours to delete",
        ],
    )


@command.command("verify", cls=Command)
@pass_session
def verify(session: Session) -> None:
    """Read every object, and drop those whose bytes are not what they were.

    What is dropped is made again when it is next asked for. Leftovers of killed processes are cleaned away.
    """
    from citekit.entrypoints.cli.formatting import counted

    found = session.app.evidence.verify()
    leftovers = found.leftovers + session.app.clean_leftovers()
    healed = f"{counted(len(found.healed), 'was', 'were')} damaged and dropped" if found.healed else "all are sound"
    session.answer(
        {"checked": found.checked, "damaged": list(found.healed), "leftovers": leftovers},
        [
            f"{counted(found.checked, 'object')} read: {healed}.",
            *(f"  {digest}" for digest in found.healed),
            *([f"{counted(leftovers, 'leftover')} cleaned away."] if leftovers else []),
        ],
    )


@command.command("prune", cls=Command)
@click.option(
    "--limit", metavar="SIZE", help="Keep at most this much, such as 500M or 1G (default: the store's limit)."
)
@pass_session
def prune(session: Session, limit: str | None) -> None:
    """Drop the evidence that was not used for longest, until the rest fits."""
    from citekit.settings import read_size

    gone = session.app.evidence.prune(None if limit is None else read_size(limit))
    _tell_freed(session, gone)


@command.command("clear", cls=Command)
@pass_session
def clear(session: Session) -> None:
    """Drop all evidence from the store. Maps, and files that were copied elsewhere, stay."""
    _tell_freed(session, session.app.evidence.clear())


def _tell_freed(session: Session, gone: int) -> None:
    from citekit.entrypoints.cli.formatting import size

    left = session.app.evidence.stats()
    session.answer(
        {"freed": gone, "objects": left.objects, "size": left.size}, [f"{size(gone)} freed, {size(left.size)} kept."]
    )
