"""Implements the command `citekit library guardians`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click

from citekit.domain.library.personas import Pattern
from citekit.domain.progress import silent
from citekit.entrypoints.cli.command import Command
from citekit.entrypoints.cli.library.options import answer
from citekit.entrypoints.cli.session import Session, pass_session
from citekit.entrypoints.cli.tables import table
from citekit.entrypoints.library import asking


@click.command("guardians", cls=Command)
@pass_session
def command(session: Session) -> None:
    """List the guardians (personalities for answers) and the answer patterns.

    To use them, add --guardian ID or --pattern ID to `citekit library query QUESTION`.
    """
    plain = asking.guardians(session.app.alexandria, {}, silent)
    patterns = session.app.alexandria.personas.patterns()
    rows = [(each["id"], f"{each['emoji']} {each['name']}", each["role"]) for each in plain["guardians"]]
    plain = {**plain, "patterns": [{"id": each.id, "category": each.category, "name": each.name} for each in patterns]}
    answer(session, plain, lambda: _lines(rows, patterns))


def _lines(rows: Sequence[tuple[str, str, str]], patterns: Sequence[Pattern]) -> Iterator[str]:
    yield from table(rows, ("GUARDIAN", "NAME", "ROLE"))
    yield ""
    yield from table(
        [(each.id, each.category, each.use_case or each.name) for each in patterns], ("PATTERN", "CATEGORY", "FOR")
    )
