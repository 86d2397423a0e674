"""Holds the state of one call of the command line."""

from __future__ import annotations

import os
import sys
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, TextIO

import click

from citekit.entrypoints.cli.terminal import echo, echo_document
from citekit.settings.places import MAPS, PERSONAL, home_of_commands, personal_home

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from citekit.container import Container
    from citekit.domain.errors import ResourceMissing


class Session:
    """The state of one call of the command line.

    `home` is the value of `--home`, or None. If `as_json` is True, JSON is printed instead of lines.
    """

    def __init__(self) -> None:
        self.home: str | None = None
        self.as_json = False
        self._out = sys.stdout  # a custom mapper may redirect sys.stdout for all threads

    @cached_property
    def chosen_home(self) -> str | None:
        """The home that `home_of_commands` chooses, or None for `CITEKIT_HOME` or, if that is not set, the current
        folder.
        """
        return home_of_commands(os.environ, self.home)

    @cached_property
    def app(self) -> Container:
        """The use cases for the home folder. Raise `RequestRefused` if a setting is invalid."""
        from citekit.container import bootstrap

        return bootstrap(home=self.chosen_home)

    @property
    def why_home(self) -> str:
        """A phrase that names what determined the home, such as `--home`."""
        if self.home:
            return "--home"
        if os.environ.get("CITEKIT_HOME"):
            return "CITEKIT_HOME"
        return "the current folder" if self.chosen_home is None else "your personal home"

    def home_words(self) -> str:
        """Return ` --home DIR`, for the end of a command in a message, if the user gave this option, and otherwise ""."""
        import shlex

        return f" --home {shlex.quote(self.home)}" if self.home else ""

    def home_hint(self) -> str:
        """Return sentences about the home that was used and how to use another."""
        from citekit.domain.unicode_controls import printable

        home = printable(str(self.app.settings.home))
        return f"The home is {home} ({self.why_home}). To use another one, add --home DIR."

    def note_personal_home(self) -> None:
        """Print a note if a command writes to the personal home because the user named no home."""
        if not self.home and self.chosen_home == PERSONAL:
            home = self.app.settings.home
            self.note(f"Using your personal home, {home}. To use a home in this folder, add --home .")

    def hint_about(self, missing: ResourceMissing) -> str:
        """Return sentences that name the home in which the resource is missing, and the personal home if it has the
        resource.
        """
        file_name = os.path.basename(missing.expected_at)  # noqa: PTH119 - the path of an error, not of a file
        personal = personal_home(os.environ)
        if personal is None or str(self.app.settings.home) == personal:
            return self.home_hint()
        if not os.path.isfile(os.path.join(personal, MAPS, file_name)):  # noqa: PTH113, PTH118
            return self.home_hint()
        return f"{self.home_hint()} Your personal home has this resource. To use it, add --home {PERSONAL}"

    def app_with(self, **settings: Any) -> Container:
        """Return the use cases with the given settings changed. A setting that is None keeps its value.

        Raise `RequestRefused` if a setting is invalid.
        """
        changed = {name: value for name, value in settings.items() if value is not None}
        if not changed:
            return self.app
        from attrs import evolve

        from citekit.container import bootstrap

        return bootstrap(evolve(self.app.settings, **changed))

    def answer(self, plain: Mapping[str, Any], lines: Iterable[str]) -> None:
        """Print `plain` as JSON if `as_json` is True; otherwise, evaluate and print `lines`."""
        if self.as_json:
            write_json(plain, self._out)
            return
        self.say(lines)

    def say(self, lines: Iterable[str]) -> None:
        """Print lines, with their control characters escaped. If `as_json` is True, print nothing and do not evaluate
        `lines`.
        """
        if not self.as_json:
            for several in _together(lines):
                echo(several, self._out)

    def note(self, text: str) -> None:
        """Print a note to standard error, unless `as_json` is True."""
        if not self.as_json:
            echo([text], sys.stderr)


def _together(lines: Iterable[str]) -> Iterator[list[str]]:
    """Yield the lines in batches, because flushing the output after each line is slow."""
    rest = iter(lines)
    while several := list(islice(rest, 200)):
        yield several


pass_session = click.make_pass_decorator(Session, ensure=True)


def same_home() -> str:
    """Return `Session.home_words` of the current command, or an empty text outside of commands."""
    context = click.get_current_context(silent=True)
    session = None if context is None else context.find_object(Session)
    return "" if session is None else session.home_words()


def write_json(plain: Mapping[str, Any], out: TextIO) -> None:
    """Write a JSON document to `out`, with invisible characters and those that its encoding cannot represent escaped.

    In a document with an error, keys and passwords are concealed.
    """
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

        text = json.dumps(json.loads(text), indent=2)
    echo_document(text, out)
    out.flush()
