"""Changes made in the written form of a map, so that whatever else is written there stays as it is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from attrs import frozen

from citekit.domain.locations import Box, Cells, Chapter, Lines, Pages, TimeSpan, Virtual
from citekit.wire.locations import PLACE_FIELDS, to_plain

_LOCATIONS = (Box, Cells, Chapter, Lines, Pages, TimeSpan, Virtual)
_STEP = re.compile(r"([A-Za-z_]+)(?:\[(\d+)\])?(?:\.|\Z)")

Wanted = tuple[str, Any, Any, str]
"""(path, before, after, reason): a location, a text or plain data, as `nodes[3].children[0].location`."""


@frozen
class Edit:
    """One value that was changed in plain data: the path of that very value, and why."""

    path: str
    before: Any
    after: Any
    reason: str

    def to_plain(self) -> dict[str, Any]:
        """As plain data."""
        return {"path": self.path, "before": self.before, "after": self.after, "reason": self.reason}


def edited(data: Mapping[str, Any], wanted: Iterable[Wanted]) -> tuple[dict[str, Any], list[Edit]]:
    """A copy of the map `data` with the changes made, and each value that differs. Raises `LookupError` for a wrong path.

    What is not changed is the very same in both, however deep it is.
    """
    changed, copied = dict(data), set[int]()
    edits: list[Edit] = []
    for path, before, after, reason in wanted:
        above, name = _holder(changed, path, copied)
        start = path.removesuffix(name)
        if isinstance(after, _LOCATIONS):
            if isinstance(above.get("location"), dict):
                above["location"] = dict(above["location"])
            edits += _moved(above, start, to_plain(before), to_plain(after), reason)
        else:
            edits.append(Edit(path, above.get(name), after, reason))
            above[name] = after
    return changed, edits


def _moved(
    node: dict[str, Any], start: str, before: Mapping[str, Any], after: Mapping[str, Any], reason: str
) -> list[Edit]:
    """The fields of a place that differ, written where the node has its place: in its location, or on the node itself."""
    written = node.get("location")
    has_place = isinstance(written, dict) and any(written.get(field) is not None for field in PLACE_FIELDS)
    holder, path = (written, f"{start}location.") if has_place else (node, start)
    assert isinstance(holder, dict)
    edits = [
        Edit(f"{path}{field}", holder.get(field), value, reason)
        for field, value in after.items()
        if field != "modality" and before.get(field) != value
    ]
    holder.update({edit.path.removeprefix(path): edit.after for edit in edits})
    return edits


def _holder(data: dict[str, Any], path: str, copied: set[int]) -> tuple[dict[str, Any], str]:
    """The object that holds what is at `path`, and under which name; copied, and all above it, unless they were before.

    `copied` are the ids of copies, which `data` keeps alive.
    """
    steps = _STEP.findall(path)
    here: Any = data
    for name, at in steps[:-1]:
        for key in (name, int(at)) if at else (name,):
            if id(here[key]) not in copied:
                here[key] = here[key].copy()
                copied.add(id(here[key]))
            here = here[key]
    return here, steps[-1][0]
