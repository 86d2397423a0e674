"""Makes a plain folder of book files available as a book catalog."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from citekit.adapters.catalogs.folder_facts import RACY, FileFacts
from citekit.adapters.catalogs.folder_files import BookFiles, books_below, numbers
from citekit.adapters.catalogs.in_memory import MemoryLibrary
from citekit.adapters.libraries.sqlite.key_value_cache import Index
from citekit.domain.library.books import BookFilter, BookRecord, LibraryStats
from citekit.domain.library.languages import iso_639_3
from citekit.domain.ports.library_reader import LibraryReader


class FolderLibrary:
    """A `Library` of all book files below `folder`. Files with the same name in one folder are formats of one book.

    The number of a book is derived from its path, so it normally stays the same when other books are added or removed.
    Title and authors come from the metadata of the file. Without metadata, the file name is the title. The first folder
    below `folder` is the tag, and the modification time of the newest file is the date added. Each call scans the
    folder, but a file is read again only if it has changed.
    """

    def __init__(self, folder: Path, reader: LibraryReader, index: Index | None = None) -> None:
        """Create a catalog of the books below `folder`, whose metadata is read by `reader`.

        `index` stores the metadata between runs. If `index` is None, metadata is only cached in memory.
        """
        self._folder = folder.absolute()
        self._facts = FileFacts(reader, index)
        self._files: list[BookFiles] | None = None
        self._known = MemoryLibrary()
        self._turn = threading.Lock()

    @property
    def place(self) -> str:
        """The path of the folder."""
        return str(self._folder)

    def find(self, wanted: BookFilter, limit: int, offset: int = 0) -> Sequence[BookRecord]:
        """Return at most `limit` matching books, most recently changed first, skipping the first `offset`."""
        return self._current().find(wanted, limit, offset)

    def get(self, book_id: int) -> BookRecord:
        """Return the book. Raise `BookMissing` if the folder has no such book."""
        return self._current().get(book_id)

    def stats(self) -> LibraryStats:
        """Count the books and authors in the folder, and the books in each format and language."""
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
    """Return whether any later change to the book's files would change their recorded states.

    A file that changed just now can change again without getting a new timestamp.
    """
    now = time.time()
    return all(state.is_settled(now, RACY, now) for _, state in book.files.values())
