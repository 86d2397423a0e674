"""Implements the command `citekit doctor`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click
from attrs import evolve

from citekit.application.doctor import Finding, Health, Topic
from citekit.domain.distribution import DISTRIBUTION
from citekit.domain.phrases import counted
from citekit.domain.unicode_controls import printable
from citekit.entrypoints.cli.command import Command
from citekit.entrypoints.cli.errors import CommandError
from citekit.entrypoints.cli.session import Session, pass_session
from citekit.entrypoints.cli.terminal import styled

_SHOWN = {
    Topic.PROGRAM: ((DISTRIBUTION, "CiteKit {}"), ("python", "Python {}")),
    Topic.EXTRAS: (("extras", "{}"),),
    Topic.MAPPER: (("mapper", "{}"),),
    Topic.HOME: (("home", "{}"), ("maps", "maps: {}"), ("sources", "{}")),
    Topic.CLIENTS: (("MCP clients", "{}"),),
}
"""For each topic, the findings that summarize it: (name, format of the text)."""

_MARKS = {Health.FINE: ("ok", "green"), Health.NOTED: ("note", "yellow"), Health.BROKEN: ("BROKEN", "red")}


@click.command("doctor", cls=Command)
@click.option("-v", "--verbose", is_flag=True, help="List every check and the version of every package.")
@pass_session
def command(session: Session, verbose: bool) -> None:
    """Report what is missing or broken, and how to fix it.

    Checks which extras are installed, which mapper is used by default, where files are stored, whether all maps can
    be read, whether their sources have changed, and which MCP clients are connected and can still start CiteKit. The
    exit code is 1 if something is broken.
    """
    findings = list(evolve(session.app.doctor, home_option=session.home_words())())
    broken = [finding for finding in findings if finding.health is Health.BROKEN]
    plain = {"healthy": not broken, "findings": [_plain(finding) for finding in findings]}
    lines = list(_lines(findings) if verbose else _summary(findings))
    if not broken:
        is_fine = all(finding.health is Health.FINE for finding in findings)
        session.answer(plain, [*lines, "No problems found." if is_fine else "Nothing is broken."])
        return
    session.say(lines)
    first = broken[0]
    raise CommandError("Broken", f"{counted(len(broken), 'problem')} found: {first.about}: {first.text}", plain)


def _summary(findings: Sequence[Finding]) -> Iterator[str]:
    """Yield a line for each topic, then the findings that are not fine."""
    topics = []
    for topic in Topic:
        of_topic = [finding for finding in findings if finding.topic is topic]
        worst = max((finding.health for finding in of_topic), key=list(Health).index)
        fine = {finding.about: finding.text for finding in of_topic if finding.health is Health.FINE}
        text = ", ".join(pattern.format(fine[about]) for about, pattern in _SHOWN[topic] if about in fine)
        topics.append(Finding(topic.value, worst, text or "see below"))
    yield from _lines(topics)
    yield from _lines([finding for finding in findings if finding.health is not Health.FINE])


def _plain(finding: Finding) -> dict[str, object]:
    return {
        "about": finding.about,
        "health": finding.health.value,
        "text": finding.text,
        "remedy": finding.remedy,
    }


def _lines(findings: Sequence[Finding]) -> Iterator[str]:
    widest = min(max((len(finding.about) for finding in findings), default=0), 30)
    for finding in findings:
        word, color = _MARKS[finding.health]
        mark = styled(word.ljust(6), fg=color)
        yield f"{mark}  {printable(finding.about).ljust(widest)}  {printable(finding.text)}"
        if finding.remedy:
            yield f"{' ' * (widest + 10)}remedy: {printable(finding.remedy)}"
