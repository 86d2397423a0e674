"""The staging area, in which evidence is made before it becomes an object."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from citekit.adapters.system.file_locks import Locks
from citekit.adapters.system.files import unwritable, writing
from citekit.adapters.system.home_files import check_folder, check_parent, make_folder, remove_tree
from citekit.domain.digest import Digest
from citekit.domain.errors import ExtractionFailed
from citekit.domain.evidence import EvidenceKey, Extraction
from citekit.domain.ports.evidence_store import Make


class StagingArea:
    """A lock for each key, and a folder below `making` for each piece of evidence in progress.

    The folders of a key that is not locked were left by killed processes.
    """

    def __init__(self, making: Path, locks: Path) -> None:
        self._making = making
        self._folder_of_locks = locks
        self._locks = Locks(locks, passing=True)

    @contextmanager
    def turn(self, key: EvidenceKey, waiting: Callable[[], object]) -> Iterator[None]:
        """Hold the key's lock. `waiting` is called periodically; an exception that it raises ends the wait."""
        with self._locks.hold(str(key), waiting):
            yield

    @contextmanager
    def folder(self, key: EvidenceKey) -> Iterator[Path]:
        """Create a staging folder, and remove it afterwards. The caller must hold the key's lock."""
        folder = self._making / f"{key}-{secrets.token_hex(4)}"
        with writing(folder):
            self._sweep(str(key))
            check_parent(folder)
            try:
                folder.mkdir(0o700)  # the evidence may come from a private file
            except FileNotFoundError:
                make_folder(folder.parent)
                folder.mkdir(0o700)
        try:
            yield folder
        finally:
            try:
                folder.rmdir()  # usually empty
            except OSError:
                shutil.rmtree(folder, ignore_errors=True)

    def clean(self) -> int:
        """Remove files and locks that killed processes left. Return how many pieces of evidence were unfinished."""
        cleaned = 0
        for name in _names(self._folder_of_locks):
            with self._locks.hold_if_free(name):
                """The lock file is removed when the lock is released."""
        for name in {name.partition("-")[0] for name in _names(self._making)}:
            with self._locks.hold_if_free(name) as free:
                cleaned += self._sweep(name) if free else 0
        return cleaned

    def _sweep(self, key: str) -> int:
        left = [each for each in _names(self._making) if each.startswith(f"{key}-")]
        for name in left:
            remove_tree(self._making / name, ignore_errors=True)
        return len(left)


def made_by(make: Make, target: Path) -> Extraction:
    """Return the result of `make`.

    Raise `HomeUnwritable` if its error was caused by a full or read-only disk.
    """
    try:
        return make(target)
    except Exception as error:
        cause: BaseException | None = error
        while cause is not None and not _is_full(cause):
            cause = cause.__cause__
        if isinstance(cause, OSError):
            raise unwritable(cause, target) from error
        raise


def digest_of(made: Path) -> tuple[Digest, int]:
    """Return the digest and the size in bytes of the file.

    Raise `ExtractionFailed` if it is missing or not regular, or `HomeUnwritable` if it cannot be read.
    """
    try:
        if not stat.S_ISREG(os.lstat(made).st_mode):
            raise ExtractionFailed(
                "The extractor created a folder, link, or device instead of a regular file. Please report this bug."
            )
        with made.open("rb") as file:
            return Digest.of_stream(file), os.fstat(file.fileno()).st_size
    except FileNotFoundError:
        raise ExtractionFailed("The extractor created no file. Please report this bug.") from None
    except OSError as error:
        raise unwritable(error, made) from error


def _is_full(error: BaseException) -> bool:
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)


def _names(folder: Path) -> list[str]:
    check_folder(folder)
    try:
        return os.listdir(folder)  # noqa: PTH208 (only the names are wanted)
    except OSError:
        return []
