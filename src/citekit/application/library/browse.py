"""Lists the files of a folder that can be ingested."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from attrs import frozen

from citekit.application.source_access import UNRESTRICTED
from citekit.domain.errors import PathNotAllowed, RequestRefused, SourceUnreadable
from citekit.domain.formats import BOOK_SUFFIXES, by_name
from citekit.domain.ports.folders import Folders
from citekit.domain.ports.library_reader import LibraryReader

MOST = 100_000
"""The number of book files after which the search of a folder stops."""

LIMIT = 10_000
"""The maximum number of files in an answer."""


def is_book(path: Path) -> bool:
    """Return whether the file name has the suffix of a book format."""
    return path.suffix.lower() in BOOK_SUFFIXES


@frozen
class LocalFile:
    """A file that can be ingested. `size` is in bytes."""

    path: Path
    size: int


@frozen
class Listing:
    """The book files in `folder`, sorted by name. `truncated` is true if there are more than `LIMIT`."""

    folder: Path
    files: Sequence[LocalFile]
    truncated: bool = False


@frozen
class Browse:
    """Lists book files without opening them."""

    reader: LibraryReader

    def __call__(
        self,
        folder: Path,
        *,
        recursive: bool = False,
        allowed: Folders = UNRESTRICTED,
    ) -> Listing:
        """Return the book files in `folder` (with `recursive`, also in subfolders), without hidden and empty files.

        Raise `RequestRefused` if `folder` is not a folder, `SourceUnreadable` if it cannot be read, or `PathNotAllowed`
        if it is not allowed.
        """
        real = allowed.check(folder)
        if real.exists() and not real.is_dir():
            raise RequestRefused(f"{folder} is not a folder. Give the path of a folder.")
        if not real.is_dir():
            raise RequestRefused(f"Directory not found: {folder}")
        if not os.access(real, os.R_OK | os.X_OK):
            raise SourceUnreadable(f"Permission denied: {folder}")
        found = sorted(
            islice(self._files(folder, real, recursive, allowed), MOST),
            key=lambda file: (file.path.name.lower(), str(file.path)),
        )
        return Listing(folder, found[:LIMIT], len(found) > LIMIT)

    def _files(self, folder: Path, real: Path, recursive: bool, allowed: Folders) -> Iterator[LocalFile]:
        """Yield the files below the real folder, with paths that begin as the caller wrote `folder`."""
        for here, folders, names in os.walk(real):
            folders[:] = [name for name in folders if recursive and not name.startswith(".")]
            for name in names:
                path = folder / Path(here, name).relative_to(real)
                if name.startswith(".") or not is_book(path) or not self._readable(name):
                    continue
                size = _size(path, allowed)
                if size:
                    yield LocalFile(path, size)

    def _readable(self, name: str) -> bool:
        format = by_name(name)
        return format is not None and self.reader.supports(format)


def _size(path: Path, allowed: Folders) -> int:
    """Return the size of a file in bytes; 0 if it is not a regular file, not accessible, or a link out of the allowed
    folders.
    """
    try:
        if path.is_symlink():
            allowed.check(path)
        return path.stat().st_size if path.is_file() else 0
    except (OSError, PathNotAllowed):
        return 0
