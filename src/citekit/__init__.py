"""CiteKit: the evidence layer for AI agents.

    from citekit import CiteKit

    kit = CiteKit()
    book = kit.ingest("book.pdf")
    for node in book.walk():
        print(node.id, kit.address(book.resource_id, node.id))
    evidence = kit.resolve(book.resource_id, "chapter_2")
    print(evidence.output_path, evidence.receipt)

Names are imported when they are first used, so that `import citekit` is fast. `ResourceMap`, `Node`, `Location`,
`ResolvedEvidence`, `CiteKitClient`, `parse_address`, and `build_address` are compatible with citekit 0.2. `CiteKit`
returns types of `citekit.domain` and `citekit.application`.
"""

from __future__ import annotations

import os
import sys


def _leave_the_current_folder() -> None:
    """Remove the current folder from `sys.path` if `python -m citekit` or `python -m citekit.cli` added it.

    Otherwise, a file there named `email.py` or `csv.py` could run instead of the standard module.
    """
    given = getattr(sys, "orig_argv", [])
    if sys.argv[:1] != ["-m"] or not {"-mcitekit", "-mcitekit.cli"} & {*given, *map(str.__add__, given, given[1:])}:
        return
    own = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 - no pathlib yet
    try:
        if os.getcwd() == sys.path[0] != own and not sys.flags.safe_path:  # noqa: PTH109
            del sys.path[0]
    except OSError:  # the folder no longer exists, so nothing can be imported from it
        return


_leave_the_current_folder()

import importlib  # noqa: E402 - not before the folder is removed
from typing import TYPE_CHECKING, Any  # noqa: E402

from citekit.compat.old_names import install as _install_old_names  # noqa: E402

if TYPE_CHECKING:
    from citekit.compat.adapters import GenericAdapter, GraphRAGAdapter, LlamaIndexAdapter, MapAdapter
    from citekit.compat.address import build_address, parse_address
    from citekit.compat.aggregator import create_agent_context
    from citekit.compat.client import CiteKitClient
    from citekit.compat.mapper import GeminiMapper, MapperProvider
    from citekit.compat.models import Location, Node, ResolvedEvidence, ResourceMap
    from citekit.domain.address import Address
    from citekit.domain.digest import Digest
    from citekit.domain.errors import CiteKitError
    from citekit.domain.evidence import Evidence, Form, Options, Receipt
    from citekit.domain.locations import Box, Cells, Chapter, Lines, Pages, TimeSpan, Virtual
    from citekit.domain.modality import Modality
    from citekit.entrypoints.sdk import CiteKit

_WHERE = {
    "CiteKit": "citekit.entrypoints.sdk",
    "Address": "citekit.domain.address",
    "Digest": "citekit.domain.digest",
    "CiteKitError": "citekit.domain.errors",
    "Evidence": "citekit.domain.evidence",
    "Form": "citekit.domain.evidence",
    "Options": "citekit.domain.evidence",
    "Receipt": "citekit.domain.evidence",
    "Box": "citekit.domain.locations",
    "Cells": "citekit.domain.locations",
    "Chapter": "citekit.domain.locations",
    "Lines": "citekit.domain.locations",
    "Pages": "citekit.domain.locations",
    "TimeSpan": "citekit.domain.locations",
    "Virtual": "citekit.domain.locations",
    "Modality": "citekit.domain.modality",
    "CiteKitClient": "citekit.compat.client",
    "Location": "citekit.compat.models",
    "Node": "citekit.compat.models",
    "ResolvedEvidence": "citekit.compat.models",
    "ResourceMap": "citekit.compat.models",
    "build_address": "citekit.compat.address",
    "parse_address": "citekit.compat.address",
    "create_agent_context": "citekit.compat.aggregator",
    "GeminiMapper": "citekit.compat.mapper",
    "MapperProvider": "citekit.compat.mapper",
    "GenericAdapter": "citekit.compat.adapters",
    "GraphRAGAdapter": "citekit.compat.adapters",
    "LlamaIndexAdapter": "citekit.compat.adapters",
    "MapAdapter": "citekit.compat.adapters",
}

__all__ = [
    "Address",
    "Box",
    "Cells",
    "Chapter",
    "CiteKit",
    "CiteKitClient",
    "CiteKitError",
    "Digest",
    "Evidence",
    "Form",
    "GeminiMapper",
    "GenericAdapter",
    "GraphRAGAdapter",
    "Lines",
    "LlamaIndexAdapter",
    "Location",
    "MapAdapter",
    "MapperProvider",
    "Modality",
    "Node",
    "Options",
    "Pages",
    "Receipt",
    "ResolvedEvidence",
    "ResourceMap",
    "TimeSpan",
    "Virtual",
    "build_address",
    "create_agent_context",
    "parse_address",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        from citekit.domain.distribution import DISTRIBUTION

        return version(DISTRIBUTION)
    if name not in _WHERE:
        raise AttributeError(f"module 'citekit' has no attribute {name!r}")
    return getattr(importlib.import_module(_WHERE[name]), name)


_install_old_names()
