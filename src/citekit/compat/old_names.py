"""Makes the module names of citekit 0.2 importable, without importing the modules in advance."""

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
"""Module names of 0.2, and the modules that replace them."""


class OldNames:
    """Finds a module under its 0.2 name. It is the same module object, so its classes are identical."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return a spec for one of the old names."""
        del path, target
        if fullname not in MOVED:
            return None
        # Not a subclass of `Loader`: importing `importlib.abc` would cost every start 10 ms.
        return ModuleSpec(fullname, self, is_package=fullname == "citekit.mapper")  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the current module."""
        return importlib.import_module(MOVED[spec.name])

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: the module has run under its current name."""


def install() -> None:
    """Register the finder after all others, so that existing modules take precedence."""
    if not any(isinstance(finder, OldNames) for finder in sys.meta_path):
        sys.meta_path.append(OldNames())
