"""What every command has: `--home` and `--json`, also after its name."""

from __future__ import annotations

from typing import Any

import click

from citekit.entrypoints.cli.session import Session


def _set_home(context: click.Context, _parameter: click.Parameter, value: str | None) -> None:
    if value is None:
        return
    if not value.strip():
        raise click.UsageError("--home names no folder.", context)
    context.ensure_object(Session).home = value


def _set_json(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if value:
        context.ensure_object(Session).as_json = True


FOLDER = click.Path(exists=True, file_okay=False)
"""A folder that is there."""


def home_option() -> click.Option:
    """`--home DIR`."""
    return click.Option(
        ["--home"],
        metavar="DIR",
        expose_value=False,
        callback=_set_home,
        help="The folder that holds maps, evidence and cache (default: $CITEKIT_HOME, else the current folder).",
    )


def json_option() -> click.Option:
    """`--json`."""
    return click.Option(
        ["--json"],
        is_flag=True,
        expose_value=False,
        callback=_set_json,
        help="Print one JSON document on standard output, and nothing else.",
    )


class Command(click.Command):
    """A command of ours; one without `answers` speaks a protocol of its own on standard output."""

    def __init__(self, *arguments: Any, answers: bool = True, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.params += [home_option(), json_option()] if answers else [home_option()]
