"""The module names of citekit 0.2, found only when somebody imports them."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

MOVED = {
    "citekit.models": "citekit.compat.models",
    "citekit.client": "citekit.compat.client",
    "citekit.address": "citekit.compat.address",
    "citekit.aggregator": "citekit.compat.aggregator",
    "citekit.mapper": "citekit.compat.mapper",
    "citekit.mapper.base": "citekit.compat.mapper",
    "citekit.mapper.gemini": "citekit.compat.mapper",
    "citekit.mcp_server": "citekit.entrypoints.mcp.server",
}
"""What stood where in 0.2, and where it stands now."""


class OldNames:
    """Finds a module of 0.2 under its old name: the same module object, so its classes are the same classes."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """A spec for one of the old names."""
        del path, target
        if fullname not in MOVED:
            return None
        # Not a subclass of `Loader`: importing `importlib.abc` would cost every start 10 ms.
        return ModuleSpec(fullname, self, is_package=fullname == "citekit.mapper")  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module of today."""
        return importlib.import_module(MOVED[spec.name])

    def exec_module(self, module: ModuleType) -> None:
        """Nothing: it ran when it was imported under its own name."""


def install() -> None:
    """Let the old names be found, after everything that is really there."""
    if not any(isinstance(finder, OldNames) for finder in sys.meta_path):
        sys.meta_path.append(OldNames())
