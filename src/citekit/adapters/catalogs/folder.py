"""Makes a plain folder of book files available as a book catalog."""

from __future__ import annotations

import hashlib
import os
import threading
import time
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any

from attrs import frozen

from citekit.adapters.catalogs.in_memory import MemoryLibrary
from citekit.adapters.libraries.sqlite.key_value_cache import Index
from citekit.adapters.system.file_state import FINE, FileState
from citekit.adapters.system.files import open_for_reading
from citekit.domain.detection import HEAD_SIZE, detect
from citekit.domain.digest import Digest
from citekit.domain.errors import CiteKitError, LibraryUnavailable
from citekit.domain.formats import BOOK_SUFFIXES
from citekit.domain.library.books import BookFacts, BookFilter, BookRecord, LibraryStats
from citekit.domain.library.languages import iso_639_3
from citekit.domain.ports.library_reader import LibraryReader
from citekit.domain.source import Source

RACY = FINE
"""Seconds within which a file may change twice without a new timestamp."""

ENTRIES_LIMIT = 1_000_000
"""Maximum number of directory entries that are visited."""


class FolderLibrary:
    """A `Library` of the book files below `folder`.

    Files in one folder whose names differ only in the suffix are formats of one book. The ID of a book is derived from
    its path, so it normally stays the same when other books change. Title and authors come from the metadata of the
    files. Without a title, the file name without its suffix is the title. The first folder below `folder` is the tag.
    """

    def __init__(self, folder: Path, reader: LibraryReader, index: Index | None = None) -> None:
        """Create a catalog of the books below `folder`.

        `index` stores their metadata between runs (None: it is only cached in memory).
        """
        self._folder = folder.absolute()
        self._facts = FileFacts(reader, index)
        self._files: list[BookFiles] | None = None
        self._known = MemoryLibrary()
        self._turn = threading.Lock()

    @property
    def place(self) -> str:
        """See `Library.place`."""
        return str(self._folder)

    def find(self, wanted: BookFilter, limit: int, offset: int = 0) -> Sequence[BookRecord]:
        """See `Library.find`. The most recently changed books come first."""
        return self._current().find(wanted, limit, offset)

    def get(self, book_id: int) -> BookRecord:
        """See `Library.get`."""
        return self._current().get(book_id)

    def stats(self) -> LibraryStats:
        """See `Library.stats`."""
        return self._current().stats()

    def _current(self) -> MemoryLibrary:
        with self._turn:
            files = books_below(self._folder)
            if files != self._files:
                known = numbers(book.name for book in files)
                self._known = MemoryLibrary(self._record(known[book.name], book) for book in reversed(files))
                self._facts.keep_only({path for book in files for path, _ in book.files.values()})
                self._files = files if all(map(_is_settled, files)) else None
            return self._known

    def _record(self, number: int, book: BookFiles) -> BookRecord:
        name, facts = PurePosixPath(book.name), self._facts.of(book.files)
        return BookRecord(
            id=number,
            title=(facts.title or "").strip() or name.name,
            authors=facts.authors,
            languages=(iso_639_3(facts.language),) if facts.language else (),
            tags=name.parts[:-1][:1],
            identifiers=facts.identifiers,
            files={format: path for format, (path, _) in book.files.items()},
        )


def _is_settled(book: BookFiles) -> bool:
    """Return whether any later change to the book's files would change their recorded states (see `RACY`)."""
    now = time.time()
    return all(state.is_settled(now, RACY, now) for _, state in book.files.values())


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

        Files are read until title and authors are known. Each field comes from the first file that has it. Identifiers
        are collected from all files that are read.
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
        """Return the metadata of the file, empty if it cannot be read: the catalog lists it anyway."""
        with suppress(CiteKitError, OSError):
            with open_for_reading(path) as file:
                format = detect(path.name, file.read(HEAD_SIZE))
            if format is not None and self._reader.supports(format):
                return self._reader.facts(Source(path, _stand_in(path, state), state.size, format))
        return BookFacts()


def _key(path: Path, state: FileState) -> str:
    return f"facts:{_stand_in(path, state)}"


def _stand_in(path: Path, state: FileState) -> Digest:
    """Return a stand-in for the digest of the file, because hashing all files would take minutes."""
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


