"""Defines the folders in the home folder, and finds the home folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

MAPS, OUTPUT, CACHE = ".resource_maps", ".citekit_output", ".citekit_cache"
"""The names of the folders in a home."""


def home_named(environment: Mapping[str, str], home: str | Path | None = None) -> str:
    """Return the home folder as the user wrote it: `home`, or else `CITEKIT_HOME`, or else the current folder."""
    return str(home or environment.get("CITEKIT_HOME") or ".")
