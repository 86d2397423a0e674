"""What the user decided: read once, from flags and the environment.

Names are imported when they are first used: a start that needs one folder pays for no other setting.
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
