"""Stores files that were added in the viewer, because a browser does not report the path of a file."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from filecmp import cmp
from itertools import count
from pathlib import Path, PurePath
from typing import BinaryIO

from attrs import frozen

from citekit.adapters.system.files import writing
from citekit.adapters.system.home_files import open_file, opened_folder

_PART = ".part"


@frozen
class Upload:
    """A file that is being received. Write its bytes to `stream`."""

    stream: BinaryIO
    path: Path


@frozen
class Uploads:
    """The added files in `folder`. Each keeps its name, with a number if another file has that name."""

    folder: Path

    @contextmanager
    def receiving(self) -> Iterator[Upload]:
        """Yield a new temporary file, which is deleted at the end. `keep` stores it under a name."""
        path = self.folder / f".{secrets.token_hex(8)}{_PART}"
        with writing(path):
            descriptor = open_file(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, make_folders=True)
        try:
            with os.fdopen(descriptor, "wb") as stream:
                yield Upload(stream, path)
        finally:
            with suppress(OSError), opened_folder(self.folder):
                path.unlink()

    def keep(self, upload: Upload, name: str) -> tuple[Path, bool]:
        """Give a complete file its name. Return its path, and whether it is new: an equal file is reused."""
        with writing(self.folder / name):
            upload.stream.close()
            with opened_folder(self.folder):
                return self._named(upload.path, PurePath(name))

    def _named(self, part: Path, name: PurePath) -> tuple[Path, bool]:
        for number in count(1):
            path = self.folder / (name.name if number == 1 else f"{name.stem} {number}{name.suffix}")
            if path.is_file() and not path.is_symlink() and cmp(path, part, shallow=False):
                return path, False
            if not os.path.lexists(path):
                with suppress(FileExistsError):
                    _given(part, path)
                    return path, True
        raise AssertionError


def _given(part: Path, path: Path) -> None:
    """Move a file. Raise `OSError` if that fails.

    If the file system has hard links, an existing file at the new path is not replaced.
    """
    try:
        os.link(part, path)
    except FileExistsError:
        raise
    except OSError:  # the file system has no hard links
        part.rename(path)
