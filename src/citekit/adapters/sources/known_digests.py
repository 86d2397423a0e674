"""How the index says what the digest of a file is. Imports next to nothing: listings of maps must start fast.

What is not known here, `FileSources` tells by reading the file.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from citekit.adapters.libraries.sqlite.key_value_cache import Index
from citekit.adapters.system.file_state import FileState

if TYPE_CHECKING:
    import os

PATIENCE = 0.2
"""Seconds that one look waits for a program that holds the index."""

_HEXADECIMAL = re.compile("[0-9a-f]{64}")


def row_of(state: FileState) -> str:
    """The name under which the digest of a file in that state is remembered."""
    return f"state:{state}"


def digest_in(row: object) -> str | None:
    """The SHA-256, hexadecimal, that a row says; None where it says none."""
    match row:
        case {"sha256": str(text)} if _HEXADECIMAL.fullmatch(text):
            return text
    return None


class KnownDigests:
    """The digests in the index in `folder`. No method raises: what fails counts as not known."""

    def __init__(self, folder: str) -> None:
        """Nothing is made there."""
        self._index = Index(folder, patience=PATIENCE)

    def get(self, status: os.stat_result) -> str | None:
        """The SHA-256, hexadecimal, of a file that looks like that; None where it is not known."""
        return digest_in(self._index.get(row_of(FileState.of(status))))

    def close(self) -> None:
        """Close the index."""
        self._index.close()
