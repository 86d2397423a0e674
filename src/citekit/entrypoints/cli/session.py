"""The state of one call of the command line: the home, the output format, and the use cases."""

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
    """One call of the command line. `home` is the value of `--home`. With `as_json`, standard output gets exactly one
    JSON document.
    """

    def __init__(self) -> None:
        self.home: str | None = None
        self.as_json = False
        self._out = sys.stdout  # a custom mapper may redirect sys.stdout for all threads

    @cached_property
    def app(self) -> Container:
        """The use cases of the home. Raises `RequestRefused` for an invalid setting."""
        from citekit.container import bootstrap

        return bootstrap(home=self.home)

    def app_with(self, **settings: Any) -> Container:
        """The use cases with these settings changed; None leaves a setting unchanged. Raises `RequestRefused`."""
        changed = {name: value for name, value in settings.items() if value is not None}
        if not changed:
            return self.app
        from attrs import evolve

        from citekit.container import bootstrap

        return bootstrap(evolve(self.app.settings, **changed))

    def answer(self, plain: Mapping[str, Any], lines: Iterable[str]) -> None:
        """Print the answer: `plain` as JSON, or `lines` as text. The unused one is not evaluated."""
        if self.as_json:
            write_json(plain, self._out)
            return
        self.say(lines)

    def say(self, lines: Iterable[str]) -> None:
        """Print lines of a text answer; with `as_json`, do not even evaluate them.

        Line ends and other control characters within a line are escaped.
        """
        if not self.as_json:
            for several in _together(lines):
                echo(several, self._out)

    def note(self, text: str) -> None:
        """Print a note to standard error, unless `as_json` is set."""
        if not self.as_json:
            echo([text], sys.stderr)


def _together(lines: Iterable[str]) -> Iterator[list[str]]:
    """The lines in batches, because each write is flushed, which costs far more than a line."""
    rest = iter(lines)
    while several := list(islice(rest, 200)):
        yield several


pass_session = click.make_pass_decorator(Session, ensure=True)


def write_json(plain: Mapping[str, Any], out: TextIO) -> None:
    """Write a JSON document to `out`. Invisible characters, and those that the encoding of `out` lacks, are escaped."""
    from citekit.domain.unicode_controls import in_json
    from citekit.wire.indented import indented

    text = in_json(indented(plain))
    if "error" in plain:  # error texts can come from services; results must quote files exactly
        from citekit.settings.secrets import concealed_in_json

        text = concealed_in_json(text)
    try:
        text.encode(out.encoding or "ascii")
    except UnicodeEncodeError:
        import json

        text = json.dumps(plain, indent=2, allow_nan=False)
    echo_document(text, out)
    out.flush()
