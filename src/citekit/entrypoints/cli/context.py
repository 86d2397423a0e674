"""Implements the command `citekit outline`."""

from __future__ import annotations

import click

from citekit.entrypoints.cli.command import Command
from citekit.entrypoints.cli.session import Session, pass_session


@click.command("outline", cls=Command)
@click.argument("resources", nargs=-1, metavar="[RESOURCE...]")
@click.option(
    "--format",
    "form",
    type=click.Choice(["markdown", "json"]),
    default="markdown",
    show_default=True,
    help="The format of the outline.",
)
@click.option(
    "--budget",
    type=click.IntRange(min=1),
    metavar="TOKENS",
    help="The maximum length of the outline in tokens (default: no limit).",
)
@pass_session
def command(session: Session, resources: tuple[str, ...], form: str, budget: int | None) -> None:
    """Print an outline of maps for a model, within a token budget.

    Shows the named resources, or all resources. Each node has its ID and its address, which you can pass to
    `citekit resolve`. If the budget is too small, the upper levels of all maps come first, and the outline says how
    many nodes were left out. Tokens are estimated as 4 characters each.
    """
    found = session.app.context(resources, format=form, budget=budget)
    plain = {"context": found.text, "format": form, "shown": found.shown, "left_out": found.left_out}
    session.answer(plain, found.text.split("\n"))
