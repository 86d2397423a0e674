"""Creates titles and locations for segments of time, and adds scenes to chapters and topics."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from attrs import evolve

from citekit.adapters.formats.shared.outline import OutlineItem, one_line
from citekit.domain.locations import TimeSpan
from citekit.domain.modality import Modality
from citekit.domain.ports.media_probe import Cue

TITLE_LIMIT = 60
"""The maximum number of characters of a title made from spoken words or from a slide."""

MIN_PART = 0.5
"""The minimum length in seconds of a part that a chapter or topic cuts off from a scene."""

_SENTENCE_END = re.compile(r"[.?!] ")

_PARENT_TYPES = frozenset(("chapter", "topic"))
"""Types of nodes that can contain scenes."""


def span(start: float, end: float, modality: Modality) -> TimeSpan:
    """Return a span of time, rounded to milliseconds.

    A time is not rounded if rounding would move the end beyond `end` or make the span empty. Times are in seconds.
    """
    low, high = round(start, 3), round(end, 3)
    high = high if high <= end else end
    return TimeSpan(low if low < high else start, high if low < high else end, modality)


def clock(seconds: float) -> str:
    """Format whole seconds for people, such as `0:41` or `1:02:03`."""
    whole = int(seconds)
    hours, minutes, rest = whole // 3600, whole // 60 % 60, whole % 60
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def numbered_title(kind: str, number: int, start: float, end: float) -> str:
    """Return a title such as `Scene 3 (0:41-0:55)`. Times are given in seconds."""
    return f"{kind} {number} ({clock(start)}-{clock(end)})"


def title_from_text(text: str) -> str:
    """Return the beginning of `text` as a title, up to the end of a sentence if that gives a suitable length."""
    ends = (end.start() for end in _SENTENCE_END.finditer(text, 0, TITLE_LIMIT + 2))
    end = next((place for place in ends if place >= 15), None)
    return one_line(text if end is None else text[: end + 1], TITLE_LIMIT)


def scenes_between(times: Sequence[float], duration: float, cues: Sequence[Cue] = ()) -> list[OutlineItem]:
    """Return an outline item for each scene, with the text of `cues` as its summary. `times` are the cuts in seconds."""
    edges = [0.0, *(round(time, 3) for time in times), duration]
    return [_scene(number, start, end, cues) for number, (start, end) in enumerate(pairwise(edges), 1)]


def _scene(number: int, start: float, end: float, cues: Sequence[Cue] = ()) -> OutlineItem:
    text = " ".join(cue.text for cue in cues if start <= cue.start < end)
    location = span(start, end, Modality.VIDEO)
    return OutlineItem(
        numbered_title("Scene", number, start, end), "scene", location, text or None, name=f"Scene {number}"
    )


def add_scenes(outline_items: Sequence[OutlineItem], times: Sequence[float], duration: float) -> list[OutlineItem]:
    """Return the items with scenes added to the innermost chapters and topics. `times` are the cuts in seconds.

    A child of a divided item becomes a child of the scene that contains it, or stays next to the scenes if it contains
    a cut.
    """
    edges = [0.0, *(round(time, 3) for time in times), duration]
    return [_split_at_cuts(outline_item, edges) for outline_item in outline_items]


def _split_at_cuts(outline_item: OutlineItem, edges: Sequence[float]) -> OutlineItem:
    if any(child.type in _PARENT_TYPES for child in outline_item.children):
        return evolve(outline_item, children=[_split_at_cuts(child, edges) for child in outline_item.children])
    location = outline_item.location
    if not isinstance(location, TimeSpan) or location.end is None:
        return outline_item
    inner = [
        (number, edge)
        for number, edge in enumerate(edges, 1)
        if location.start + MIN_PART < edge < location.end - MIN_PART
    ]
    if not inner:
        return outline_item
    starts = [location.start, *(edge for _, edge in inner)]
    ends = [*starts[1:], location.end]
    numbers = [inner[0][0] - 1, *(number for number, _ in inner)]
    return evolve(outline_item, children=_distribute(list(map(_scene, numbers, starts, ends)), outline_item.children))


def _distribute(scenes: Sequence[OutlineItem], below: Sequence[OutlineItem]) -> list[OutlineItem]:
    contents: list[list[OutlineItem]] = [[] for _ in scenes]
    siblings: list[OutlineItem] = []
    for outline_item in below:
        inside = next((n for n, scene in enumerate(scenes) if scene.location.contains(outline_item.location)), None)
        (siblings if inside is None else contents[inside]).append(outline_item)
    filled = [
        evolve(scene, children=inner, summary=" ".join(each.summary or "" for each in inner).strip() or None)
        for scene, inner in zip(scenes, contents, strict=True)
    ]
    return sorted([*filled, *siblings], key=_start)


def _start(outline_item: OutlineItem) -> float:
    return outline_item.location.start if isinstance(outline_item.location, TimeSpan) else 0.0
