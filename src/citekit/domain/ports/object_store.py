"""Defines the port for the store of objects that several machines share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from citekit.domain.object_key import ListedObject, ObjectKey


class ObjectStore(Protocol):
    """A store of bytes by key. An object is written once and does not change until it is removed.

    Any number of processes and machines may use the same store. Of several writers of a key, one stores its bytes, and
    the others are informed that the object exists. A partially written object is never visible.

    The methods raise `StoreUnavailable` if the store cannot be accessed, and `DriverMissing` if the required extra is
    not installed.
    """

    def put(self, key: ObjectKey, data: bytes) -> bool:
        """Store `data` under `key` and return True, or return False if the key exists.

        If the connection was lost during a write that succeeded, the writer may be informed that the object exists.
        """

    def put_file(self, key: ObjectKey, path: Path, media_type: str | None = None) -> bool:
        """Store the content of the file at `path` like `put`.

        The key must be derived from the content, because two writers of a large file may both be informed that they
        stored it. If `media_type` is given, `link` can return a link with which browsers download the object as a file
        of this type, or of a harmless type if browsers could run content of this type. Raise `SourceUnreadable` if the
        file cannot be read.
        """

    def read(self, key: ObjectKey, start: int = 0, length: int | None = None) -> bytes | None:
        """Return at most `length` bytes of the object from the offset `start`, or None if the key does not exist.

        If `length` is None, there is no limit. The result is empty if `start` is at or beyond the end.
        """

    def size(self, key: ObjectKey) -> int | None:
        """Return the size of the object in bytes, or None if the key does not exist."""

    def listing(self, folder: str = "") -> Iterator[ListedObject]:
        """Yield the objects whose keys begin with `folder` and a slash, or all objects.

        The objects directly in a folder are listed consecutively if their names sort before the names of the folders in
        it; otherwise, the order is arbitrary. Memory use does not grow with the listing. Objects that are stored or
        removed during the listing may be missing. Names that are not valid keys are left out.
        """

    def link(self, key: ObjectKey, seconds: int) -> str | None:
        """Return a URL at which anybody can read the object for `seconds` without credentials, in whole or in parts.

        Return None if the object does not exist or was stored without a media type, or if this store or its credentials
        cannot make such links.
        """

    def remove(self, key: ObjectKey) -> None:
        """Remove the object if it exists."""
