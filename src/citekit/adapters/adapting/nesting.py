"""Which part lies in which, told by data that may be wrong."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping

DEPTH_LIMIT = 40
"""Levels of a tree that is made of foreign data; deeper parts stand on the last level."""


def parents_of(told: Iterable[tuple[str, str]], known: Container[str]) -> dict[str, str]:
    """The parent of every part that has one, from (part, parent) pairs: the first pair of a part counts.

    Pairs with a name that is not `known` are left out, and so is one pair of every circle. Nothing lies deeper than
    `DEPTH_LIMIT` levels.
    """
    parents: dict[str, str] = {}
    for part, parent in told:
        if part in known and parent in known:
            parents.setdefault(part, parent)
    for part in _closing_circles(parents):
        del parents[part]
    return _flattened(parents)


def _closing_circles(parents: Mapping[str, str]) -> list[str]:
    """One part of every circle."""
    found, done = [], set[str]()
    for start in parents:
        path: dict[str, None] = {}
        part = start
        while part in parents and part not in done and part not in path:
            path[part] = None
            part = parents[part]
        if part in path:
            found.append(part)
        done |= path.keys()
    return found


def _flattened(parents: Mapping[str, str]) -> dict[str, str]:
    """The same tree, whose parts below the last level hang where those of the last level do."""
    lines: dict[str, tuple[str, ...]] = {}
    flat: dict[str, str] = {}
    for start in parents:
        path = [start]
        while path[-1] in parents and path[-1] not in lines:
            path.append(parents[path[-1]])
        for part in reversed(path):
            above = lines[parents[part]] if part in parents else ()
            lines.setdefault(part, (*above, part)[:DEPTH_LIMIT] if len(above) < DEPTH_LIMIT else (*above[:-1], part))
            if part in parents:
                flat[part] = lines[part][-2]
    return flat
