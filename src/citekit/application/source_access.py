"""Access to sources: the unrestricted folder policy, and a guard for work on files that must not change."""

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
    """A `Folders` policy that allows every path and remembers none."""

    def check(self, path: Path) -> Path:
        """Return `path` unchanged."""
        return path

    def covers(self, path: Path) -> bool:  # noqa: ARG002
        """Return True."""
        return True

    def remember(self, path: Path) -> None:
        """Do nothing."""


UNRESTRICTED = Unrestricted()


@contextmanager
def assert_unchanged(sources: Sources, source: Source, resource_id: str, *, mapping: bool = False) -> Iterator[None]:
    """Raise `SourceChanged` if the file changes during the body; `mapping` marks the error as one during mapping.

    Also replaces an error of the body if the file changed, because the change is then its likely cause.
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
