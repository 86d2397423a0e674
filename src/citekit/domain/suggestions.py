"""Names that somebody may have meant."""

from __future__ import annotations

import difflib
import heapq
import os
from collections.abc import Collection

LOOKED_AT = 2000
"""Names that are compared letter by letter: of more, those that begin most alike."""

LENGTH_LIMIT = 200
"""Characters of the wanted name that are compared."""


def nearest_names(wanted: str, names: Collection[str], cutoff: float = 0.6) -> list[str]:
    """Up to three of `names` that are spelt much like `wanted`, the nearest first; the work is bounded.

    `cutoff` is from 0 (anything) to 1 (the same letters); see `difflib.get_close_matches`.
    """
    wanted = wanted[:LENGTH_LIMIT]
    but_for_case = [name for name in names if name.casefold() == wanted.casefold()]
    if but_for_case:
        return but_for_case[:3]
    candidates = names
    if len(names) > LOOKED_AT:
        candidates = heapq.nlargest(LOOKED_AT, names, key=lambda name: _begin_alike(wanted, name))
    return difflib.get_close_matches(wanted, candidates, n=3, cutoff=cutoff)


def _begin_alike(left: str, right: str) -> int:
    """How many letters from the start are the same."""
    return len(os.path.commonprefix([left, right]))  # noqa: RUF071 - letters are meant, not folders
