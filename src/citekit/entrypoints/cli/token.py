"""Implements the commands of `citekit token`."""

from __future__ import annotations

import os
import re
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from citekit.domain.errors import RequestRefused
from citekit.domain.subject import SCOPES, Subject
from citekit.domain.unicode_controls import printable
from citekit.entrypoints.cli.command import FOLDER, Command
from citekit.entrypoints.cli.session import Session, pass_session

if TYPE_CHECKING:
    from citekit.domain.ports.access import Subjects

_FILE = click.option(
    "--token-file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="The token file (default: .citekit_tokens.json in the home).",
)
_UNITS = {"h": 3600, "d": 86_400, "w": 604_800}


@click.group("token")
def command() -> None:
    """Manage the tokens of the HTTP server.

    A token admits a subject to `citekit serve --http`, with its own home. Only hashes of tokens are stored.
    """


@command.command("add", cls=Command)
@click.argument("name")
@click.option("--scope", type=click.Choice(SCOPES), default="read", show_default=True, help="What the subject may do.")
@click.option(
    "--subject-home",
    metavar="DIR",
    help="The home of the subject (default: .citekit_subjects/NAME in the home). Subjects with the same home share it.",
)
@click.option(
    "--store",
    metavar="URL",
    help="The shared store with the maps, texts, and evidence of the subject, like CITEKIT_STORE (default: its home).",
)
@click.option(
    "--root",
    "roots",
    multiple=True,
    type=FOLDER,
    metavar="DIR",
    help="A folder that the subject may read. Can be repeated.",
)
@click.option(
    "--expires",
    metavar="TIME",
    default="90d",
    show_default=True,
    help="When the access ends: after a time such as 12h, 90d, or 8w, on a date, or never.",
)
@click.option(
    "--subject",
    "issued",
    metavar="TEXT",
    help="Create no token. Instead, admit the subject to which the issuer gives this name in its tokens (the claim sub). '*' "
    "admits all subjects of the issuer that have no entry of their own.",
)
@_FILE
@pass_session
def add(
    session: Session,
    name: str,
    scope: str,
    subject_home: str | None,
    store: str | None,
    roots: tuple[str, ...],
    expires: str,
    issued: str | None,
    token_file: Path | None,
) -> None:
    """Add a subject and print its token.

    The token is printed once. Scopes: read permits using maps and evidence, ingest also permits mapping files, and admin
    includes both.
    """
    from citekit.container.http_access import SUBJECTS
    from citekit.settings.chosen import checked_store

    settings = session.app.settings
    home = settings.home / SUBJECTS / name if subject_home is None else Path(subject_home)
    until = _end_of(expires)
    subject = Subject(
        name=name,
        home=_absolute(home),
        roots=tuple(_absolute(Path(root)) for root in roots),
        scopes=frozenset({scope}),
        expires=until,
        store=None if store is None else checked_store(store, "--store"),
    )
    token = _subjects(session, token_file).add(subject, issued)
    plain = {
        "name": name,
        "home": str(subject.home),
        "store": subject.store,
        "scope": scope,
        "expires": _time(until),
        "token": token,
    }
    session.answer(plain, [_admitted(name, issued) if token is None else token])
    session.note(f"The subject {name} has the home {subject.home}; {_expiry(until)}.")


def _admitted(name: str, issued: str | None) -> str:
    if issued == "*":
        return f"All other subjects of the issuer are admitted as {name}."
    return f"{name} is the issuer's subject {issued}."


@command.command("list", cls=Command)
@_FILE
@pass_session
def listing(session: Session, token_file: Path | None) -> None:
    """List the subjects, without their tokens."""
    subjects = _subjects(session, token_file)
    entries = subjects.entries()
    note_strangers(session, subjects, token_file)
    plain = [
        {
            "name": each.subject.name,
            "home": str(each.subject.home),
            "roots": list(map(str, each.subject.roots)),
            "scopes": sorted(each.subject.scopes),
            "expires": _time(each.subject.expires),
            "store": each.subject.store,
            "subject": each.issued,
        }
        for each in entries
    ]
    lines = [
        f"{each.subject.name}  {', '.join(sorted(each.subject.scopes))}  {_expiry(each.subject.expires)}  {each.subject.home}"
        for each in entries
    ]
    none = f"There are no subjects. To add one, run: citekit token add NAME{_options(session, token_file)}"
    session.answer({"subjects": plain}, lines or [none])


@command.command("revoke", cls=Command)
@click.argument("name")
@_FILE
@pass_session
def revoke(session: Session, name: str, token_file: Path | None) -> None:
    """Remove a subject. Running servers no longer accept its token. Its home is not deleted."""
    _subjects(session, token_file).revoke(name)
    session.answer({"revoked": name}, [f"The subject {name} was removed. Its home was not deleted."])


def note_strangers(session: Session, subjects: Subjects, token_file: Path | None) -> None:
    """Print a note that names the subjects that are refused because they were not added in this home, or were changed."""
    names = subjects.strangers()
    if names:
        session.note(
            "These subjects are not admitted, because they were not added in this home, or were changed in the file: "
            f"{', '.join(map(printable, names))}. Add them again, or revoke them "
            f"(citekit token revoke NAME{_options(session, token_file)})."
        )


def _options(session: Session, token_file: Path | None) -> str:
    from citekit.entrypoints.http.options import options_for_tokens

    return options_for_tokens(session.app.settings.home, token_file)


def _subjects(session: Session, token_file: Path | None) -> Subjects:
    from citekit.container.http_access import subjects_of

    return subjects_of(session.app, None if token_file is None else _absolute(token_file))


def _absolute(path: Path) -> Path:
    return Path(os.path.abspath(path.expanduser()))  # noqa: PTH100 - resolve() would follow links


def _end_of(text: str) -> float | None:
    """Return the time at which a token expires, in seconds since the epoch, or None for `never`.

    Raise `RequestRefused` if `text` is not a duration, a date, or a time, or is in the past.
    """
    if text == "never":
        return None
    found = re.fullmatch(r"([0-9]{1,5})([hdw])", text, re.ASCII)
    if found is not None:
        return time.time() + int(found[1]) * _UNITS[found[2]]
    try:
        given = datetime.fromisoformat(text)
    except ValueError:
        raise RequestRefused(
            f"--expires {text!r} is not a time. Use a duration such as 12h, 90d, or 8w, a date such as 2027-01-31, or never."
        ) from None
    end = (given if given.tzinfo else given.replace(tzinfo=UTC)).timestamp()
    if end <= time.time():
        raise RequestRefused(f"--expires {text} is in the past.")
    return end


def _time(end: float | None) -> str | None:
    return None if end is None else datetime.fromtimestamp(end, UTC).isoformat(timespec="seconds")


def _expiry(end: float | None) -> str:
    if end is None:
        return "its access never expires"
    return f"its access {'expires' if end > time.time() else 'expired'} at {_time(end)}"
