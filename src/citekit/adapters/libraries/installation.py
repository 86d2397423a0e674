"""Checks for the `doctor` command: installed packages, the state of the index, and leftover files."""

from __future__ import annotations

import importlib
import importlib.util
import os
import platform
import re
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from importlib import metadata
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from urllib.parse import quote

from citekit.adapters.libraries.ffmpeg import program
from citekit.adapters.libraries.model_files import without_telemetry
from citekit.adapters.system.files import LEFTOVER_AGE, is_temporary
from citekit.adapters.system.home_files import check_database, check_folder
from citekit.domain.distribution import DISTRIBUTION
from citekit.domain.errors import DriverMissing

_NAME = re.compile(r"[A-Za-z0-9._-]+")
_EXTRA = re.compile(r"extra\s*==\s*['\"]([^'\"]+)['\"]")
_MAKING = "making"

_EVERYTHING = "all"
"""The extra that contains the others."""

Package = tuple[str, str | None, tuple[str, ...], str | None]
"""(name, version, extras that contain it, reason why it cannot be loaded) of a package. Version and reason may be None.
"""


def packages() -> Iterator[Package]:
    """Yield the name, version, extras, and load error of Python, CiteKit, and each package in CiteKit's metadata.

    Packages with compiled modules are imported, because they may have been built for another platform.
    """
    yield "python", platform.python_version(), (), None
    yield DISTRIBUTION, _version(DISTRIBUTION), (), None
    modules = _modules()
    extras: dict[str, set[str]] = {}
    for requirement in _requirements():
        if name := _NAME.match(requirement):
            extras.setdefault(name[0], set()).update(_EXTRA.findall(requirement))
    for package, containing in extras.items():
        version = _version(package)
        fault = None if version is None else _load_fault(package, modules.get(_normal(package)))
        yield package, version, tuple(sorted(containing - {_EVERYTHING})), fault


def other_project() -> str | None:
    """Return the version of the distribution `citekit`, which is another project's, or None."""
    return _version("citekit")


def ffmpeg() -> str | None:
    """Return the path of the ffmpeg program; None if it is not installed."""
    try:
        return program()
    except DriverMissing:
        return None


def index_fault(folder: Path) -> str | None:
    """Return a description of the damage to the index in `folder`; None if it is intact, missing, or cannot be opened
    now.

    Raise `HomeUnsafe` if the path is unsafe (see `check_database`).
    """
    database = folder / "cache.db"
    check_database(database)
    if not database.exists():
        return None
    try:
        with closing(
            sqlite3.connect(f"file:{quote(os.fsencode(database))}?mode=ro", uri=True, timeout=5)
        ) as connection:
            [found] = connection.execute("PRAGMA quick_check(1)").fetchone()
            connection.execute("SELECT key, value FROM Cache LIMIT 1").fetchone()
    except sqlite3.Error as error:
        return None if _is_unreachable(error) else f"{folder} is damaged: {error}"
    return None if found == "ok" else f"{folder} is damaged: {found}"


def leftovers(folders: Sequence[Path]) -> list[Path]:
    """Return the temporary files and the folders of unfinished evidence below `folders`, sorted by path.

    Those that have changed within an hour are left out. Raise `HomeUnsafe` if one of `folders` is unsafe (see
    `check_folder`).
    """
    horizon = time.time() - LEFTOVER_AGE
    found = []
    for folder in folders:
        check_folder(folder)
        for here, names, files in os.walk(folder):
            unfinished = names if Path(here).name == _MAKING else []
            candidates = [*unfinished, *filter(is_temporary, files)]
            found += [path for name in candidates if _is_older(path := Path(here, name), horizon)]
    return sorted(found)


def clean(folders: Sequence[Path]) -> int:
    """Remove the temporary files of `leftovers`, and return how many were removed. Raise the errors of `leftovers`."""
    cleaned = 0
    for path in leftovers(folders):
        if is_temporary(path.name):
            with suppress(OSError):
                path.unlink()
                cleaned += 1
    return cleaned


def _is_older(path: Path, horizon: float) -> bool:
    with suppress(OSError):
        return os.lstat(path).st_mtime < horizon
    return False


def _is_unreachable(error: sqlite3.Error) -> bool:
    """Return whether `error` means only that the database cannot be opened now."""
    code = getattr(error, "sqlite_errorcode", None)
    near = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY}
    return isinstance(code, int) and code & 0xFF in near


def _requirements() -> Sequence[str]:
    try:
        return metadata.requires(DISTRIBUTION) or ()
    except metadata.PackageNotFoundError:
        return ()


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _modules() -> dict[str, str]:
    """Return one public module for each installed package by normalized name, preferably with the same name."""
    found: dict[str, str] = {}
    for module, names in metadata.packages_distributions().items():
        for name in map(_normal, names):
            if module.isidentifier() and not module.startswith("_") and (name not in found or _normal(module) == name):
                found[name] = module
    return found


def _normal(name: str) -> str:
    """Return the normalized form of a package name (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _load_fault(name: str, module: str | None) -> str | None:
    without_telemetry()
    try:
        if module is not None and _is_compiled(name):
            importlib.import_module(module)
        elif module is not None and importlib.util.find_spec(module) is None:
            return f"there is no module {module}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def _is_compiled(name: str) -> bool:
    endings = tuple(EXTENSION_SUFFIXES)
    return any(file.name.endswith(endings) for file in metadata.files(name) or ())
