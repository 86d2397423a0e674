"""Access to sources: unrestricted for the owner of the computer, and work on files that must not change."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from attrs import frozen

from citekit.domain.errors import Cancelled, SourceChanged
from citekit.domain.ports.sources import Sources
from citekit.domain.source import Source


@frozen
class Unrestricted:
    """`Folders` that are all there are; nothing is remembered."""

    def check(self, path: Path) -> Path:
        """`path` itself."""
        return path

    def covers(self, path: Path) -> bool:  # noqa: ARG002
        """True."""
        return True

    def remember(self, path: Path) -> None:
        """Nothing."""


UNRESTRICTED = Unrestricted()


@contextmanager
def assert_unchanged(sources: Sources, source: Source, resource_id: str, *, mapping: bool = False) -> Iterator[None]:
    """What is done here counts only if the file stayed as it is. Raises `SourceChanged`; `mapping` says that it is mapped.

    An error is of the change, too, where there was one: whatever was not found in the file is not there any more.
    """
    try:
        yield
    except Cancelled:
        raise
    except Exception as error:
        if not sources.is_unchanged(source):
            raise SourceChanged(resource_id, str(source.path), during_mapping=mapping) from error
        raise
    if not sources.is_unchanged(source):
        raise SourceChanged(resource_id, str(source.path), during_mapping=mapping)
