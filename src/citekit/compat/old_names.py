"""Makes modules importable under their names in citekit 0.2."""

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
    **{
        f"citekit.resolvers{name}": "citekit.compat.resolvers"
        for name in ("", ".base", ".document", ".image", ".video", ".audio", ".text")
    },
    "citekit.mcp_server": "citekit.entrypoints.mcp.server",
}
"""Module names of 0.2, and the modules that replace them."""

_PACKAGES = frozenset({"citekit.mapper", "citekit.resolvers"})


class OldNames:
    """An import finder and loader that provides the current modules under the module names of citekit 0.2."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return an import spec if `fullname` is a module name of citekit 0.2, else None."""
        del path, target
        if fullname not in MOVED:
            return None
        # Not a subclass of `Loader`: importing `importlib.abc` would add 10 ms to every start.
        return ModuleSpec(fullname, self, is_package=fullname in _PACKAGES)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Import and return the current module that replaces the old name in `spec`."""
        return importlib.import_module(MOVED[spec.name])

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing, because `create_module` has already run the module under its current name."""


def install() -> None:
    """Add the finder to the end of `sys.meta_path`, so that other modules with the same names take precedence."""
    if not any(isinstance(finder, OldNames) for finder in sys.meta_path):
        sys.meta_path.append(OldNames())
