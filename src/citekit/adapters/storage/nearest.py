"""Ids that somebody may have meant."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

LOOKED_AT = 2000
"""Ids that are compared letter by letter; of more, only those that begin alike."""


def nearest_ids(wanted: str, ids: Sequence[str]) -> Sequence[str]:
    """Up to three of `ids` that are spelt much like `wanted`, the nearest first; the work is bounded."""
    start = wanted[:2].casefold()
    candidates = ids if len(ids) <= LOOKED_AT else [each for each in ids if each[:2].casefold() == start][:LOOKED_AT]
    return difflib.get_close_matches(wanted[:200], candidates, n=3, cutoff=0.6)
