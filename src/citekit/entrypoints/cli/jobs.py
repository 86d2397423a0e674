"""Implements the command `citekit jobs`."""

from __future__ import annotations

import click

from citekit.entrypoints.cli.command import Command
from citekit.entrypoints.cli.session import Session, pass_session


@click.command("jobs", cls=Command)
@pass_session
def command(session: Session) -> None:
    """Show the result of the last ingest of several files.

    The ingest may still be running. Files that failed, or were set aside because they crashed every worker that tried
    them, are listed with the reason. Exits with 0 only if nothing was lost: no file failed or was set aside, and no file
    remains after the end of the ingest.
    """
    from citekit.domain.ingest_run import FileState
    from citekit.domain.phrases import counted
    from citekit.domain.unicode_controls import printable
    from citekit.entrypoints.cli.errors import CommandError

    run = session.app.ingest_runs.last()
    if run is None:
        raise CommandError("NothingFound", f"No ingest of several files is recorded. {session.home_hint()}")
    aside = sum(each.state is FileState.SET_ASIDE for each in run.failed)
    state = "running" if run.is_running else "ended" if run.ended else "ended early"
    counts = {
        "done": run.done,
        "skipped": run.skipped,
        "failed": len(run.failed) - aside,
        "set_aside": aside,
        "remaining": run.remaining,
    }
    plain = {
        "state": state,
        "places": list(run.places),
        "started": run.started.isoformat(),
        "ended": None if run.ended is None else run.ended.isoformat(),
        "files": run.files,
        **counts,
        "files_per_second": round(run.rate, 3),
        "problems": [{"path": each.path, "state": each.state.value, "reason": each.reason} for each in run.failed],
    }
    facts = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts.items())
    lines = [
        f"{', '.join(map(printable, run.places))}: {state}, started {run.started.astimezone():%Y-%m-%d %H:%M:%S}",
        f"{counted(run.files, 'file')}: {facts}; {run.rate:.1f} files per second.",
        *(f"{each.state.value.capitalize()}: {printable(each.path)}: {printable(each.reason)}" for each in run.failed),
    ]
    session.answer(plain, lines)
    if not run.is_complete:
        raise click.exceptions.Exit(1)
