"""Implements the command `citekit doctor`, which reports what is missing or broken in the installation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import click

from citekit.application.doctor import Finding, Health
from citekit.domain.unicode_controls import printable
from citekit.entrypoints.cli.command import Command
from citekit.entrypoints.cli.errors import CommandError
from citekit.entrypoints.cli.formatting import counted
from citekit.entrypoints.cli.session import Session, pass_session
from citekit.entrypoints.cli.terminal import styled

_MARKS = {Health.FINE: ("ok", "green"), Health.NOTED: ("note", "yellow"), Health.BROKEN: ("BROKEN", "red")}


@click.command("doctor", cls=Command)
@pass_session
def command(session: Session) -> None:
    """Report what is missing or broken, and how to fix it.

    Checks which extras are installed, which mapper is used by default, where files are stored, whether all maps can
    be read, and whether their sources have changed. The exit code is 1 if something is broken.
    """
    findings = list(session.app.doctor())
    broken = [finding for finding in findings if finding.health is Health.BROKEN]
    plain = {"healthy": not broken, "findings": [_plain(finding) for finding in findings]}
    if not broken:
        session.answer(plain, [*_lines(findings), "No problems found."])
        return
    session.say(_lines(findings))
    first = broken[0]
    raise CommandError("Broken", f"{counted(len(broken), 'problem')} found: {first.about}: {first.text}", plain)


def _plain(finding: Finding) -> dict[str, Any]:
    return {
        "about": finding.about,
        "health": finding.health.value,
        "text": finding.text,
        "remedy": finding.remedy,
    }


def _lines(findings: Sequence[Finding]) -> Iterator[str]:
    widest = min(max(len(finding.about) for finding in findings), 30)
    for finding in findings:
        word, colour = _MARKS[finding.health]
        mark = styled(word.ljust(6), fg=colour)
        yield f"{mark}  {printable(finding.about).ljust(widest)}  {printable(finding.text)}"
        if finding.remedy:
            yield f"{' ' * (widest + 10)}to fix it: {printable(finding.remedy)}"
