"""Writes ZIP archives whose bytes depend only on their contents."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from attrs import frozen

from citekit.adapters.system.files import writing

_EPOCH = (1980, 1, 1, 0, 0, 0)
_PACKED = (".png", ".jpg", ".jpeg", ".gif", ".mp4", ".m4v", ".mov", ".mp3", ".m4a", ".wmv", ".zip", ".docx", ".xlsx")
"""Suffixes of content that is already compressed."""


@frozen
class StillArchive:
    """A ZIP archive under construction. Every entry gets the ZIP epoch (1980-01-01) as its modification time."""

    zip: zipfile.ZipFile

    def add(self, name: str, pieces: Iterable[bytes]) -> None:
        """Add an entry named `name` whose content is the concatenation of `pieces`."""
        item = zipfile.ZipInfo(name, _EPOCH)
        item.create_system = 3
        item.external_attr = 0o600 << 16
        item.compress_type = zipfile.ZIP_STORED if name.lower().endswith(_PACKED) else zipfile.ZIP_DEFLATED
        with self.zip.open(item, "w", force_zip64=False) as out:
            for piece in pieces:
                out.write(piece)


@contextmanager
def still_archive(target: Path) -> Iterator[StillArchive]:
    """Create a ZIP archive at `target` and yield it for adding entries.

    Raise `HomeUnwritable` if it cannot be written.
    """
    with writing(target), target.open("xb") as out, zipfile.ZipFile(out, "w", compresslevel=6) as archive:
        yield StillArchive(archive)
