"""An object store in a folder, which may be on a file system that several machines share."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from attrs import frozen

from citekit.adapters.system.files import open_for_reading, open_home_file, sync_folder, temporary_beside, unreadable
from citekit.adapters.system.home_files import check_folder, check_parent, make_folder
from citekit.domain.errors import StoreUnavailable
from citekit.domain.object_key import ListedObject, ObjectKey, is_valid

_BLOCK = 1 << 20


@frozen
class FolderObjectStore:
    """The objects are read-only files below `folder`, which is created for this user alone.

    An object is written to a temporary file and then linked to its name. The link is atomic and fails if the name
    exists (POSIX `link`), also on network file systems.
    """

    folder: Path

    def put(self, key: ObjectKey, data: bytes) -> bool:
        """See `ObjectStore.put`."""
        return self._put(key, lambda target: _written(target, data))

    def put_file(self, key: ObjectKey, path: Path, media_type: str | None = None) -> bool:  # noqa: ARG002
        """See `ObjectStore.put_file`."""
        try:
            source = open_for_reading(path)
        except OSError as error:
            raise unreadable(error, path) from error
        with source:
            return self._put(key, lambda target: shutil.copyfileobj(source, target, _BLOCK))

    def read(self, key: ObjectKey, start: int = 0, length: int | None = None) -> bytes | None:
        """See `ObjectStore.read`."""
        with self._accessing(key):
            try:
                file = open_home_file(self._path(key))
            except (FileNotFoundError, NotADirectoryError):
                return None
            with file:
                file.seek(start)
                return file.read(-1 if length is None else length)

    def size(self, key: ObjectKey) -> int | None:
        """See `ObjectStore.size`."""
        with self._accessing(key):
            try:
                status = os.lstat(self._path(key))
            except (FileNotFoundError, NotADirectoryError):
                return None
            return status.st_size if stat.S_ISREG(status.st_mode) else None

    def listing(self, folder: str = "") -> Iterator[ListedObject]:
        """See `ObjectStore.listing`."""
        if folder:
            ObjectKey(folder)
        yield from self._listed(folder)

    def link(self, key: ObjectKey, seconds: int) -> str | None:  # noqa: ARG002
        """Return None, because the files of a folder have no URLs."""
        return None

    def remove(self, key: ObjectKey) -> None:
        """See `ObjectStore.remove`."""
        with self._accessing(key), suppress(FileNotFoundError, NotADirectoryError):
            self._path(key).unlink()

    def _put(self, key: ObjectKey, write: Callable[[BinaryIO], object]) -> bool:
        path = self._path(key)
        with self._accessing(key):
            if os.path.lexists(path):
                return False
            make_folder(self.folder, 0o700)
            make_folder(path.parent)
            with temporary_beside(path) as temporary:
                with temporary.open("xb") as target:
                    write(target)
                    target.flush()
                    os.fsync(target.fileno())
                temporary.chmod(temporary.stat().st_mode & 0o444)  # less the umask
                try:
                    path.hardlink_to(temporary)
                except FileExistsError:
                    return False
            sync_folder(path.parent)
        return True

    def _path(self, key: ObjectKey) -> Path:
        path = self.folder / key.text
        check_parent(path)
        return path

    def _listed(self, folder: str) -> Iterator[ListedObject]:
        """Yield the objects in a folder, then those of the folders in it. No folder is read into memory."""
        prefix, has_folders = f"{folder}/" if folder else "", False
        for entry in self._entries(folder):
            has_folders = has_folders or entry.is_dir(follow_symlinks=False)
            if entry.is_file(follow_symlinks=False) and is_valid(prefix + entry.name):
                with suppress(FileNotFoundError):
                    status = entry.stat(follow_symlinks=False)
                    stored = datetime.fromtimestamp(status.st_mtime, UTC)
                    yield ListedObject(ObjectKey(prefix + entry.name), status.st_size, stored)
        for entry in self._entries(folder) if has_folders else ():
            if entry.is_dir(follow_symlinks=False):
                yield from self._listed(prefix + entry.name)

    def _entries(self, folder: str) -> Iterator[os.DirEntry[str]]:
        """Yield the files and folders in `folder`, without hidden ones."""
        path = self.folder / folder
        check_folder(path)
        with self._accessing(folder or "."), suppress(FileNotFoundError, NotADirectoryError), os.scandir(path) as found:
            yield from (entry for entry in found if not entry.name.startswith("."))

    @contextmanager
    def _accessing(self, key: ObjectKey | str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            reason = (error.strerror or str(error) or type(error).__name__).rstrip(".")
            raise StoreUnavailable(f"Cannot access {key} in the object store {self.folder}: {reason}.") from error


def _written(target: BinaryIO, data: bytes) -> None:
    target.write(data)
