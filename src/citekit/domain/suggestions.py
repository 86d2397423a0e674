"""Finds names that another spelling means, and suggests corrections of misspelled names."""

from __future__ import annotations

import difflib
import heapq
import os
import re
from collections.abc import Collection, Iterable

COMPARED_NAMES = 2000
"""Maximum number of names that are compared in full: those with the longest prefix in common with the wanted name."""

LENGTH_LIMIT = 200
"""Number of characters of the wanted name that are compared."""


_SEPARATORS = re.compile(r"[\W_]+")


def name_meant(wanted: str, names: Iterable[str]) -> str | None:
    """Return the one of `names` that equals `wanted`, with or without its file suffix, except for case and separators.

    Return None if none does. If several do, return the only one that equals it with its suffix, or None.

    >>> name_meant("Manual-1.3.pdf", ["manual_1_3", "manual-1-4"])
    'manual_1_3'
    """
    whole = _spelling(wanted)
    keys = {whole, _spelling(wanted.rpartition(".")[0])} - {""}
    found = [name for name in names if _spelling(name) in keys]
    closest = [name for name in found if _spelling(name) == whole]
    best = closest or found
    return best[0] if len(best) == 1 else None


def _spelling(name: str) -> str:
    """Return the letters and digits of a name, with one hyphen between groups of them."""
    return _SEPARATORS.sub("-", name.casefold()).strip("-")


def nearest_names(wanted: str, names: Collection[str], cutoff: float = 0.6) -> list[str]:
    """Return up to three of `names` whose spelling is similar to `wanted`, most similar first.

    If names equal `wanted` except for case, return only these. `cutoff` is as in `difflib.get_close_matches`.
    """
    wanted = wanted[:LENGTH_LIMIT]
    but_for_case = [name for name in names if name.casefold() == wanted.casefold()]
    if but_for_case:
        return but_for_case[:3]
    candidates = names
    if len(names) > COMPARED_NAMES:
        candidates = heapq.nlargest(COMPARED_NAMES, names, key=lambda name: _begin_alike(wanted, name))
    return difflib.get_close_matches(wanted, candidates, n=3, cutoff=cutoff)


def _begin_alike(left: str, right: str) -> int:
    """Return the number of characters that both texts begin with."""
    return len(os.path.commonprefix([left, right]))  # noqa: RUF071 - compares letters, not path components
