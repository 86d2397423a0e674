"""Changes values in the plain data of a map."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from attrs import frozen

from citekit.domain.locations import Box, Cells, Chapter, Lines, Pages, TimeSpan, Virtual
from citekit.wire.locations import LOCATION_FIELDS, to_plain

_LOCATIONS = (Box, Cells, Chapter, Lines, Pages, TimeSpan, Virtual)
_STEP = re.compile(r"([A-Za-z_]+)(?:\[(\d+)\])?(?:\.|\Z)")

Wanted = tuple[str, Any, Any, str]
"""(path, before, after, reason). Values are locations, texts, or plain data; a path is such as
`nodes[3].children[0].location`.
"""


@frozen
class Edit:
    """A change of the value at `path` in plain data, with the reason."""

    path: str
    before: Any
    after: Any
    reason: str

    def to_plain(self) -> dict[str, Any]:
        """Return the edit as plain data."""
        return {"path": self.path, "before": self.before, "after": self.after, "reason": self.reason}


def edited(data: Mapping[str, Any], wanted: Iterable[Wanted]) -> tuple[dict[str, Any], list[Edit]]:
    """Return a copy of the map `data` with the changes in `wanted`, and a list of the values that changed.

    Values that do not change are shared between `data` and the copy. Raise `LookupError` if a path does not exist.
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
    """Change the fields of a node's location that differ, in its location object or in the node, and return the
    changes.

    `start` is the path of the node.
    """
    written = node.get("location")
    has_location = isinstance(written, dict) and any(written.get(field) is not None for field in LOCATION_FIELDS)
    holder, path = (written, f"{start}location.") if has_location else (node, start)
    assert isinstance(holder, dict)
    edits = [
        Edit(f"{path}{field}", holder.get(field), value, reason)
        for field, value in after.items()
        if field != "modality" and before.get(field) != value
    ]
    holder.update({edit.path.removeprefix(path): edit.after for edit in edits})
    return edits


def _holder(data: dict[str, Any], path: str, copied: set[int]) -> tuple[dict[str, Any], str]:
    """Return the object that contains the value at `path`, and its key.

    The object and its ancestors are copied first, unless `copied` has their `id()`.
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
