"""Reads keys and passwords, and removes them from output.

A secret is the value of a variable, or the content of the file that the variable with the suffix `_FILE` names. Like
SSH, CiteKit rejects a file that other users can access.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping

from citekit.domain.errors import RequestRefused

SUFFIX = "_FILE"
IN_FILES = (
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "OPENAI_API_KEY",
    "QDRANT_API_KEY",
    "CITEKIT_PASSWORD",
    "CITEKIT_LINK_KEY",
    "CITEKIT_RERANKER_KEY",
)
"""The variables that have a variant with `_FILE`."""

FILE_LIMIT = 16_384
"""The maximum size of a secret file in bytes."""

SHORTEST = 6
"""The minimum number of characters of a secret that is removed from output. A shorter one can be part of a word."""

HIDDEN = "(secret)"

_known: set[str] = set()


def read_secret(environment: Mapping[str, str], name: str) -> str | None:
    """Return the secret in the variable `name` or in the file that `{name}_FILE` names, or None if neither is set.

    Raise `RequestRefused` if both are set, or if the file cannot be read, is not a regular file with one line of text,
    is too large, is accessible to other users, or belongs to another user (except root).
    """
    value, path = environment.get(name) or None, environment.get(name + SUFFIX) or None
    if value is not None and path is not None:
        raise RequestRefused(f"{name} and {name}{SUFFIX} are both set. Unset one of them.")
    return value if path is None else _in_file(name + SUFFIX, path)


def remember(*secrets: str | None) -> None:
    """Register secrets of at least `SHORTEST` characters for `concealed`."""
    _known.update(each for each in secrets if each is not None and len(each) >= SHORTEST)


def remember_address(url: str | None) -> None:
    """Register the password in a URL, or else the user name, as a secret."""
    if url is not None and "@" in url:
        from urllib.parse import unquote

        user, _, password = url.rpartition("@")[0].rpartition("//")[2].partition(":")
        remember(*(each for part in (user if not password else "", password) for each in (part, unquote(part))))


def concealed(text: str) -> str:
    """Return `text` with every registered secret replaced by a placeholder."""
    for secret in _known:
        if secret in text:
            text = text.replace(secret, HIDDEN)
    return text


def concealed_in_json(text: str) -> str:
    """Return a JSON document with registered secrets, even escaped ones, replaced by a placeholder."""
    import json

    for secret in _known:
        for written in {json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}:
            text = text.replace(written, HIDDEN)
    return text


def without_user(url: str | None) -> str | None:
    """Return a URL without its user name and password. None stays None."""
    scheme, slashes, rest = (url or "").rpartition("://")
    authority, slash, path = rest.partition("/")
    return url and f"{scheme}{slashes}{authority.rpartition('@')[2]}{slash}{path}"


def _in_file(variable: str, path: str) -> str:
    data = _read(variable, os.path.expanduser(path))  # noqa: PTH111 - importing pathlib would slow the start
    try:
        secret = data.decode().strip("\r\n")
    except UnicodeDecodeError:
        secret = ""
    if not secret.strip() or len(data) > FILE_LIMIT or not secret.isprintable():
        raise RequestRefused(
            f"{variable}: the file {path} must contain exactly one line of text, of at most {FILE_LIMIT:,} bytes."
        )
    return secret


def _read(variable: str, path: str) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
        with os.fdopen(descriptor, "rb") as file:
            _check(variable, path, os.fstat(descriptor))
            return file.read(FILE_LIMIT + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a valid path"
        raise RequestRefused(f"{variable}: cannot read the file {path}: {reason}.") from error


def _check(variable: str, path: str, state: os.stat_result) -> None:
    """Raise `RequestRefused` if the opened file is not a regular file, or if another user (except root) can access or
    owns it.
    """
    if not stat.S_ISREG(state.st_mode):
        raise RequestRefused(f"{variable}: {path} is not a regular file.")
    if os.name != "posix":
        return
    if state.st_uid not in (os.geteuid(), 0):
        raise RequestRefused(f"{variable}: the file {path} belongs to another user. Use a file that you own.")
    if state.st_mode & 0o077:
        from shlex import quote

        raise RequestRefused(f"{variable}: other users can access the file {path}. Run: chmod 600 {quote(path)}")
