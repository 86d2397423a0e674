"""The ZIP container of an EPUB (EPUB 3.3, OCF), read with every size bounded. Nothing is ever unpacked to disk."""

from __future__ import annotations

import posixpath
import zipfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from copy import copy
from pathlib import Path
from typing import BinaryIO
from urllib.parse import unquote

from attrs import frozen

from citekit.adapters.libraries.zip_entries import METHODS, is_folder, pieces, translated
from citekit.adapters.system.files import open_for_reading
from citekit.domain.errors import SourceUnsupported

ITEM_LIMIT = 64 * 1024 * 1024
"""Bytes of the largest item that is unpacked."""

TOTAL_LIMIT = 200 * 1024 * 1024
"""Bytes that are unpacked of one book in one reading."""

ENTRY_LIMIT = 50_000
"""Items in one book."""

_NO_ARCHIVE = "it is not a ZIP archive that can be opened"


@contextmanager
def opened_file(path: Path) -> Iterator[BinaryIO]:
    """The file at `path`, to read from. Raises `SourceUnreadable`."""
    with _translated(path, _NO_ARCHIVE):
        stream = open_for_reading(path)
    with stream:
        yield stream


@frozen
class Directory:
    """What a ZIP archive holds. `zip` was read from a file that may be closed by now; only its list of items is of use."""

    zip: zipfile.ZipFile
    names: tuple[str, ...]
    folded: dict[str, str]


class EpubArchive:
    """The items of one EPUB, the file `stream` at `path`, by their paths.

    `directory` is that of the same bytes, where it is known. Raises `SourceUnsupported`, `SourceUnreadable`.
    """

    def __init__(self, path: Path, stream: BinaryIO, directory: Directory | None = None) -> None:
        self._path = path
        self._left = TOTAL_LIMIT
        self.directory = directory or self._read_directory(stream)
        self.names = self.directory.names
        self._folded = self.directory.folded
        self._zip = copy(self.directory.zip)
        self._zip.fp = stream

    def _read_directory(self, stream: BinaryIO) -> Directory:
        with _translated(self._path, _NO_ARCHIVE):
            archive = zipfile.ZipFile(stream)
        names = tuple(item.filename for item in archive.infolist() if not is_folder(item))
        if len(names) > ENTRY_LIMIT:
            raise SourceUnsupported(f"{self._path.name} holds {len(names)} items; at most {ENTRY_LIMIT} are read.")
        return Directory(archive, names, {name.casefold(): name for name in reversed(names)})

    def find(self, href: str, beside: str = "") -> str | None:
        """The path of the item that `href` names, seen from the item `beside`; None where there is none.

        Fragments are ignored. An href that leads out of the archive names nothing. Where only upper and lower case
        differ, the item is found all the same, as on the file systems that many books are made on.
        """
        plain = href.partition("#")[0].strip()
        if not plain or "://" in plain or plain.startswith(("/", "data:")):
            return None
        for candidate in dict.fromkeys((plain, unquote(plain))) if "%" in plain else (plain,):
            path = posixpath.normpath(posixpath.join(posixpath.dirname(beside), candidate))
            found = self._folded.get(path.casefold())
            if found is not None:
                return path if path in self._zip.NameToInfo else found
        return None

    def size(self, name: str) -> int:
        """The size of an item in bytes as the archive declares it, which may be wrong."""
        return self._zip.getinfo(name).file_size

    def read(self, name: str) -> bytes:
        """The bytes of an item that `find` or `names` gave. Raises `SourceUnsupported` where it is damaged or too large."""
        item = self._zip.getinfo(name)
        if item.compress_type not in METHODS:
            raise SourceUnsupported(
                f"{self._path.name} cannot be read as an EPUB: its item {name!r} is compressed by method "
                f"{item.compress_type}, and OCF allows only Stored and Deflate (EPUB 3.3, 4.3.2)."
            )
        limit = min(ITEM_LIMIT, self._left)
        data = None
        if item.file_size <= limit:
            with _translated(self._path, f"its item {name!r} cannot be unpacked"):
                data = b"".join(pieces(self._zip, item, limit))
        if data is None or len(data) > limit:
            raise SourceUnsupported(
                f"{self._path.name} unpacks to more than is read: {name!r} has {item.file_size} bytes or more "
                f"(at most {ITEM_LIMIT} an item, {TOTAL_LIMIT} in all)."
            )
        self._left -= len(data)
        return data


def _translated(path: Path, what: str) -> AbstractContextManager[None]:
    return translated(f"{path.name} cannot be read as an EPUB: {what}")
