"""Chooses the adapter for every port, and builds the use cases with them. No other package chooses adapters.

Everything is imported and created on first use, so that, for example, a listing of maps does not load parsers.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Unpack

from citekit.container.names import ADAPTERS, INDEX, MAPPERS, REQUEST_TIMEOUT

if TYPE_CHECKING:
    from pathlib import Path

    from citekit.container.container import Container
    from citekit.container.ports import Ports
    from citekit.settings import Settings

__all__ = ["ADAPTERS", "INDEX", "MAPPERS", "REQUEST_TIMEOUT", "Container", "bootstrap"]


def bootstrap(settings: Settings | None = None, *, home: str | Path | None = None, **ports: Unpack[Ports]) -> Container:
    """Return the use cases of a home, with the adapters that the settings choose (default: the settings in the
    environment).

    `ports` replaces adapters by name. Opens and writes nothing. Raise `TypeError` for a name that is not a port, and
    `RequestRefused` for an invalid setting.
    """
    from citekit.container.container import Container
    from citekit.container.ports import check_names
    from citekit.settings import settings_from

    return Container(settings or settings_from(os.environ, home), check_names(ports))


def __getattr__(name: str) -> object:
    if name == "Container":
        from citekit.container.container import Container

        return Container
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
