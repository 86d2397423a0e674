"""The folders in a home."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

MAPS, OUTPUT, CACHE = ".resource_maps", ".citekit_output", ".citekit_cache"
"""The names of the folders in a home."""


def home_named(environment: Mapping[str, str], home: str | Path | None = None) -> str:
    """The home as the user wrote it: `home`, else `CITEKIT_HOME`, else the current folder."""
    return str(home or environment.get("CITEKIT_HOME") or ".")
