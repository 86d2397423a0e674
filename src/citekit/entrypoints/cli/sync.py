"""Implements the command `citekit sync`."""

from __future__ import annotations

import errno
import os
import shlex
import stat
import time
import tomllib
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import click

from citekit.application.sync_folders import Synced, SyncRules, SyncState
from citekit.domain.errors import RequestRefused
from citekit.domain.phrases import counted
from citekit.domain.ports.remote_files import is_remote
from citekit.domain.unicode_controls import printable
from citekit.entrypoints.cli.command import Command
from citekit.entrypoints.cli.errors import CommandError, message_of, plain_error
from citekit.entrypoints.cli.progress import watching
from citekit.entrypoints.cli.session import Session, pass_session

FILE_NAME = "citekit.toml"
RULES_LIMIT = 2**20
"""The maximum size of `citekit.toml` in bytes."""

_KEYS = ("folders", "include", "exclude")
_IRREGULAR = "it is not a regular file"
_TOO_LARGE = f"it is larger than {RULES_LIMIT // 2**20} MB"
_BAD = (SyncState.FAILED, SyncState.WAITING)


@click.command("sync", cls=Command)
@click.argument("folders", nargs=-1, metavar="[FOLDER]...")
@click.option(
    "--include",
    multiple=True,
    metavar="PATTERN",
    help="Map only files that match this pattern, such as '*.pdf'. Can be repeated.",
)
@click.option(
    "--exclude",
    multiple=True,
    metavar="PATTERN",
    help="Skip files and folders that match this pattern. Can be repeated.",
)
@click.option("--prune", is_flag=True, help="Delete the maps of files that are gone.")
@click.option("--watch", is_flag=True, help="Keep running until Ctrl-C, and map files when they change.")
@click.option(
    "--interval",
    type=click.FloatRange(0.2),
    default=5.0,
    show_default=True,
    metavar="SECONDS",
    help="With --watch: the time between two checks.",
)
@pass_session
def command(
    session: Session,
    folders: tuple[str, ...],
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    prune: bool,
    watch: bool,
    interval: float,
) -> None:
    """Keep the maps of folders up to date, once or continuously.

    Maps files that are new or have changed. A file that was moved or renamed keeps its ID. Files that are gone are
    listed; their maps are deleted only with --prune. Hidden files and symbolic links are left out, and a file that is
    still being written is skipped until the next run (exit code 1). Without FOLDER, the folders are those under the key
    'folders' in the section [sync] of citekit.toml in the home. The patterns under its keys 'include' and 'exclude'
    always apply.

    FOLDER can also be the URL of files in a bucket (s3://BUCKET/PREFIX, gs://..., az://...). Then only files whose
    version (ETag) has changed are fetched.
    """
    rules = _rules(session.app.settings.home / FILE_NAME)
    inside = [_checked(session, each) for each in rules["folders"]] if not folders else []
    urls = [each for each in folders if is_remote(each)]
    if urls and len(urls) < len(folders):
        raise click.UsageError("Sync folders and buckets with separate commands.")
    chosen = [Path(each) for each in folders] or inside
    if not chosen:
        raise click.UsageError(
            f"Name a folder, or list folders under the key 'folders' in the section [sync] of "
            f"{session.app.settings.home / FILE_NAME}."
        )
    patterns = SyncRules((*rules["include"], *include), (*rules["exclude"], *exclude))
    if watch and session.as_json:
        raise click.UsageError("--watch does not end, so it cannot be combined with --json.")
    session.note_personal_home()
    found = _pass(session, urls or chosen, patterns, prune=prune)
    if not watch:
        _finish(session, found)
        return
    session.say([_summary(found), "Watching for changes. Press Ctrl-C to stop."])
    seen = {(each.path, each.state) for each in found}
    while True:
        time.sleep(interval)
        found = _pass(session, urls or chosen, patterns, prune=prune, known=seen)
        seen = {(each.path, each.state) for each in found}


