"""Defines the port for source files in buckets and on web servers, which are copied to this machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from attrs import frozen

SCHEMES = ("s3", "gs", "az")
"""The schemes of the URLs of buckets: S3 and compatible services, Google Cloud Storage, Azure."""


def is_remote(place: str) -> bool:
    """Return whether a place that the user named is a URL with one of `SCHEMES`."""
    return place.startswith(tuple(f"{scheme}://" for scheme in SCHEMES))


@frozen
class RemoteFile:
    """A file as a listing shows it. `path` is the path of its local copy, `size` is in bytes, and `version` is its ETag
    or the time of its last change.
    """

    url: str
    path: Path
    size: int
    version: str


class RemoteFiles(Protocol):
    """Files in buckets or on web servers, each with the path of a local copy. The copies are a cache of limited size.

    The methods raise `StoreUnavailable` if the service cannot be accessed, and `DriverMissing` if the required extra is
    not installed.
    """

    def listing(self, url: str) -> Iterator[RemoteFile]:
        """Yield the file at `url`, or else all files below it.

        Raise `RequestRefused` if `url` is not valid, or if there are too many files to list in memory.
        """

    def place(self, url: str) -> Path:
        """Return the path of the copy of the file at `url`, or of the folder with the copies of the files below `url`.

        Raise `RequestRefused` if `url` is not valid.
        """

    def holds(self, path: Path) -> bool:
        """Return whether `path` is the path of a copy, which need not exist. Raises no error."""

    def unchanged(self, path: Path) -> str | None:
        """Return the digest (SHA-256, hexadecimal) of the file whose copy belongs at `path` if the file has not changed
        since it was last fetched; otherwise None.

        The copy need not exist.
        """

    def fetch(self, path: Path) -> None:
        """Make or renew the copy at `path`, unless it is up to date. Do nothing if `path` is not the path of a copy.

        Raise `SourceUnreadable` if the file cannot be copied, for example because it is missing, is too large, or
        changes while it is read, and `HomeUnwritable` if the copy cannot be written.
        """

    def restore(self, path: Path) -> bool:
        """Fetch the copy at `path` if it was removed from the cache, and return whether the copy exists.

        Raise `HomeUnwritable` if the copy cannot be written.
        """
