"""Numbers that are moved to their bounds, as the contract of the tools has it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

BOUNDS: Mapping[str, Mapping[str, tuple[float, float]]] = {
    "alexandria_query": {"limit": (1, 20), "threshold": (0.0, 1.0)},
    "alexandria_search": {"limit": (1, 100)},
    "alexandria_ingest_preview": {"limit": (1, 50)},
    "alexandria_batch_ingest": {"limit": (1, 50)},
}
"""The least and the most of arguments, by tool. Others that are beyond sense are refused."""


def clamped(tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments, each in its bounds."""
    bounds = BOUNDS.get(tool, {})
    return {**arguments, **{name: min(max(arguments[name], low), high) for name, (low, high) in bounds.items()}}