def _pass(
    session: Session,
    places: Sequence[Path] | Sequence[str],
    rules: SyncRules,
    *,
    prune: bool,
    known: set[tuple[Path, SyncState]] | None = None,
) -> list[Synced]:
    """Sync once, print a line for each file whose state is neither unchanged nor `known`, and return all results."""
    done: list[Synced] = []
    app = session.app
    with watching(session, "Syncing") as bar:
        folders, urls = [p for p in places if isinstance(p, Path)], [p for p in places if isinstance(p, str)]
        sync = partial(app.sync_buckets, urls) if urls else partial(app.sync, folders)
        for each in sync(rules, prune=prune, concurrency=app.files_at_once, progress=bar.check):
            done.append(each)
            is_known = known is not None and (each.path, each.state) in known
            if each.state is not SyncState.UNCHANGED and not is_known:
                with bar.aside():
                    session.say([_line(each)])
            bar(len(done), None, printable(each.path.name))
    return done


def _line(found: Synced) -> str:
    name = "" if found.resource_id is None else f"  ({printable(found.resource_id)})"
    why = "" if found.error is None else f": {printable(message_of(found.error))}"
    return f"{found.state.value:13} {printable(str(found.path))}{name}{why}"


def _summary(found: Sequence[Synced]) -> str:
    counts = Counter(each.state for each in found)
    files = sum(counts.values()) - counts[SyncState.GONE] - counts[SyncState.REMOVED]
    facts = ", ".join(f"{counts[state]} {state.value}" for state in SyncState if counts[state])
    return f"{counted(files, 'file')}{': ' if facts else ''}{facts}."


def _finish(session: Session, found: Sequence[Synced]) -> None:
    plain: dict[str, object] = {"files": [_plain(each) for each in found if each.state is not SyncState.UNCHANGED]}
    plain |= {"counts": {state.value: count for state, count in Counter(each.state for each in found).items()}}
    if any(each.state is SyncState.GONE for each in found):
        session.note("The maps of files that are gone are kept. To delete them, add --prune.")
    bad = [each for each in found if each.state in _BAD]
    if not bad:
        session.answer(plain, [_summary(found)])
        return
    session.say([_summary(found)])
    message = f"{counted(len(bad), 'file')} could not be synced. When the causes are gone, run the command again."
    raise CommandError("SomeFailed", message, plain)


def _plain(found: Synced) -> dict[str, object]:
    error = {} if found.error is None else {"error": plain_error(found.error, message_of(found.error))}
    return {"path": str(found.path), "state": found.state.value, "resource_id": found.resource_id, **error}


def _read(path: Path) -> bytes:
    """Return the bytes of a file in a home.

    Raise `OSError` if it cannot be read, is larger than `RULES_LIMIT`, or, because the home may be from elsewhere, is a
    link or a pipe.
    """
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(_IRREGULAR)
        data = file.read(RULES_LIMIT + 1)
        if len(data) > RULES_LIMIT:
            raise OSError(_TOO_LARGE)
        return data


def _rules(path: Path) -> dict[str, list[str]]:
    """Return the lists of the section `sync` in the file at `path`, or empty lists without a file.

    Raise `RequestRefused` if the file cannot be read or the section has other keys or values.
    """
    try:
        text = _read(path).decode()
        section = tomllib.loads(text).get("sync", {})
    except FileNotFoundError:
        section = {}
    except OSError as error:
        reason = _IRREGULAR if error.errno == errno.ELOOP else error.strerror or error
        raise RequestRefused(f"{path} cannot be read: {reason}.") from error
    except (ValueError, RecursionError) as error:
        raise RequestRefused(f"{path} is not valid TOML in UTF-8: {error}. Correct it.") from error
    if not isinstance(section, dict) or set(section) - set(_KEYS):
        raise RequestRefused(
            f"In {path}, sync must be a section with no keys other than folders, include, and exclude."
        )
    for key, value in section.items():
        if not isinstance(value, list) or not all(isinstance(each, str) and each for each in value):
            raise RequestRefused(f"The key {key} in the section [sync] of {path} must be a list of non-empty strings.")
    return {key: section.get(key, []) for key in _KEYS}


def _checked(session: Session, name: str) -> Path:
    """Return the path of the folder `name` from `citekit.toml`, relative to the home.

    Raise `RequestRefused` if it is outside the home and CITEKIT_ROOTS, because the home may be from elsewhere.
    """
    settings = session.app.settings
    folder = (settings.home / name).resolve()
    if not any(folder.is_relative_to(root.resolve()) for root in (settings.home, *settings.roots)):
        raise RequestRefused(
            f"{FILE_NAME} names {folder}, which is neither in the home nor in CITEKIT_ROOTS. To sync it, run: citekit sync "
            f"{shlex.quote(str(folder))}{session.home_words()}"
        )
    return folder
