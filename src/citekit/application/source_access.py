"""Provides a folder policy without restrictions, and a check that a source file does not change during use."""

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
    """A `Folders` policy that allows access to every path."""

    def check(self, path: Path) -> Path:
        """Return `path` unchanged."""
        return path

    def covers(self, path: Path) -> bool:  # noqa: ARG002
        """Return True, because every path is allowed."""
        return True

    def remember(self, path: Path) -> None:
        """Do nothing, because every path is already allowed."""


UNRESTRICTED = Unrestricted()


@contextmanager
def assert_unchanged(sources: Sources, source: Source, resource_id: str, *, mapping: bool = False) -> Iterator[None]:
    """Raise `SourceChanged` at the end of the `with` block if the source file changed in the meantime.

    This error replaces exceptions other than `Cancelled`, because the change is their likely cause. `mapping` sets the
    attribute `during_mapping` of the error.
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
