"""Stores the subjects of the HTTP server and the hashes of their tokens in a private file."""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import shlex
import stat
import threading
from collections.abc import Mapping, Sequence
from hmac import compare_digest
from pathlib import Path
from typing import Any

from citekit.adapters.system.files import write_atomically
from citekit.adapters.system.home_files import make_folder
from citekit.adapters.system.home_seal import HomeSeal
from citekit.domain.errors import RequestRefused
from citekit.domain.ports.locks import Locks
from citekit.domain.subject import SCOPES, Subject, TokenEntry

PREFIX = "citekit_"
"""The beginning of every token, so that secret scanners can recognize it."""

ANY = "*"
"""The name that represents all subjects of the issuer that have no entry."""

_SIZE_LIMIT = 4 * 2**20
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}", re.ASCII)


class TokenFile:
    """The subjects in the file `path`. Changes to the file take effect at the next call. Thread-safe.

    With a `seal`, only entries that were added in this home count, because an archive or a clone can contain a token
    file. All methods raise `RequestRefused` if the file cannot be read, is not a regular file, is damaged or larger than
    `_SIZE_LIMIT`, is accessible to other users, belongs to a user other than this one and root, or fails `check_separate`.
    """

    def __init__(self, path: Path, locks: Locks, *, seal: HomeSeal | None = None) -> None:
        self.path, self._locks, self._seal = path, locks, seal
        self._seen: tuple[object, Sequence[TokenEntry], Sequence[TokenEntry]] | None = None
        self._lock = threading.Lock()

    def entries(self) -> Sequence[TokenEntry]:
        """See `Subjects.entries`. With a seal, only the entries that were added in this home are returned."""
        return self._current()[0]

    def strangers(self) -> Sequence[str]:
        """See `Subjects.strangers`."""
        return [each.subject.name for each in self._current()[1]]

    def _current(self) -> tuple[Sequence[TokenEntry], Sequence[TokenEntry]]:
        """Return the entries that were added in this home (without a seal, all entries), and the others."""
        with self._lock:
            state = _state(self.path), None if self._seal is None else self._seal.state()
            if self._seen is None or self._seen[0] != state:
                self._seen = state, *self._read()
            return self._seen[1], self._seen[2]

    def with_token(self, token: str) -> Subject | None:
        """See `Subjects.with_token`."""
        digest = _digest(token)
        found = [each.subject for each in self.entries() if each.digest and compare_digest(each.digest, digest)]
        return found[0] if found else None

    def issued_to(self, issued: str) -> Subject | None:
        """See `Subjects.issued_to`. The subject for all other names has the name `ANY`."""
        by_name = {each.issued: each.subject for each in self.entries() if each.issued is not None}
        return by_name.get(issued) or by_name.get(ANY)

    def named(self, name: str) -> Subject | None:
        """See `Subjects.named`."""
        return next((each.subject for each in self.entries() if each.subject.name == name), None)

    def add(self, subject: Subject, issued: str | None = None) -> str | None:
        """See `Subjects.add`. The home of the subject is also created.

        Raise `RequestRefused` if the name is malformed, the name or `issued` is taken, or `check_separate` fails, and
        the errors of `make_folder`.
        """
        if _NAME.fullmatch(subject.name) is None:
            raise RequestRefused(
                f"{subject.name!r} is not a valid name for a subject. Begin with an ASCII letter or a digit, and use only "
                "ASCII letters, digits, and . _ @ - (at most 64 characters)."
            )
        token = None if issued is not None else PREFIX + secrets.token_urlsafe(32)
        with self._locks.holding("tokens"):
            known, others = self._current()
            if any(each.subject.name == subject.name for each in known):
                raise RequestRefused(
                    f"The subject {subject.name!r} already exists. Revoke it first, or use another name."
                )
            taken = next((each.subject.name for each in known if issued is not None and each.issued == issued), None)
            if taken is not None:
                raise RequestRefused(
                    f"The issuer's subject {issued!r} already has an entry, {taken!r}. Revoke it first."
                )
            entries = [*known, TokenEntry(subject, None if token is None else _digest(token), issued)]
            check_separate([each.subject for each in entries])
            make_folder(subject.home, 0o700)
            self._write(entries, [each for each in others if each.subject.name != subject.name])
        return token

    def revoke(self, name: str) -> None:
        """See `Subjects.revoke`. The home of the subject is not deleted."""
        with self._locks.holding("tokens"):
            known, others = self._current()
            left, left_others = ([each for each in some if each.subject.name != name] for some in (known, others))
            if len(left) + len(left_others) == len(known) + len(others):
                names = ", ".join(each.subject.name for each in (*known, *others)) or "none"
                raise RequestRefused(f"There is no subject {name!r}. Subjects: {names}.")
            self._write(left, left_others)

    def _write(self, entries: Sequence[TokenEntry], others: Sequence[TokenEntry]) -> None:
        """Write the valid `entries` with authentication codes (if there is a seal), and the `others` without codes."""
        sealed = [{**_plain(each), "code": self._code(each)} for each in entries]
        text = json.dumps({"version": 1, "subjects": [*sealed, *map(_plain, others)]}, indent=1)
        write_atomically(self.path, text.encode() + b"\n", mode=0o600)

    def _code(self, entry: TokenEntry) -> str | None:
        return None if self._seal is None else self._seal.code(*_parts(entry)).hex()

    def _counts(self, entry: TokenEntry, code: object) -> bool:
        return self._seal is None or self._seal.holds(_bytes(code), *_parts(entry))

    def _read(self) -> tuple[Sequence[TokenEntry], Sequence[TokenEntry]]:
        try:
            descriptor = os.open(self.path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
        except FileNotFoundError:
            return [], []
        except OSError as error:
            raise RequestRefused(f"The token file {self.path} cannot be read: {error.strerror}.") from error
        with os.fdopen(descriptor, "rb") as file:
            _check_private(self.path, os.fstat(descriptor))
            data = file.read(_SIZE_LIMIT + 1)
        if len(data) > _SIZE_LIMIT:
            raise RequestRefused(
                f"The token file {self.path} is larger than the limit of {_SIZE_LIMIT >> 20} MB. Use another file, or remove "
                "entries from this one by hand."
            )
        try:
            plain = json.loads(data)
            read = [(_entry(each), each.get("code")) for each in plain["subjects"]]
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            is_told = isinstance(error, ValueError)
            reason = (
                f"{error} is missing" if isinstance(error, KeyError) else error if is_told else "unexpected structure"
            )
            raise RequestRefused(
                f"The token file {self.path} is damaged ({reason}). Restore it, or delete it and add the tokens again."
            ) from error
        entries = [entry for entry, code in read if self._counts(entry, code)]
        check_separate([each.subject for each in entries])
        return entries, [entry for entry, code in read if not self._counts(entry, code)]


def check_separate(subjects: Sequence[Subject]) -> None:
    """Raise `RequestRefused` if the home, the store, or a root of a subject overlaps the home or the store of another.

    Two folders overlap if they are equal, or if one is inside the other and no part of the path between them starts
    with a dot. A home or a store that both subjects have is allowed.
    """
    own = {each.name: [Path(os.path.realpath(folder)) for folder in _private_folders(each)] for each in subjects}
    for subject in subjects:
        for folder in (*own[subject.name], *(Path(os.path.realpath(root)) for root in subject.roots)):
            for other, held in ((name, held) for name, folders in own.items() for held in folders):
                if held not in own[subject.name] and (_shows(folder, held) or _shows(held, folder)):
                    raise RequestRefused(
                        f"The folder {folder} of {subject.name} and the home or store of {other}, {held}, overlap, so "
                        "one subject could read files of the other. Give them separate folders, or the same home or store."
                    )


def _private_folders(subject: Subject) -> Sequence[Path]:
    """Return the home of a subject, and its store if that is a folder."""
    is_folder = subject.store is not None and "://" not in subject.store
    return (subject.home, Path(subject.store)) if is_folder and subject.store is not None else (subject.home,)


def _shows(folder: Path, inner: Path) -> bool:
    """Return whether `inner` is `folder`, or is below it and no part of the path between them is hidden."""
    return inner.is_relative_to(folder) and not any(part.startswith(".") for part in inner.relative_to(folder).parts)


def _check_private(path: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise RequestRefused(f"The token file {path} is not a regular file. Remove it, and add the tokens again.")
    if os.name == "posix" and status.st_uid not in (os.geteuid(), 0):
        raise RequestRefused(f"The token file {path} belongs to another user. Use a file that you own.")
    if os.name == "posix" and status.st_mode & 0o077:
        raise RequestRefused(
            f"Other users have permissions for the token file {path}. Run: chmod 600 {shlex.quote(str(path))}"
        )


def _state(path: Path) -> object:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_mode


def _digest(token: str) -> str:
    """Return the SHA-256 of a token. Tokens are 256 random bits, so a slow hash would add no protection."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def _parts(entry: TokenEntry) -> tuple[bytes, bytes]:
    return b"token", json.dumps(_plain(entry), sort_keys=True).encode()


def _bytes(code: object) -> bytes:
    try:
        return bytes.fromhex(code) if isinstance(code, str) else b""
    except ValueError:
        return b""


def _plain(entry: TokenEntry) -> Mapping[str, Any]:
    subject = entry.subject
    return {
        "name": subject.name,
        "home": str(subject.home),
        "roots": list(map(str, subject.roots)),
        "scopes": sorted(subject.scopes),
        "expires": subject.expires,
        "sha256": entry.digest,
        "issued": entry.issued,
        **({} if subject.store is None else {"store": subject.store}),
    }


def _entry(plain: Mapping[str, Any]) -> TokenEntry:
    """Return an entry from plain data. Raise `ValueError`, `KeyError`, or `TypeError` if the data is not valid."""
    expires, digest, issued = plain["expires"], plain["sha256"], plain["issued"]
    scopes = frozenset(plain["scopes"])
    subject = Subject(
        name=str(plain["name"]),
        home=Path(plain["home"]),
        roots=tuple(Path(root) for root in plain["roots"]),
        scopes=scopes,
        expires=None if expires is None else float(expires),
        store=None if plain.get("store") is None else str(plain["store"]),
    )
    folders = (*_private_folders(subject), *subject.roots)
    if not scopes.issubset(SCOPES) or not all(map(Path.is_absolute, folders)):
        raise ValueError(f"the entry of {subject.name} has an unknown scope or a relative path")
    if _NAME.fullmatch(subject.name) is None or (digest is None) == (issued is None):
        raise ValueError(
            f"the entry of {subject.name} has a malformed name, or does not have exactly one of sha256 and issued"
        )
    return TokenEntry(subject, None if digest is None else str(digest), None if issued is None else str(issued))
