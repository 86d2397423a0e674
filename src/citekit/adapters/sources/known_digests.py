"""Reads cached digests from the index. Imports almost nothing, because listings of maps must start quickly."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from citekit.adapters.libraries.sqlite.key_value_cache import Index
from citekit.adapters.system.file_state import FileState

if TYPE_CHECKING:
    import os

PATIENCE = 0.2
"""Seconds to wait for a process that has locked the index."""

_HEXADECIMAL = re.compile("[0-9a-f]{64}")


def row_of(state: FileState) -> str:
    """Return the key of the digest of a file in that state."""
    return f"state:{state}"


def digest_in(row: object) -> str | None:
    """Return the hexadecimal SHA-256 in a row, or None if there is none."""
    match row:
        case {"sha256": str(text)} if _HEXADECIMAL.fullmatch(text):
            return text
    return None


class KnownDigests:
    """The digests in the index in `folder`. A failure counts as a cache miss."""

    def __init__(self, folder: str) -> None:
        """Nothing is created in `folder`."""
        self._index = Index(folder, patience=PATIENCE)

    def get(self, status: os.stat_result) -> str | None:
        """Return the hexadecimal SHA-256 of a file with that status, or None if it is not cached."""
        return digest_in(self._index.get(row_of(FileState.of(status))))

    def close(self) -> None:
        """Close the index."""
        self._index.close()
