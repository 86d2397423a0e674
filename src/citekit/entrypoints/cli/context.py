"""`citekit context`."""

from __future__ import annotations

import click

from citekit.entrypoints.cli.command import Command
from citekit.entrypoints.cli.session import Session, pass_session


@click.command("context", cls=Command)
@click.argument("resources", nargs=-1, metavar="[RESOURCE...]")
@click.option("--format", "form", type=click.Choice(["markdown", "json"]), default="markdown", show_default=True)
@click.option("--budget", type=click.IntRange(min=1), metavar="TOKENS", help="How long the text may be (default: any).")
@pass_session
def command(session: Session, resources: tuple[str, ...], form: str, budget: int | None) -> None:
    """Write the outline of maps for a model, within a budget.

    Of the named resources, else of all. Every line has a node's id and its address, which `citekit resolve` takes. Where
    the budget does not hold all, upper levels go first, over all maps in turn, and the text says how many nodes were left
    out. A token is taken for 4 characters, which is an estimate.
    """
    found = session.app.context(resources, format=form, budget=budget)
    plain = {"context": found.text, "format": form, "shown": found.shown, "left_out": found.left_out}
    session.answer(plain, found.text.split("\n"))
