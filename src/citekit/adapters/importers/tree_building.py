"""Helpers for importing trees from other programs: unions of locations, safe parents, titles, and virtual locations."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping

from citekit.domain.locations import Chapter, Lines, Location, Pages, Virtual


def _never(first: int, last: int) -> bool:  # noqa: ARG001
    return False


def union(locations: Iterable[Location], blank: Callable[[int, int], bool] = _never) -> Location | None:
    """Return the location that covers `locations` and nothing else, or None if no single location does.

    There are two exceptions: lines that are `blank` may be covered, too, and different parts of chapters become whole
    chapters. Pages need not be consecutive.
    """
    found = list(locations)
    pages = [location for location in found if isinstance(location, Pages)]
    if found and len(pages) == len(found):
        return Pages.of(number for location in pages for number in location.numbers)
    lines = [location for location in found if isinstance(location, Lines)]
    if found and len(lines) == len(found):
        run = _joined_range(((location.first, location.last) for location in lines), blank)
        return None if run is None else Lines(*run)
    chapters = [location for location in found if isinstance(location, Chapter)]
    if not found or len(chapters) != len(found):
        return None
    if len(set(chapters)) == 1:
        return chapters[0]
    run = _joined_range((location.number, location.last) for location in chapters)
    return None if run is None else Chapter(run[0], last=run[1])


def enclosing(locations: Iterable[Location]) -> Location | None:
    """Return the smallest location that contains `locations`; None unless all are pages, all lines, or all chapters.

    Different parts of chapters become whole chapters.
    """
    found = list(locations)
    lines = [location for location in found if isinstance(location, Lines)]
    if found and len(lines) == len(found):
        return Lines(min(location.first for location in lines), max(location.last for location in lines))
    chapters = [location for location in found if isinstance(location, Chapter)]
    if len(set(chapters)) > 1 and len(chapters) == len(found):
        return Chapter(min(location.number for location in chapters), last=max(location.last for location in chapters))
    return union(found)


def _joined_range(
    ranges: Iterable[tuple[int, int]], blank: Callable[[int, int], bool] = _never
) -> tuple[int, int] | None:
    ordered = sorted(ranges)
    first, last = ordered[0]
    for start, end in ordered[1:]:
        if start > last + 1 and not blank(last + 1, start - 1):
            return None
        last = max(last, end)
    return first, last


DEPTH_LIMIT = 40
"""The maximum number of levels of an imported tree; deeper nodes move to the last level."""


def parents_of(pairs: Iterable[tuple[str, str]], known: Container[str]) -> dict[str, str]:
    """Return the parents of nodes from (node, parent) pairs; only the first pair of a node counts.

    Pairs with a name that is not `known` are ignored, and so is one pair of each cycle. A node that would be deeper
    than `DEPTH_LIMIT` levels moves up to the last level.
    """
    parents: dict[str, str] = {}
    for part, parent in pairs:
        if part in known and parent in known:
            parents.setdefault(part, parent)
    for part in _cycle_members(parents):
        del parents[part]
    return _limit_depth(parents)


def _cycle_members(parents: Mapping[str, str]) -> list[str]:
    """Return one node of each cycle in `parents`, which maps nodes to their parents."""
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


def _limit_depth(parents: Mapping[str, str]) -> dict[str, str]:
    """Return `parents` with nodes that are too deep moved up to the last level."""
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


TITLE_LIMIT = 120
SUMMARY_LIMIT = 300


def brief(text: str, limit: int) -> str:
    """Return `text` on one line without control characters; longer texts are cut to `limit` characters, including
    "...".
    """
    flat = " ".join("".join(c if c.isprintable() or c.isspace() else " " for c in text).split())
    if len(flat) <= limit:
        return flat
    head = flat[: limit - 3].rsplit(" ", 1)[0]
    return f"{head if len(head) > limit // 2 else flat[: limit - 3]}..."


def opening(text: str) -> str:
    """Return the beginning of `text` as a title of at most 60 characters, without Markdown marks at its start."""
    return brief(text[:1000].lstrip("#*-> \n\t"), 60)


def reference(scheme: str, name: str) -> Virtual:
    """Return a virtual location `scheme://name` of at most 500 characters; unprintable characters become underscores."""
    return Virtual(f"{scheme}://{''.join(c if c.isprintable() else '_' for c in name)}"[:500])
