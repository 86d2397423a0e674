"""Implements the commands of `citekit models`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from citekit.entrypoints.cli.command import Command
from citekit.entrypoints.cli.session import Session, pass_session

if TYPE_CHECKING:
    from citekit.domain.speech import SpeechModelFacts


@click.group("models")
def command() -> None:
    """List and download models for speech recognition.

    No other command downloads a model.
    """


@command.command("list", cls=Command)
@pass_session
def listing(session: Session) -> None:
    """List the models with their sizes and licenses, and show which are installed."""
    from citekit.entrypoints.cli.formatting import size
    from citekit.entrypoints.cli.tables import table

    models = session.app.speech_models.known()
    rows = [(each.name, size(each.size), each.languages, each.license, _state(each)) for each in models]
    session.answer(
        {"models": [_plain(each) for each in models]}, table(rows, ("NAME", "SIZE", "LANGUAGES", "LICENSE", "STATE"))
    )


@command.command("get", cls=Command)
@click.argument("name")
@pass_session
def get(session: Session, name: str) -> None:
    """Download a model, after showing its size and license.

    Run the command again to continue an interrupted download. Every file is compared with its published digest.
    """
    from citekit.entrypoints.cli.formatting import size
    from citekit.entrypoints.cli.progress import watching

    models = session.app.speech_models
    facts = models.facts(name)
    session.note(f"Whisper {facts.name}: {size(facts.size)}, {facts.license} license, from {facts.publisher}")
    with watching(session, f"Downloading {facts.name}") as watch:
        folder = models.download(facts.name, watch)
    session.answer(
        {**_plain(models.facts(facts.name)), "folder": str(folder)},
        [f"The model {facts.name} is in {folder}. {_use(models.facts(facts.name))}"],
    )


def _use(facts: SpeechModelFacts) -> str:
    if facts.is_automatic:
        return "CiteKit uses this model unless CITEKIT_SPEECH_MODEL names another one."
    return f"To use it, set CITEKIT_SPEECH_MODEL={facts.name}."


def _state(facts: SpeechModelFacts) -> str:
    if facts.where is None:
        return f"not installed (citekit models get {facts.name})"
    return "used by default" if facts.is_automatic else "installed"


def _plain(facts: SpeechModelFacts) -> dict[str, object]:
    return {
        "name": facts.name,
        "size": facts.size,
        "languages": facts.languages,
        "license": facts.license,
        "publisher": facts.publisher,
        "folder": facts.where,
        "is_default": facts.is_automatic,
    }
