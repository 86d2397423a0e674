"""The ZIP container of an EPUB (EPUB 3.3, OCF), read with every size bounded. Nothing is ever unpacked to disk."""

from __future__ import annotations

import lzma
import posixpath
import zipfile
import zlib
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import unquote

from citekit.domain.errors import CiteKitError, SourceUnreadable, SourceUnsupported

ITEM_LIMIT = 64 * 1024 * 1024
"""Bytes of the largest item that is unpacked."""

TOTAL_LIMIT = 200 * 1024 * 1024
"""Bytes that are unpacked of one book in one reading."""

ENTRY_LIMIT = 50_000
"""Items in one book."""

ERRORS: dict[type[Exception], type[CiteKitError]] = {
    zipfile.BadZipFile: SourceUnsupported,
    zipfile.LargeZipFile: SourceUnsupported,
    zlib.error: SourceUnsupported,
    lzma.LZMAError: SourceUnsupported,
    NotImplementedError: SourceUnsupported,
    RuntimeError: SourceUnsupported,
    EOFError: SourceUnsupported,
    ValueError: SourceUnsupported,
    OverflowError: SourceUnsupported,
    OSError: SourceUnreadable,
}
"""From the exceptions of zipfile and its decompressors to ours; subclasses included."""


class EpubArchive:
    """The items of one EPUB by their paths; a context manager. Raises `SourceUnsupported`, `SourceUnreadable`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._left = TOTAL_LIMIT
        try:
            self._zip = zipfile.ZipFile(path)
        except tuple(ERRORS) as error:
            raise self._translated(error, "it is not a ZIP archive that can be opened") from error
        self.names = tuple(item.filename for item in self._zip.infolist() if not item.is_dir())
        if len(self.names) > ENTRY_LIMIT:
            self._zip.close()
            raise SourceUnsupported(f"{path.name} holds {len(self.names)} items; at most {ENTRY_LIMIT} are read.")
        self._folded = {name.casefold(): name for name in reversed(self.names)}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._zip.close()

    def find(self, href: str, beside: str = "") -> str | None:
        """The path of the item that `href` names, seen from the item `beside`; None where there is none.

        Fragments are ignored. An href that leads out of the archive names nothing. Where only upper and lower case
        differ, the item is found all the same, as on the file systems that many books are made on.
        """
        plain = href.partition("#")[0].strip()
        if not plain or "://" in plain or plain.startswith(("/", "data:")):
            return None
        for candidate in dict.fromkeys((plain, unquote(plain))):
            path = posixpath.normpath(posixpath.join(posixpath.dirname(beside), candidate))
            found = self._folded.get(path.casefold())
            if found is not None:
                return path if path in self._zip.NameToInfo else found
        return None

    def size(self, name: str) -> int:
        """The declared size of an item in bytes; no more is ever read of it."""
        return self._zip.getinfo(name).file_size

    def read(self, name: str) -> bytes:
        """The bytes of an item that `find` or `names` gave. Raises `SourceUnsupported` where it is damaged or too large."""
        size = self.size(name)
        if size > ITEM_LIMIT or size > self._left:
            raise SourceUnsupported(
                f"{self._path.name} unpacks to more than is read: {name!r} has {size} bytes "
                f"(at most {ITEM_LIMIT} an item, {TOTAL_LIMIT} in all)."
            )
        try:
            data = self._zip.read(name)
        except tuple(ERRORS) as error:
            raise self._translated(error, f"its item {name!r} cannot be unpacked") from error
        self._left -= len(data)
        return data

    def _translated(self, error: Exception, what: str) -> CiteKitError:
        ours = next(ours for theirs, ours in ERRORS.items() if isinstance(error, theirs))
        return ours(f"{self._path.name} cannot be read as an EPUB: {what} ({error}).")
