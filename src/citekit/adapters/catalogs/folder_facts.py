"""Caches the metadata of book files while the files are unchanged."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from attrs import frozen

from citekit.adapters.libraries.sqlite.key_value_cache import Index
from citekit.adapters.system.file_state import FINE, FileState
from citekit.adapters.system.files import open_for_reading
from citekit.domain.detection import HEAD_SIZE, detect
from citekit.domain.digest import Digest
from citekit.domain.errors import CiteKitError
from citekit.domain.library.books import BookFacts
from citekit.domain.ports.library_reader import LibraryReader
from citekit.domain.source import Source

RACY = FINE
"""Seconds within which a file may change twice without a new timestamp."""


@frozen
class _Known:
    state: FileState
    facts: BookFacts


class FileFacts:
    """Reads the metadata of book files with `reader`, and caches it in memory and in the optional `index`."""

    def __init__(self, reader: LibraryReader, index: Index | None = None) -> None:
        self._reader = reader
        self._index = index
        self._known: dict[Path, _Known] = {}

    def of(self, files: Mapping[str, tuple[Path, FileState]]) -> BookFacts:
        """Return the metadata of a book, given its files and their states by format.

        Each field is taken from the first file that has it. Later files are not read once title and authors are known.
        """
        facts = BookFacts()
        for path, state in files.values():
            more = self._of_file(path, state)
            facts = BookFacts(
                title=facts.title or more.title,
                authors=facts.authors or more.authors,
                language=facts.language or more.language,
                identifiers={**more.identifiers, **facts.identifiers},
            )
            if facts.title and facts.authors:
                break
        return facts

    def keep_only(self, paths: set[Path]) -> None:
        """Remove cached metadata of all files except `paths` from memory."""
        for path in self._known.keys() - paths:
            del self._known[path]

    def _of_file(self, path: Path, state: FileState) -> BookFacts:
        known = self._known.get(path)
        if known is not None and known.state == state:
            return known.facts
        key, now = _key(path, state), time.time()
        facts = _from_plain(self._index.get(key)) if self._index is not None else None
        if facts is None:
            facts = self._read(path, state)
            if self._index is not None and state.is_settled(now, RACY, now):
                self._index.put(key, _to_plain(facts))
        if state.is_settled(now, RACY, now):
            self._known[path] = _Known(state, facts)
        return facts

    def _read(self, path: Path, state: FileState) -> BookFacts:
        """Return the metadata of the file, or empty metadata if the file cannot be read.

        An unreadable file raises no error, because it is listed in the catalog anyway.
        """
        with suppress(CiteKitError, OSError):
            with open_for_reading(path) as file:
                format = detect(path.name, file.read(HEAD_SIZE))
            if format is not None and self._reader.supports(format):
                return self._reader.facts(Source(path, _stand_in(path, state), state.size, format))
        return BookFacts()


def _key(path: Path, state: FileState) -> str:
    return f"facts:{_stand_in(path, state)}"


def _stand_in(path: Path, state: FileState) -> Digest:
    """Return a digest of the file's path, size, and times, used instead of a digest of its content.

    Hashing all files of a folder only to read their titles would take minutes.
    """
    return Digest.of_bytes(
        f"{path}\0{state.size}\0{state.mtime_ns}\0{state.ctime_ns}".encode("utf-8", "surrogateescape")
    )


def _to_plain(facts: BookFacts) -> dict[str, Any]:
    return {
        "title": facts.title,
        "authors": list(facts.authors),
        "language": facts.language,
        "identifiers": dict(facts.identifiers),
    }


def _from_plain(plain: dict[str, Any] | None) -> BookFacts | None:
    match plain:
        case {
            "title": str() | None as title,
            "authors": [*authors],
            "language": str() | None as language,
            "identifiers": dict() as identifiers,
        } if all(isinstance(each, str) for each in [*authors, *identifiers, *identifiers.values()]):
            return BookFacts(title=title, authors=authors, language=language, identifiers=identifiers)
    return None
