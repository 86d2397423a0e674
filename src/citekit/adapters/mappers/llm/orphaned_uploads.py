"""Records uploads to remote services, so that they are deleted even if a process is killed or the network fails.

A conversation (run) writes `<run>.json` before it uploads files, and holds the lock `<run>.lock` until it ends. If the
lock is free, the files in the record are orphaned uploads, which a later conversation with the same API key deletes.
Each entry has an authentication code, so that a record from another home cannot cause a deletion.
"""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from attrs import asdict, frozen

from citekit.adapters.system.file_locks import Locks
from citekit.adapters.system.files import sweep, write_atomically
from citekit.adapters.system.home_files import check_folder, check_parent, read_file
from citekit.adapters.system.home_seal import HomeSeal
from citekit.domain.errors import HomeUnwritable

VERSION = 2
"""The version of the stored form. Version 1 had no codes, so its records are ignored."""


@frozen
class OrphanedUpload:
    """A file that may remain at a remote service.

    `name` is its name there, and `owner` is a fingerprint of the account. `until` is when it expires, as in
    `time.time()`.
    """

    service: str
    name: str
    owner: str
    until: float


class UploadRun:
    """The record of the remote files of one conversation, made by `OrphanedUploads.run`. Several threads can use it."""

    def __init__(self, folder: Path, locks: Locks, seal: HomeSeal) -> None:
        self._id = secrets.token_hex(8)
        self.folder = folder
        self._locks = locks
        self._seal = seal
        self._held, self._holding = ExitStack(), False
        self._files: dict[str, OrphanedUpload] = {}
        self._gate = threading.Lock()

    def remember(self, upload: OrphanedUpload) -> None:
        """Record a file before it is uploaded; only in memory if the CiteKit home cannot be written."""
        with self._gate, suppress(HomeUnwritable):
            self._files[upload.name] = upload
            if not self._holding:
                self._held.enter_context(self._locks.hold(f"{self._id}.lock"))
                self._holding = True
            _write(self.folder / f"{self._id}.json", list(self._files.values()), self._seal)

    def forget(self, name: str) -> None:
        """Remove the record of a file."""
        with self._gate:
            self._files.pop(name, None)
            _write_or_remove(self.folder / f"{self._id}.json", list(self._files.values()), self._seal)
            if not self._files:
                self._release()

    def names(self) -> list[str]:
        """Return the names of the files that may still be at the service."""
        names = list(self._files)  # a copy, because other threads may add names
        return sorted(names)

    def close(self) -> None:
        """Release the lock. Files that are still recorded are then orphaned uploads."""
        with self._gate:
            self._release()

    def _release(self) -> None:
        if not self._files:
            _remove(self.folder / f"{self._id}.lock")
        self._held.close()
        self._holding = False


_OPEN_RUNS: set[UploadRun] = set()
"""The runs of this process, of all `OrphanedUploads` objects."""


class OrphanedUploads:
    """The records of uploads in `folder`, of this process and others."""

    def __init__(self, folder: Path, clock: Callable[[], float] = time.time) -> None:
        self._folder, self._clock = folder, clock
        self._locks = Locks(folder)
        self._seal = HomeSeal(folder)

    @contextmanager
    def run(self) -> Iterator[UploadRun]:
        """Yield a record for the remote files of one conversation."""
        run = UploadRun(self._folder, self._locks, self._seal)
        _OPEN_RUNS.add(run)
        try:
            yield run
        finally:
            _OPEN_RUNS.discard(run)
            run.close()

    def mine(self) -> list[str]:
        """Return the names of this process's files that may still be at a service."""
        return sorted(name for run in list(_OPEN_RUNS) if run.folder == self._folder for name in run.names())

    def pending(self) -> list[OrphanedUpload]:
        """Return the recorded files of conversations that have ended, sorted by service and name, without expired ones."""
        found: list[OrphanedUpload] = []
        for path in self._run_files():
            with self._abandoned(path) as free:
                found += self._alive(path) if free else []
        return sorted(found, key=lambda upload: (upload.service, upload.name))

    def sweep(self, service: str, owner: str, delete: Callable[[str], bool]) -> int:
        """Delete the orphaned uploads of the account `owner` at `service`. Return the number of deleted files.

        `delete` deletes a file by name and returns whether it is gone.
        """
        gone = 0
        for path in self._run_files():
            with self._abandoned(path) as free:
                if free:
                    gone += self._sweep(path, service, owner, delete)
        sweep(self._folder)
        return gone

    def _sweep(self, path: Path, service: str, owner: str, delete: Callable[[str], bool]) -> int:
        before = self._alive(path)
        kept = [each for each in before if (each.service, each.owner) != (service, owner) or not delete(each.name)]
        _write_or_remove(path, kept, self._seal)
        if not kept:
            _remove(path.with_suffix(".lock"))
        return len(before) - len(kept)

    @contextmanager
    def _abandoned(self, path: Path) -> Iterator[bool]:
        with self._locks.hold_if_free(path.with_suffix(".lock").name) as free:
            yield free

    def _run_files(self) -> list[Path]:
        check_folder(self._folder)
        with suppress(OSError):
            return sorted(path for path in self._folder.iterdir() if path.suffix == ".json")
        return []

    def _alive(self, path: Path) -> list[OrphanedUpload]:
        now = self._clock()
        return [upload for upload in _read(path, self._seal) if upload.until > now]


def _read(path: Path, seal: HomeSeal) -> list[OrphanedUpload]:
    """Return the records at `path` whose authentication code is valid; [] if the file cannot be read."""
    try:
        plain = json.loads(read_file(path))
        if plain["version"] != VERSION:
            return []
        return [
            entry for each in plain["files"] if seal.holds(_code(each), *_sealed_fields(entry := _from_plain(each)))
        ]
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return []


def _from_plain(plain: dict[str, Any]) -> OrphanedUpload:
    return OrphanedUpload(str(plain["service"]), str(plain["name"]), str(plain["owner"]), float(plain["until"]))


def _code(plain: dict[str, Any]) -> bytes:
    return bytes.fromhex(plain.get("code") or "")


def _sealed_fields(entry: OrphanedUpload) -> tuple[bytes, ...]:
    facts = (entry.service, entry.name, entry.owner, repr(entry.until))
    return tuple(fact.encode("utf-8", "surrogatepass") for fact in facts)


def _write(path: Path, uploads: list[OrphanedUpload], seal: HomeSeal) -> None:
    files = [{**asdict(each), "code": seal.code(*_sealed_fields(each)).hex()} for each in uploads]
    write_atomically(path, json.dumps({"version": VERSION, "files": files}, indent=1).encode())


def _write_or_remove(path: Path, uploads: list[OrphanedUpload], seal: HomeSeal) -> None:
    if not uploads:
        _remove(path)
        return
    with suppress(HomeUnwritable):
        _write(path, uploads, seal)


def _remove(path: Path) -> None:
    check_parent(path)
    with suppress(OSError):
        path.unlink()
