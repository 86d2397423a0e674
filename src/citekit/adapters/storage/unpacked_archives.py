"""Unpacks ZIP archives into the home, so that their files can be mapped."""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import stat
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath

from attrs import frozen

from citekit.adapters.libraries.zip_entries import METHODS, is_folder, pieces, translated
from citekit.adapters.system.files import open_for_reading, writing
from citekit.adapters.system.home_files import make_folder, open_file, write_all
from citekit.domain.errors import SourceUnsupported

FILES_LIMIT = 20_000
"""The maximum number of files in an archive."""

SIZE_LIMIT = 4 << 30
"""The maximum number of bytes that are unpacked from one archive."""

RATIO, SPARE = 100, 64 << 20
"""An archive is unpacked to at most `RATIO` times its size plus `SPARE` bytes: it may be a zip bomb."""

_PACKAGES = frozenset(("mimetype", "[Content_Types].xml"))
"""Files that make an archive an EPUB, OpenDocument, or Office file, regardless of its name."""

_UNUSABLE = frozenset('\\:*?"<>|')
_LONGEST = 200


@frozen
class UnpackedArchives:
    """The archives that were unpacked into `folder`, each into a folder with its name and part of its SHA-256."""

    folder: Path

    def unpack(self, path: Path) -> Path | None:
        """Return the folder with the files of the ZIP archive at `path`; None if it is a document or not an archive, or
        if its name does not end in `.zip`.

        An archive is unpacked only once. Hidden files, links, and files whose names are not portable are omitted. Raise
        `SourceUnsupported` if the archive is damaged, encrypted, too large, or otherwise not supported,
        `SourceUnreadable` if it cannot be read, or `HomeUnwritable` if the files cannot be written.
        """
        if path.suffix.lower() != ".zip" or not os.path.isfile(path):  # noqa: PTH113 - a name that is too long is no file
            return None
        with translated(f"{path.name} cannot be unpacked"), open_for_reading(path) as stream:
            if not zipfile.is_zipfile(stream):
                return None
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
            target = self.folder / f"{path.stem[:_LONGEST]}-{digest[:12]}"
            if target.is_dir() and not target.is_symlink():
                return target
            archive = zipfile.ZipFile(stream)
            if not _PACKAGES.isdisjoint(archive.namelist()):
                return None
            self._unpack(archive, path, target)
        return target

    def _unpack(self, archive: zipfile.ZipFile, path: Path, target: Path) -> None:
        part = self.folder / f".{secrets.token_hex(8)}.part"
        limit = min(SIZE_LIMIT, RATIO * path.stat().st_size + SPARE)
        size = 0
        try:
            with writing(target):
                make_folder(part, 0o700)
            for item, name in _files(archive, path):
                size = self._write(archive, item, part / name, path, size, limit)
            with writing(target), suppress(FileExistsError):  # another process has unpacked it
                part.rename(target)
        finally:
            shutil.rmtree(part, ignore_errors=True)

    def _write(
        self, archive: zipfile.ZipFile, item: zipfile.ZipInfo, target: Path, path: Path, size: int, limit: int
    ) -> int:
        """Write one file, and return the size of all files so far.

        Raise `SourceUnsupported` if that size exceeds `limit`, or if two files have this name.
        """
        with writing(target):
            try:
                descriptor = open_file(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, make_folders=True)
            except FileExistsError:
                raise SourceUnsupported(
                    f"{path.name} has two files with the name {item.filename!r}. Unpack it yourself, and map the folder: "
                    "citekit ingest FOLDER"
                ) from None
        try:
            for piece in pieces(archive, item, limit - size):
                size += len(piece)
                if size > limit:
                    raise SourceUnsupported(
                        f"{path.name} would be larger than {limit >> 20} MB when unpacked. Unpack it yourself, and "
                        "map the folder: citekit ingest FOLDER"
                    )
                with writing(target):
                    write_all(descriptor, piece)
        finally:
            os.close(descriptor)
        return size


def _files(archive: zipfile.ZipFile, path: Path) -> Iterator[tuple[zipfile.ZipInfo, str]]:
    """Yield the files to unpack, with their relative paths.

    Raise `SourceUnsupported` if the archive cannot be unpacked.
    """
    items = [item for item in archive.infolist() if not is_folder(item)]
    if len(items) > FILES_LIMIT:
        raise SourceUnsupported(
            f"{path.name} has {len(items):,} files, but the limit is {FILES_LIMIT:,}. Unpack it, and map the folder: citekit "
            "ingest FOLDER"
        )
    for item in items:
        names = PurePosixPath(item.filename).parts
        if not names or not all(map(_is_usable, names)) or stat.S_ISLNK(item.external_attr >> 16):
            continue
        if item.flag_bits & 1:
            raise SourceUnsupported(f"{path.name} is encrypted. Unpack it, and map the folder: citekit ingest FOLDER")
        if item.compress_type not in METHODS:
            raise SourceUnsupported(
                f"{path.name} uses a compression method that CiteKit does not read. Unpack it, and map the folder: "
                "citekit ingest FOLDER"
            )
        yield item, os.path.join(*names)  # noqa: PTH118 - below the folder that is being made


def _is_usable(name: str) -> bool:
    """Return whether a file or folder may have that name on all systems, and is not hidden."""
    return (
        not name.startswith((".", "__MACOSX"))
        and len(name.encode("utf-8", "surrogatepass")) <= _LONGEST
        and _UNUSABLE.isdisjoint(name)
        and name.isprintable()
        and "/" not in name
    )
