"""Defines the options that commands have in common, such as `--home` and `--json`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

import click

from citekit.entrypoints.cli.session import Session

_Function = TypeVar("_Function", bound=Callable[..., Any])


def _set_home(context: click.Context, _parameter: click.Parameter, value: str | None) -> None:
    if value is None:
        return
    if not value.strip():
        raise click.UsageError("--home is empty. Give the path of a folder.", context)
    context.ensure_object(Session).home = value


def _set_json(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if value:
        context.ensure_object(Session).as_json = True


FOLDER = click.Path(exists=True, file_okay=False)
"""The type of a parameter that must be an existing folder."""


def home_option() -> click.Option:
    """Return the option `--home DIR`."""
    return click.Option(
        ["--home"],
        metavar="DIR",
        expose_value=False,
        callback=_set_home,
        help="The folder for maps, evidence, and cache, or @personal (default: $CITEKIT_HOME, or your personal home if it "
        "exists and the current folder is not a home, or else the current folder).",
    )


def json_option() -> click.Option:
    """Return the option `--json`."""
    return click.Option(
        ["--json"],
        is_flag=True,
        expose_value=False,
        callback=_set_json,
        help="Print one JSON document on standard output, and nothing else.",
    )


def roots_option() -> Callable[[_Function], _Function]:
    """Return a decorator that adds the option `--root DIR`."""
    return click.option(
        "--root",
        "roots",
        multiple=True,
        type=FOLDER,
        metavar="DIR",
        help="Look for a moved source in this folder. Can be repeated.",
    )


def resources_option() -> Callable[[_Function], _Function]:
    """Return a decorator that adds the option `--resource RESOURCE`."""
    return click.option(
        "--resource",
        "-res",
        "resources",
        multiple=True,
        metavar="RESOURCE",
        help="Search only this resource. Can be repeated.",
    )


def tag_option(help: str) -> Callable[[_Function], _Function]:
    """Return a decorator that adds the option `--tag TAG`."""
    return click.option("--tag", metavar="TAG", help=help)


def password_option(what: str) -> Callable[[_Function], _Function]:
    """Return a decorator that adds the option `--password` for the files that `what` describes."""
    return click.option(
        "--password",
        metavar="TEXT|-",
        callback=_asked_password,
        help=f"The password for {what} that is locked (default: $CITEKIT_PASSWORD). Other users can see "
        "TEXT in the process list. Use - to enter the password at a prompt or to read it from "
        "standard input.",
    )


def _asked_password(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    if value != "-":
        return value
    if sys.stdin is not None and sys.stdin.isatty():
        return str(click.prompt("Password", hide_input=True, err=True))
    line = sys.stdin.readline() if sys.stdin is not None else ""
    if not line.strip("\r\n"):
        raise click.UsageError("There is no password on standard input. --password - reads it from the first line.")
    return line.rstrip("\r\n")


class Command(click.Command):
    """A CiteKit command with the options `--home` and `--json`.

    With `answers=False`, it has no `--json` and can use its own protocol on standard output.
    """

    def __init__(self, *arguments: Any, answers: bool = True, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.params += [home_option(), json_option()] if answers else [home_option()]
