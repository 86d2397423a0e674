"""What one call of the command line knows: which home, which kind of answer, and the use cases."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, TextIO

import click

if TYPE_CHECKING:
    from citekit.bootstrap import App


class Session:
    """`home` is what `--home` said; with `as_json` standard output gets one JSON document and nothing else."""

    def __init__(self) -> None:
        self.home: str | None = None
        self.as_json = False
        self._out = sys.stdout  # a mapper's file may turn sys.stdout elsewhere while it runs, for all threads

    @cached_property
    def app(self) -> App:
        """The use cases of the home. Raises `RequestRefused` for a setting that cannot be read."""
        from citekit.bootstrap import bootstrap

        return bootstrap(home=self.home)

    def answer(self, plain: Mapping[str, Any], lines: Iterable[str]) -> None:
        """Give the answer: `plain` as JSON, or `lines` to a person. Only the one that is wanted is made."""
        if self.as_json:
            write_json(plain, self._out)
            return
        self.say(lines)

    def say(self, lines: Iterable[str]) -> None:
        """Tell a person lines of the answer; nothing to a program, for which they are not even made."""
        if not self.as_json:
            for line in lines:
                click.echo(line, file=self._out)

    def note(self, text: str) -> None:
        """Tell a person something beside the answer, on standard error; nothing to a program."""
        if not self.as_json:
            click.echo(text, err=True)


pass_session = click.make_pass_decorator(Session, ensure=True)


def write_json(plain: Mapping[str, Any], out: TextIO) -> None:
    """One JSON document on `out`, in plain ASCII where that takes no other characters."""
    text = json.dumps(plain, indent=2, ensure_ascii=False, allow_nan=False)
    try:
        text.encode(out.encoding or "ascii")
    except UnicodeEncodeError:
        text = json.dumps(plain, indent=2, allow_nan=False)
    click.echo(text, file=out)
    out.flush()
