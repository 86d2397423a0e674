"""The one place that chooses an adapter for every port, and builds the use cases on them.

Everything is made on first use, and nothing is imported before it is needed: a listing of maps never pays for the PDF
engine, and importing this pays for nothing at all.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from citekit.container.names import ADAPTERS, INDEX, MAPPERS, REQUEST_TIMEOUT

if TYPE_CHECKING:
    from pathlib import Path

    from citekit.container.container import App
    from citekit.settings import Settings

__all__ = ["ADAPTERS", "INDEX", "MAPPERS", "REQUEST_TIMEOUT", "App", "bootstrap"]


def bootstrap(settings: Settings | None = None, *, home: str | Path | None = None, **ports: Any) -> App:
    """The use cases on the adapters that the settings choose (default: those of the environment).

    `ports` replaces any of them by name: `maps`, `evidence`, `outputs`, `sources`, `locks`, `clock`, `reader`, `probe`,
    `mapper`, `extractors`, `nodes`. Nothing is opened or written here.
    """
    from citekit.container.container import App
    from citekit.settings import settings_from

    return App(settings or settings_from(os.environ, home), ports)


def __getattr__(name: str) -> Any:
    if name == "App":
        from citekit.container.container import App

        return App
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
