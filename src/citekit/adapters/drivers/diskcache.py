"""A small table on disk, from text to plain data, that several processes share and that may be lost at any time."""

from __future__ import annotations

import json
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from attrs import frozen

from citekit.adapters.drivers.filelock import Locks
from citekit.adapters.drivers.plain_disk import Fate, fate_of, fates, is_sound, open_cache, read_row
from citekit.domain.errors import HomeUnwritable

DATABASE = "cache.db"

PAUSE = 5.0
"""Seconds until an index that could not be opened for writing, or mended, is tried again."""

_T = TypeVar("_T")
_Identity = tuple[int, int] | None


@frozen
class _Opened:
    """The open cache, and which file it was opened on; `cache` is None where the file can only be read."""

    identity: _Identity
    cache: Any


class Index:
    """Answers that can be computed again, remembered. No method raises: what fails counts as not remembered."""

    def __init__(self, folder: Path, *, patience: float = 60.0) -> None:
        """`folder` is made at the first write; `patience` is how many seconds a write waits for another writer."""
        self._database = folder / DATABASE
        self._patience = patience
        self._opening = threading.Lock()
        self._opened: _Opened | None = None
        self._try_again = 0.0

    def get(self, key: str) -> dict[str, Any] | None:
        """What is remembered under `key`."""
        text = self._attempt(lambda cache: cache.get(key), lambda: read_row(self._database, key), create=False)
        return _object(text)

    def put(self, key: str, value: Mapping[str, Any]) -> bool:
        """Remember `value`, plain data; whether it was remembered."""
        text = json.dumps(dict(value), separators=(",", ":"))
        return bool(self._attempt(lambda cache: cache.set(key, text)))

    def forget(self, key: str) -> None:
        """Remember nothing under `key` any more."""
        self._attempt(lambda cache: cache.delete(key), create=False)

    def add(self, key: str, amount: int) -> int | None:
        """The counter `key` after `amount` was added to it, in one step for all processes; None where none can be kept."""
        total = self._attempt(lambda cache: cache.incr(key, amount, default=0))
        return total if isinstance(total, int) else None

    def reset(self, key: str, total: int) -> None:
        """Set the counter `key`."""
        self._attempt(lambda cache: cache.set(key, total))

    def keys(self, prefix: str) -> Iterator[str]:
        """The keys that begin with `prefix`; those that come or go meanwhile may be missing."""
        for key in self._attempt(lambda cache: list(cache.iterkeys()), create=False) or ():
            if isinstance(key, str) and key.startswith(prefix):
                yield key

    def close(self) -> None:
        """Close the connection of this thread; the next look opens it again."""
        opened, self._opened = self._opened, None
        if opened is not None and opened.cache is not None:
            opened.cache.close()

    def _attempt(
        self, action: Callable[[Any], _T], reading: Callable[[], _T] | None = None, *, create: bool = True
    ) -> _T | None:
        """What `action` gives; what `reading` gives where the database can only be read; None where it failed."""
        for _ in range(2):
            try:
                opened = self._current(create)
                if opened is not None and opened.cache is not None:
                    return action(opened.cache)
                return reading() if opened is not None and reading is not None else None
            except tuple(fates()) as error:
                fate = fate_of(error)
                if fate is not Fate.DAMAGED:
                    return None
                self._set_aside()
        return None

    def _current(self, create: bool) -> _Opened | None:
        """The open database; opened again where somebody deleted or replaced its file; None where there is none."""
        identity = _identity(self._database)
        opened = self._opened
        if opened is not None and opened.identity == identity is not None and self._is_settled(opened):
            return opened
        if identity is None and not create:
            return None
        with self._opening:
            self._opened = self._open()
            return self._opened

    def _is_settled(self, opened: _Opened) -> bool:
        return opened.cache is not None or time.monotonic() < self._try_again

    def _open(self) -> _Opened | None:
        if time.monotonic() >= self._try_again:
            try:
                cache = open_cache(self._database, self._patience)
                return _Opened(_identity(self._database), cache)
            except tuple(fates()) as error:
                if fate_of(error) is Fate.DAMAGED:
                    raise
                self._try_again = time.monotonic() + PAUSE
        identity = _identity(self._database)
        return _Opened(identity, None) if identity is not None else None

    def _set_aside(self) -> None:
        """Move the damaged folder away, unless another process already has."""
        self._opened = None
        folder = self._database.parent
        with suppress(OSError, HomeUnwritable), Locks(folder.parent).hold(f".{folder.name}.lock"):
            if is_sound(self._database):
                return
            aside = folder.with_name(f"{folder.name}.damaged")
            shutil.rmtree(aside, ignore_errors=True)
            folder.rename(aside)
            return
        self._try_again = time.monotonic() + PAUSE


def _identity(path: Path) -> _Identity:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _object(text: object) -> dict[str, Any] | None:
    if not isinstance(text, str):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
