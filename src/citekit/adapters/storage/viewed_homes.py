"""Stores which homes a user has viewed, so that one server can show all of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from attrs import frozen

from citekit.adapters.system.files import write_atomically
from citekit.adapters.system.home_files import read_file
from citekit.domain.errors import HomeUnsafe
from citekit.domain.ports.locks import Locks

LIMIT = 200
"""The maximum number of homes that are remembered."""

_SIZE_LIMIT = 2**20


@frozen
class ViewedHomes:
    """The homes in the user's file `path`, the most recently viewed first."""

    path: Path
    locks: Locks

    def __call__(self) -> Sequence[Path]:
        """Return the absolute paths of the homes. If the file is missing, damaged, or a link, there are none."""
        try:
            listed = json.loads(read_file(self.path, _SIZE_LIMIT))
        except (OSError, ValueError, RecursionError, HomeUnsafe):
            return []
        texts = [each for each in listed if isinstance(each, str)] if isinstance(listed, list) else []
        return [home for home in map(Path, texts) if home.is_absolute()]

    def add(self, home: Path) -> None:
        """Record `home` as the most recently viewed home. Raise `HomeUnwritable` if the file cannot be written."""
        with self.locks.holding("homes"):
            known = [each for each in self() if each != home]
            data = json.dumps([str(each) for each in (home, *known)][:LIMIT]).encode()
            write_atomically(self.path, data, mode=0o600)