@frozen
class BookFiles:
    """The files of a book and their states, by upper-case format.

    `name` is their common path relative to the catalog folder, without the suffix.
    """

    name: str
    files: Mapping[str, tuple[Path, FileState]]

    @property
    def changed(self) -> int:
        """The modification time of the newest file, in nanoseconds since the epoch."""
        return max(state.mtime_ns for _, state in self.files.values())


def books_below(folder: Path) -> list[BookFiles]:
    """Return the books below `folder`, most recently changed first.

    Hidden files and folders, links to folders, links that lead out of the folder, files whose names are not valid
    Unicode, and subfolders that cannot be read are skipped. Raise `LibraryUnavailable` if the folder does not exist,
    cannot be read, or has more than `ENTRIES_LIMIT` entries.
    """
    found: dict[str, dict[str, tuple[Path, FileState]]] = {}
    for relative, path, state in _files(folder):
        suffix = path.suffix
        found.setdefault(relative.removesuffix(suffix), {}).setdefault(suffix[1:].upper(), (path, state))
    books = [BookFiles(name, dict(sorted(files.items(), key=_preference))) for name, files in found.items()]
    return sorted(books, key=lambda book: (-book.changed, book.name))


def numbers(names: Iterable[str]) -> dict[str, int]:
    """Return a number from 1 to 2**31 - 1 for each name, derived from the name.

    If two names have the same number, which is rare, the second in sorted order gets another one.
    """
    taken: dict[int, str] = {}
    for name in sorted(names):
        attempt = 0
        while (number := _number(name, attempt)) in taken:
            attempt += 1
        taken[number] = name
    return {name: number for number, name in taken.items()}


def _number(name: str, attempt: int) -> int:
    written = unicodedata.normalize("NFC", name) + "\0" * attempt
    digest = hashlib.sha256(written.encode()).digest()
    return int.from_bytes(digest[:4]) % (2**31 - 1) + 1


def _preference(item: tuple[str, object]) -> int:
    return BOOK_SUFFIXES.index(f".{item[0].lower()}")


def _files(folder: Path) -> Iterator[tuple[str, Path, FileState]]:
    """Yield the relative path, the path, and the state of the book files below `folder`.

    Hidden files, links that leave the folder, names that are not valid Unicode, and unreadable subfolders are skipped.
    Raise `LibraryUnavailable` if the folder is missing, unreadable, or too large.
    """
    real = Path(os.path.realpath(folder))
    pending, left = [""], ENTRIES_LIMIT
    while pending:
        prefix = pending.pop()
        for entry in _entries(folder, prefix):
            left -= 1
            if left < 0:
                raise LibraryUnavailable(
                    f"The library folder {folder} contains more than {ENTRIES_LIMIT:,} files and folders. Set "
                    "CALIBRE_LIBRARY_PATH to a smaller folder."
                )
            relative = prefix + entry.name
            if entry.is_dir(follow_symlinks=False):
                pending.append(f"{relative}/")
            elif entry.name.lower().endswith(BOOK_SUFFIXES) and _is_inside(entry, real):
                yield from _looked_at(relative, entry)


def _entries(folder: Path, prefix: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder / prefix) as found:
            return sorted((entry for entry in found if not entry.name.startswith(".")), key=lambda entry: entry.name)
    except (OSError, ValueError) as error:
        if prefix:
            return []
        if isinstance(error, NotADirectoryError) and folder.exists():
            raise LibraryUnavailable(f"The library must be a folder, but {folder} is a file.") from error
        if isinstance(error, FileNotFoundError | NotADirectoryError):
            raise LibraryUnavailable(f"Library folder not found: {folder}") from error
        raise LibraryUnavailable(
            f"The library folder {folder} cannot be read: {getattr(error, 'strerror', None) or error}."
        ) from error


def _is_inside(entry: os.DirEntry[str], real: Path) -> bool:
    return not entry.is_symlink() or Path(os.path.realpath(entry.path)).is_relative_to(real)


def _looked_at(relative: str, entry: os.DirEntry[str]) -> Iterator[tuple[str, Path, FileState]]:
    """Yield the file if it is a regular file with a name in valid Unicode, which maps require."""
    with suppress(OSError, UnicodeEncodeError):
        relative.encode()
        if entry.is_file():
            yield relative, Path(entry.path), FileState.of(entry.stat())
