"""Finds the books below a folder. Files with the same name and different suffixes are one book."""

from __future__ import annotations

import hashlib
import os
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from attrs import frozen

from citekit.adapters.system.file_state import FileState
from citekit.domain.errors import LibraryUnavailable
from citekit.domain.formats import BOOK_SUFFIXES

LIMIT = 1_000_000
"""Maximum number of directory entries that are visited."""


@frozen
class BookFiles:
    """The files of a book and their states, by upper-case format.

    `name` is their common path relative to the catalog folder, with `/` and without the suffix.
    """

    name: str
    files: Mapping[str, tuple[Path, FileState]]

    @property
    def changed(self) -> int:
        """The modification time of the newest file, in nanoseconds since the epoch."""
        return max(state.mtime_ns for _, state in self.files.values())


def books_below(folder: Path) -> list[BookFiles]:
    """Return every book below `folder`, most recently changed first.

    Hidden files and folders, and links that lead out of the folder, are skipped. Raise `LibraryUnavailable` if the
    folder does not exist, cannot be read, or has more than `LIMIT` entries.
    """
    found: dict[str, dict[str, tuple[Path, FileState]]] = {}
    for relative, path, state in _files(folder):
        suffix = path.suffix
        found.setdefault(relative.removesuffix(suffix), {}).setdefault(suffix[1:].upper(), (path, state))
    books = [BookFiles(name, dict(sorted(files.items(), key=_preference))) for name, files in found.items()]
    return sorted(books, key=lambda book: (-book.changed, book.name))


def numbers(names: Iterable[str]) -> dict[str, int]:
    """Return a number from 1 to 2**31 - 1 for each name, derived from the name alone.

    If two names have the same number, which is rare, the second in sorted order gets another number. The number of a
    name may therefore change when a colliding name is added.
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
    """Yield each regular book file below `folder`: its relative path, its path, and its state.

    Raise `LibraryUnavailable` if the folder has more than `LIMIT` entries.
    """
    real = Path(os.path.realpath(folder))
    pending, left = [""], LIMIT
    while pending:
        prefix = pending.pop()
        for entry in _entries(folder, prefix):
            left -= 1
            if left < 0:
                raise LibraryUnavailable(
                    f"{folder} contains more than {LIMIT} files and folders. Choose a smaller folder."
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
        if isinstance(error, FileNotFoundError | NotADirectoryError):
            raise LibraryUnavailable(f"Library folder not found: {folder}") from error
        raise LibraryUnavailable(f"The library folder {folder} cannot be read: {error}.") from error


def _is_inside(entry: os.DirEntry[str], real: Path) -> bool:
    return not entry.is_symlink() or Path(os.path.realpath(entry.path)).is_relative_to(real)


def _looked_at(relative: str, entry: os.DirEntry[str]) -> Iterator[tuple[str, Path, FileState]]:
    """Yield the file unless it cannot be read or its name is not valid Unicode, which no map can contain."""
    with suppress(OSError, UnicodeEncodeError):
        relative.encode()
        if entry.is_file():
            yield relative, Path(entry.path), FileState.of(entry.stat())
