"""Reads the ZIP container of an EPUB (EPUB 3.3, OCF) with size limits. Nothing is extracted to disk."""

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
"""The maximum size in bytes of an item that is decompressed."""

TOTAL_LIMIT = 200 * 1024 * 1024
"""Maximum number of bytes that one `EpubArchive` decompresses in total."""

ENTRY_LIMIT = 50_000
"""Maximum number of items in a book."""

_NO_ARCHIVE = "it cannot be opened as a ZIP archive"


@contextmanager
def opened_file(path: Path) -> Iterator[BinaryIO]:
    """Open the file at `path` for reading, and close it at the end of the context.

    Raise `SourceUnreadable` if the file cannot be opened.
    """
    with _translated(path, "it cannot be opened"):
        stream = open_for_reading(path)
    with stream:
        yield stream


@frozen
class Directory:
    """The list of items in a ZIP archive, which can be reused after the archive is closed.

    `folded` maps each case-folded path to the path as stored.
    """

    zip: zipfile.ZipFile
    names: tuple[str, ...]
    folded: dict[str, str]


class EpubArchive:
    """The items of an EPUB by their paths in the archive. `stream` is the open file at `path`.

    `directory` is the list of items, if it is known. The constructor raises `SourceUnsupported` if the file is not a
    ZIP archive or has too many items, and `SourceUnreadable` if it cannot be read.
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
            raise SourceUnsupported(f"{self._path.name} has {len(names)} items; the limit for a book is {ENTRY_LIMIT}.")
        return Directory(archive, names, {name.casefold(): name for name in reversed(names)})

    def find(self, href: str, beside: str = "") -> str | None:
        """Return the path of the item that `href` refers to, relative to the item `beside`, or None if there is no such
        item.

        Without an exact match, letter case is ignored, because many books are made on case-insensitive file systems. An
        absolute path or a URL refers to no item.
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
        """Return the uncompressed size of an item in bytes, as declared in the archive. It may be wrong."""
        return self._zip.getinfo(name).file_size

    def read(self, name: str) -> bytes:
        """Return the bytes of the item at the path `name`.

        Raise `SourceUnsupported` if it is damaged, too large, or compressed with a method that EPUB does not allow, and
        `SourceUnreadable` if the file cannot be read.
        """
        item = self._zip.getinfo(name)
        if item.compress_type not in METHODS:
            raise SourceUnsupported(
                f"{self._path.name} cannot be read as an EPUB: its item {name!r} uses compression method "
                f"{item.compress_type}, but EPUB allows only Stored and Deflate (EPUB 3.3, 4.3.2). Convert it to EPUB again, "
                "for example with Calibre."
            )
        limit = min(ITEM_LIMIT, self._left)
        data = None
        if item.file_size <= limit:
            with _translated(self._path, f"its item {name!r} cannot be decompressed"):
                data = b"".join(pieces(self._zip, item, limit))
        if data is None or len(data) > limit:
            is_item = limit == ITEM_LIMIT or item.file_size > ITEM_LIMIT
            raise SourceUnsupported(
                f"{self._path.name} is too large: its item {name!r} decompresses to more than {ITEM_LIMIT >> 20} MB, the "
                "limit for an item."
                if is_item
                else f"{self._path.name} is too large: its items decompress to more than {TOTAL_LIMIT >> 20} MB, the limit "
                "for a book."
            )
        self._left -= len(data)
        return data


def _translated(path: Path, what: str) -> AbstractContextManager[None]:
    return translated(f"{path.name} cannot be read as an EPUB: {what}")
