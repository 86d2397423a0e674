"""Turns taken through lock files."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from citekit.adapters.drivers.filelock import Locks
from citekit.domain.errors import HomeUnwritable
from citekit.domain.ports.locks import patiently

STRIPES = 64
"""Lock files for each kind of name; names of one kind that share a file only wait for one another."""


class FileLocks:
    """Locks of a folder. A name is `kind` or `kind:rest`; different kinds never share a file, so they may be nested."""

    def __init__(self, folder: Path) -> None:
        self._locks = Locks(folder)

    @contextmanager
    def holding(self, name: str, waiting: Callable[[], object] = patiently) -> Iterator[None]:
        """Waits for the lock; see `Locks.holding` of the port."""
        with ExitStack() as held:
            with suppress(HomeUnwritable):  # nobody can write here, so there is nothing to take turns for
                held.enter_context(self._locks.hold(_file_name(name), waiting))
            yield


def _file_name(name: str) -> str:
    kind, colon, rest = name.partition(":")
    if not colon:
        return f"{kind}.lock"
    stripe = int.from_bytes(hashlib.sha256(rest.encode()).digest()[:4]) % STRIPES
    return f"{kind}-{stripe:02d}.lock"
