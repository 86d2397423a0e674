"""Reads the user's settings from environment variables.

Names are imported on first use, so that a fast command loads only what it needs.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from citekit.settings.chosen import Settings, settings_from
    from citekit.settings.library import TOOLSETS, LibrarySettings, read_toolsets
    from citekit.settings.reading import expanded, read_size
    from citekit.settings.variables import VARIABLES

__all__ = [
    "TOOLSETS",
    "VARIABLES",
    "LibrarySettings",
    "Settings",
    "expanded",
    "read_size",
    "read_toolsets",
    "settings_from",
]

_WHERE = {
    "TOOLSETS": "library",
    "VARIABLES": "variables",
    "LibrarySettings": "library",
    "Settings": "chosen",
    "expanded": "reading",
    "read_size": "reading",
    "read_toolsets": "library",
    "settings_from": "chosen",
}


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"citekit.settings.{_WHERE[name]}"), name)
