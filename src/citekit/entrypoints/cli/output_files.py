"""Writes copies of evidence and maps to paths that the user gives."""

from __future__ import annotations

import filecmp
import json
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path
from typing import IO

from citekit.container.home_paths import check_map_path
from citekit.domain.errors import HomeUnwritable, RequestRefused
from citekit.settings import expanded

PREFIX, SUFFIX = ".citekit-", ".tmp"
"""The prefix and suffix of temporary files."""

LEFT_AFTER = 3600.0
"""The age in seconds at which a temporary file counts as abandoned."""


@contextmanager
def replacing(target: Path, mode: int) -> Iterator[IO[bytes]]:
    """Open a temporary file that replaces `target`, atomically and durably, when the `with` block ends without an
    exception.

    It has the permissions `mode`. Raise `OSError` if writing fails.
    """
    temporary = None
    try:
        with tempfile.NamedTemporaryFile(dir=target.parent, prefix=PREFIX, suffix=SUFFIX, delete=False) as file:
            temporary = Path(file.name)
            temporary.chmod(mode)
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
        _sync(target.parent)
    finally:
        if temporary is not None:
            with suppress(OSError):
                temporary.unlink()


def keeping(original: Path, names: Iterator[Path]) -> Path | None:
    """Copy a file durably to the first free path in `names`, in the same folder, and return it, or None if none is
    free.

    Raise `OSError` if copying fails.
    """
    descriptor, name = tempfile.mkstemp(SUFFIX, PREFIX, original.parent)
    temporary = Path(name)
    try:
        with open(descriptor, "wb") as copy, original.open("rb") as source:  # noqa: PTH123 - of a descriptor
            shutil.copyfileobj(source, copy)
            copy.flush()
            os.fsync(copy.fileno())
        shutil.copystat(original, temporary)
        return next((free for free in names if _is_put(temporary, free)), None)
    finally:
        with suppress(OSError):
            temporary.unlink()


def _is_put(temporary: Path, name: Path) -> bool:
    """Move `temporary` to `name` unless that exists, and return whether it was moved."""
    try:
        name.hardlink_to(temporary)
    except FileExistsError:
        return False
    except OSError:  # the file system has no links: reserve the name with an empty file
        if os.path.lexists(name):
            return False
        name.open("xb").close()
        temporary.replace(name)
    return True


def sweep(folder: Path) -> None:
    """Delete abandoned temporary files in a folder. Errors are ignored."""
    with suppress(OSError):
        for path in folder.glob(f"{PREFIX}*{SUFFIX}"):
            with suppress(OSError):
                if path.lstat().st_mtime < time.time() - LEFT_AFTER:
                    path.unlink()


def _sync(folder: Path) -> None:
    with suppress(OSError):  # not supported on every system
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def copy_evidence(evidence: Path, wanted: str, read: Sequence[Path], *, force: bool) -> Path:
    """Copy the file `evidence` to the path or into the folder `wanted`, and return the absolute path of the copy.

    A different file at that path is replaced atomically if `force` is True, but never one of the files and folders in
    `read`, or a file in such a folder. Raise `RequestRefused` if the folder does not exist or the file must not be
    replaced, or `HomeUnwritable` if writing fails.
    """
    target = Path(os.path.abspath(expanded(wanted)))  # noqa: PTH100 - a link is replaced, not followed
    if target.is_dir():
        target /= evidence.name
    elif wanted.endswith(("/", os.sep)) or not target.parent.is_dir():
        folder = target if wanted.endswith(("/", os.sep)) else target.parent
        if os.path.lexists(folder):
            raise RequestRefused(f"{folder} is not a folder. Choose another path.")
        raise RequestRefused(f"There is no folder {folder}. Create it first.")
    sweep(target.parent)
    if os.path.lexists(target):
        _check(target, evidence, read, force)
        if target.exists() and filecmp.cmp(evidence, target, shallow=False):
            return target
    _copy(evidence, target)
    return target


def _check(target: Path, evidence: Path, read: Sequence[Path], force: bool) -> None:
    if target.exists() and not target.is_file():
        raise RequestRefused(f"{target} is not a regular file. Choose another path.")
    if target.exists() and any(_is_or_contains(each, target) for each in read):
        raise RequestRefused(
            f"{target} is a file that this command reads, so it is not overwritten. Choose another path."
        )
    same = target.exists() and filecmp.cmp(evidence, target, shallow=False)
    if not same and not force:
        fault = "already exists with other content" if target.exists() else "is a link to a file that does not exist"
        raise RequestRefused(f"{target} {fault}. Choose another path, or replace it with --force.")


def _is_or_contains(place: Path, target: Path) -> bool:
    """Return whether `target` is the file or folder `place`, or in that folder, also by another name."""
    if not place.is_dir():
        return place.exists() and target.samefile(place)
    return any(each.samefile(place) for each in target.resolve().parents)


def _copy(evidence: Path, target: Path) -> None:
    try:
        with evidence.open("rb") as opened, replacing(target, _mode(opened) & ~_umask()) as file:
            shutil.copyfileobj(opened, file)
    except OSError as error:
        raise HomeUnwritable(f"Cannot write {target}: {error.strerror or error}. Choose another path.") from error


def _mode(evidence: BufferedReader) -> int:
    """Return the permissions for a copy, before the umask: those who can read the evidence can read and write it."""
    readable = os.fstat(evidence.fileno()).st_mode & 0o444
    return readable | readable >> 1


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


_BACKUPS = 1000


def write_map(data: Mapping[str, object], wanted: str, original: Path, *, force: bool) -> Path:
    """Write a map to the file or into the folder `wanted`, and return the path of the written file.

    Users who cannot read `original` cannot read it. `force` and the errors are as in `copy_evidence`.
    """
    with tempfile.TemporaryDirectory(prefix="citekit-map-") as folder:
        path = Path(folder) / original.name
        path.write_bytes(_written(data))
        path.chmod(original.stat().st_mode & 0o444 | 0o200)
        return copy_evidence(path, wanted, [original], force=force)


def replace_map(data: Mapping[str, object], original: Path) -> tuple[Path, Path]:
    """Replace the content of the map file `original`, following links, and return the paths of the file and its backup.

    The backup is complete before the file is changed. Raise `RequestRefused` if too many backups exist,
    `HomeUnwritable` if writing fails, or `HomeUnsafe` if a map in a home is a link out of its folder or its folder is
    reached by a link.
    """
    check_map_path(original)
    place = Path(os.path.realpath(original))
    try:
        sweep(place.parent)
        backup = _kept(place)
        with replacing(place, stat.S_IMODE(place.stat().st_mode)) as file:
            file.write(_written(data))
    except OSError as error:
        raise HomeUnwritable(
            f"Cannot write {place} or a backup next to it: {error.strerror or error}. The map was not changed."
        ) from error
    return place, backup


def _kept(place: Path) -> Path:
    """Copy a file to the first free backup path in its folder. Raise `RequestRefused` if all are in use."""
    names = (place.with_name(f"{place.name}.bak{number if number > 1 else ''}") for number in range(1, _BACKUPS))
    backup = keeping(place, names)
    if backup is None:
        raise RequestRefused(
            f"{place} has too many backup copies (up to {place.name}.bak{_BACKUPS - 1}). Delete some of them."
        )
    return backup


def _written(data: Mapping[str, object]) -> bytes:
    from citekit.wire.indented import indented

    try:
        return (indented(data) + "\n").encode()
    except UnicodeEncodeError:  # a lone surrogate, which JSON can contain only as an escape
        return (json.dumps(data, indent=2, allow_nan=False) + "\n").encode()
