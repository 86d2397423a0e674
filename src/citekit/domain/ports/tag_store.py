"""Defines the port for the tags of resources."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol


class TagStore(Protocol):
    """The tags of resources by resource ID. Safe for threads and processes."""

    def all(self) -> Mapping[str, Sequence[str]]:
        """Return the sorted tags of each resource that has tags. Raise `IndexCorrupt` if they cannot be read."""

    def change(
        self, resource_ids: Iterable[str], add: Iterable[str] = (), remove: Iterable[str] = ()
    ) -> Mapping[str, Sequence[str]]:
        """Add and remove tags of each of the resources, and return the tags of each.

        Raise `RequestRefused` for an invalid tag or too many tags, `HomeUnwritable` if the tags cannot be written, or
        `IndexCorrupt` if they cannot be read. The tags then stay as they were.
        """

    def drop(self, resource_id: str) -> None:
        """Remove all tags of a resource. Raise the same errors as `change`."""
