"""Chooses an adapter for every port (interface), and creates the use cases with these adapters.

Modules are imported and objects are created on first use, so that, for example, listing maps does not load any parser.
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
    """Return the container with the use cases of one home.

    `settings` choose the adapters; by default, they are read from the environment and apply to the folder `home`.
    `ports` replace these adapters by port name. Raise `TypeError` for a name that is not a port, and `RequestRefused`
    for an invalid setting.
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
