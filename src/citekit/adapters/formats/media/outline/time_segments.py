"""Titles and spans of stretches of time.

Scenes below the chapters or topics that they belong to.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from attrs import evolve

from citekit.adapters.formats.shared.outline import Draft, one_line
from citekit.domain.locations import TimeSpan
from citekit.domain.modality import Modality
from citekit.domain.ports.media_probe import Cue

TITLE_LIMIT = 60
"""Characters of a title that is made of what is said."""


def span(start: float, end: float, modality: Modality) -> TimeSpan:
    """The span in whole milliseconds, where that does not lead beyond `end` nor leaves nothing between."""
    low, high = round(start, 3), round(end, 3)
    high = high if high <= end else end
    return TimeSpan(low if low < high else start, high if low < high else end, modality)


def clock(seconds: float) -> str:
    """A time as people write it, whole seconds: `0:41`, `1:02:03`."""
    whole = int(seconds)
    hours, minutes, rest = whole // 3600, whole // 60 % 60, whole % 60
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def numbered_title(kind: str, number: int, start: float, end: float) -> str:
    """`Scene 3 (0:41-0:55)`."""
    return f"{kind} {number} ({clock(start)}-{clock(end)})"


def title_from_text(text: str) -> str:
    """The first sentence of what is said, or its first words."""
    for mark in (". ", "? ", "! "):
        head, found, _ = text.partition(mark)
        if found and 15 <= len(head) <= TITLE_LIMIT:
            text = head + mark.strip()
            break
    return one_line(text, TITLE_LIMIT)


MIN_PART = 0.5
"""Seconds of a scene that is cut off by the edge of a chapter or topic; a shorter piece goes with its neighbour."""

_PARENT_TYPES = frozenset(("chapter", "topic"))
"""Types of nodes below which scenes lie."""


def scenes_between(times: Sequence[float], duration: float, cues: Sequence[Cue] = ()) -> list[Draft]:
    """A draft for every stretch between two cuts, which says what is said in it."""
    edges = [0.0, *(round(time, 3) for time in times), duration]
    return [_scene(number, start, end, cues) for number, (start, end) in enumerate(pairwise(edges), 1)]


def _scene(number: int, start: float, end: float, cues: Sequence[Cue] = ()) -> Draft:
    said = " ".join(cue.text for cue in cues if start <= cue.start < end)
    place = span(start, end, Modality.VIDEO)
    return Draft(numbered_title("Scene", number, start, end), "scene", place, said or None, name=f"Scene {number}")


def add_scenes(drafts: Sequence[Draft], times: Sequence[float], duration: float) -> list[Draft]:
    """The drafts with the scenes that each is made of below it; one in which nothing is cut stays as it is.

    Numbers of scenes are those of the whole film. What was below a draft (topics, cues) goes into the scene that holds
    it; what runs over a cut stays beside the scenes, in order of time.
    """
    edges = [0.0, *(round(time, 3) for time in times), duration]
    return [_split_at_cuts(draft, edges) for draft in drafts]


def _split_at_cuts(draft: Draft, edges: Sequence[float]) -> Draft:
    if any(child.type in _PARENT_TYPES for child in draft.children):
        return evolve(draft, children=[_split_at_cuts(child, edges) for child in draft.children])
    place = draft.location
    if not isinstance(place, TimeSpan) or place.end is None:
        return draft
    inner = [
        (number, edge) for number, edge in enumerate(edges, 1) if place.start + MIN_PART < edge < place.end - MIN_PART
    ]
    if not inner:
        return draft
    starts = [place.start, *(edge for _, edge in inner)]
    ends = [*starts[1:], place.end]
    numbers = [inner[0][0] - 1, *(number for number, _ in inner)]
    return evolve(draft, children=_distribute(list(map(_scene, numbers, starts, ends)), draft.children))


def _distribute(parts: Sequence[Draft], below: Sequence[Draft]) -> list[Draft]:
    held: list[list[Draft]] = [[] for _ in parts]
    beside: list[Draft] = []
    for draft in below:
        inside = next((n for n, part in enumerate(parts) if part.location.contains(draft.location)), None)
        (beside if inside is None else held[inside]).append(draft)
    filled = [
        evolve(part, children=inner, summary=" ".join(each.summary or "" for each in inner).strip() or None)
        for part, inner in zip(parts, held, strict=True)
    ]
    return sorted([*filled, *beside], key=_start)


def _start(draft: Draft) -> float:
    return draft.location.start if isinstance(draft.location, TimeSpan) else 0.0
