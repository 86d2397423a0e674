"""Creates outline items for the slides of a lecture, and for other pictures with text that a video shows for a while."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from attrs import evolve

from citekit.adapters.formats.media.outline.time_segments import TITLE_LIMIT, numbered_title, span
from citekit.adapters.formats.media.outline.topics import MAX_TOPIC, cue_items, summary_of, topics_from_cues
from citekit.adapters.formats.shared.outline import SUMMARY_LIMIT, OutlineItem, one_line
from citekit.domain.locations import TimeSpan
from citekit.domain.modality import Modality
from citekit.domain.ports.media_probe import Cue
from citekit.domain.screen_text import Slide

LECTURE_SHARE = 0.5
"""The minimum share of a lecture during which slides are shown."""

MIN_SLIDES = 2
"""The minimum number of slides of a lecture."""

_MAX_GAP = 5.0
"""The minimum length in seconds of a part without a slide that is an item of its own.

A shorter part counts as an animation or an unreadable slide.
"""

_SHOWN_LIMIT = 160
"""The maximum number of characters of a slide's text in a summary that also contains what is said."""

_PARENT_TYPES = frozenset(("chapter", "topic", "scene"))


def is_lecture(slides: Sequence[Slide], duration: float) -> bool:
    """Return whether a video of `duration` seconds shows at least `MIN_SLIDES` slides for at least `LECTURE_SHARE` of
    it.
    """
    shown = sum(slide.end - slide.start for slide in slides)
    return len(slides) >= MIN_SLIDES and shown >= LECTURE_SHARE * duration


def slide_items(slides: Sequence[Slide], cues: Sequence[Cue], start: float, end: float) -> list[OutlineItem]:
    """Return an item for each slide shown between `start` and `end` (seconds); an empty list if there is none.

    Longer parts without a slide are topics, or scenes if nothing is said in them.
    """
    inside = [slide for slide in slides if slide.start < end and start < slide.end]
    items: list[OutlineItem] = []
    edges = [*(max(slide.start, start) for slide in inside), end]
    if inside and edges[0] - start >= _MAX_GAP:
        items += _without_slide(cues, start, edges[0], 1)
    elif inside:
        edges[0] = start
    for slide, (begin, upcoming) in zip(inside, pairwise(edges), strict=True):
        finish = upcoming if upcoming - slide.end < _MAX_GAP else slide.end
        items.append(_slide(slide, cues, begin, finish))
        if finish < upcoming:
            items += _without_slide(cues, finish, upcoming, len(items) + 1)
    return items


def add_slides(items: Sequence[OutlineItem], slides: Sequence[Slide]) -> list[OutlineItem]:
    """Return the items with each slide below the item that it overlaps most, cut to the time of the item that contains
    it.

    Slides that overlap no item are left out.
    """
    added = list(items)
    for slide in slides:
        overlaps = [_overlap(item, slide) for item in added]
        if overlaps and max(overlaps) > 0:
            place = overlaps.index(max(overlaps))
            added[place] = _with_slide(added[place], slide)
    return added


def _with_slide(item: OutlineItem, slide: Slide) -> OutlineItem:
    location = item.location
    assert isinstance(location, TimeSpan)
    for place, child in enumerate(item.children):
        if child.type in _PARENT_TYPES and _overlap(child, slide) >= slide.end - slide.start:
            children = [*item.children[:place], _with_slide(child, slide), *item.children[place + 1 :]]
            return evolve(item, children=children)
    begin, end = max(slide.start, location.start), min(slide.end, location.end or slide.end)
    made = _slide(slide, (), begin, end)
    children = sorted([*item.children, made], key=lambda each: _start(each))
    return evolve(item, children=children, summary=item.summary or made.summary)


def _start(item: OutlineItem) -> float:
    return item.location.start if isinstance(item.location, TimeSpan) else 0.0


def _overlap(item: OutlineItem, slide: Slide) -> float:
    location = item.location
    if not isinstance(location, TimeSpan) or location.end is None:
        return 0.0
    return min(location.end, slide.end) - max(location.start, slide.start)


def _slide(slide: Slide, cues: Sequence[Cue], start: float, end: float) -> OutlineItem:
    said = list(_clipped(cues, start, end))
    children = (
        topics_from_cues(said, end, Modality.VIDEO) if end - start > MAX_TOPIC else cue_items(said, Modality.VIDEO)
    )
    text = " ".join(slide.text.split("\n"))
    spoken = summary_of(said)
    limit = SUMMARY_LIMIT if spoken is None else _SHOWN_LIMIT
    summary = f"Shown: {one_line(text, limit)}" + (f" Said: {spoken}" if spoken else "")
    return OutlineItem(
        one_line(slide.title, TITLE_LIMIT), "slide", span(start, end, Modality.VIDEO), summary, children=children
    )


def _clipped(cues: Sequence[Cue], start: float, end: float) -> Iterator[Cue]:
    """Yield the cues whose middle is between two times, cut to these times."""
    for cue in cues:
        if start <= (cue.start + cue.end) / 2 < end:
            yield evolve(cue, start=max(cue.start, start), end=min(cue.end, end))


def _without_slide(cues: Sequence[Cue], start: float, end: float, number: int) -> list[OutlineItem]:
    said = list(_clipped(cues, start, end))
    if said:
        return topics_from_cues(said, end, Modality.VIDEO)
    title = numbered_title("Scene", number, start, end)
    return [OutlineItem(title, "scene", span(start, end, Modality.VIDEO), name=f"Scene {number}")]
