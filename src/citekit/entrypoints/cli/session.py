"""What one call of the command line knows: which home, which kind of answer, and the use cases."""

from __future__ import annotations

import sys
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, TextIO

import click

from citekit.entrypoints.cli.terminal import echo, echo_document

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from citekit.container import Container


class Session:
    """`home` is what `--home` said; with `as_json` standard output gets one JSON document and nothing else."""

    def __init__(self) -> None:
        self.home: str | None = None
        self.as_json = False
        self._out = sys.stdout  # a mapper's file may turn sys.stdout elsewhere while it runs, for all threads

    @cached_property
    def app(self) -> Container:
        """The use cases of the home. Raises `RequestRefused` for a setting that cannot be read."""
        from citekit.container import bootstrap

        return bootstrap(home=self.home)

    def app_with(self, **settings: Any) -> Container:
        """The use cases with those settings changed; what is None stays. Raises `RequestRefused`."""
        changed = {name: value for name, value in settings.items() if value is not None}
        if not changed:
            return self.app
        from attrs import evolve

        from citekit.container import bootstrap

        return bootstrap(evolve(self.app.settings, **changed))

    def answer(self, plain: Mapping[str, Any], lines: Iterable[str]) -> None:
        """Give the answer: `plain` as JSON, or `lines` to a person. Only the one that is wanted is made."""
        if self.as_json:
            write_json(plain, self._out)
            return
        self.say(lines)

    def say(self, lines: Iterable[str]) -> None:
        """Tell a person lines of the answer; nothing to a program, for which they are not even made.

        A line is one line: an end of line inside of it is shown as an escape, as every other control is.
        """
        if not self.as_json:
            for several in _together(lines):
                echo(several, self._out)

    def note(self, text: str) -> None:
        """Tell a person something beside the answer, on standard error; nothing to a program."""
        if not self.as_json:
            echo([text], sys.stderr)


def _together(lines: Iterable[str]) -> Iterator[list[str]]:
    """The lines, some hundred at a time: each write is passed on at once, which costs far more than the line."""
    rest = iter(lines)
    while several := list(islice(rest, 200)):
        yield several


pass_session = click.make_pass_decorator(Session, ensure=True)


def write_json(plain: Mapping[str, Any], out: TextIO) -> None:
    """One JSON document on `out`, in plain ASCII where that takes no other characters; what is not seen is escaped."""
    from citekit.domain.unicode_controls import in_json
    from citekit.wire.indented import indented

    text = in_json(indented(plain))
    if "error" in plain:  # what others said is in it; a document of results says exactly what is in the files
        from citekit.settings.secrets import concealed_in_json

        text = concealed_in_json(text)
    try:
        text.encode(out.encoding or "ascii")
    except UnicodeEncodeError:
        import json

        text = json.dumps(plain, indent=2, allow_nan=False)
    echo_document(text, out)
    out.flush()
