"""EPUBs of which it is remembered what lies where, so that another chapter costs only its own reading."""

from __future__ import annotations

import os
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

from attrs import define, field

from citekit.adapters.drivers.file_state import COARSE, FileState
from citekit.adapters.reading.epub_archive import Directory, EpubArchive, opened_file
from citekit.adapters.reading.epub_package import Package, read_package

BOOKS = 4
"""Books that are remembered; the least recently used goes first."""

ITEMS_LIMIT = 5000
"""Items of the largest book that is remembered: its directory takes about a kilobyte each."""

RACY = COARSE
"""Seconds within which a file may change again and keep its time of change (FAT keeps two-second times)."""


@define
class EpubBooks:
    """Directories and packages by the state of their files. No file is held open. Safe for threads."""

    _known: OrderedDict[FileState, tuple[Directory, Package]] = field(factory=OrderedDict)
    _lock: Lock = field(factory=Lock)

    @contextmanager
    def opened(self, path: Path) -> Iterator[tuple[EpubArchive, Package]]:
        """The book at `path`. Raises `SourceUnsupported`: no EPUB, encrypted, too large; `SourceUnreadable`."""
        with opened_file(path) as stream:
            state = FileState.of(os.fstat(stream.fileno()))
            directory, package = self._recall(state)
            archive = EpubArchive(path, stream, directory)
            if package is None:
                package = read_package(archive, path.name)
                self._remember(state, archive.directory, package)
            yield archive, package

    def _recall(self, state: FileState) -> tuple[Directory, Package] | tuple[None, None]:
        with self._lock:
            if state in self._known:
                self._known.move_to_end(state)
            return self._known.get(state, (None, None))

    def _remember(self, state: FileState, directory: Directory, package: Package) -> None:
        """Note what was read, unless the file changed so lately that it may change again unseen."""
        now = time.time()
        if len(directory.names) <= ITEMS_LIMIT and state.is_settled(now, RACY, now):
            with self._lock:
                self._known[state] = directory, package
                while len(self._known) > BOOKS:
                    self._known.popitem(last=False)
