"""Chapter marks inside a container, as a list in which parts come before the chapters that they hold."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import define

from citekit.adapters.formats.media.chapters_id3 import read_id3_chapters
from citekit.adapters.formats.media.chapters_matroska import read_matroska_chapters
from citekit.adapters.formats.media.streams import start_time
from citekit.domain.ports.media_probe import Cue

if TYPE_CHECKING:
    from av.container import InputContainer

CHAPTER_LIMIT = 10_000
"""Marks that are read at most."""

TIMED_FROM_FIRST_SOUND = frozenset(("mp3",))
"""Formats whose marks count from the first sound that is played (ID3v2 `CHAP`), not by the times of their packets: those of
an MP3 begin after the delay of its encoder, which players skip."""

TOLERANCE = 0.001
"""Seconds that two marks may be apart and mean the same moment."""

_TITLE_TAG = re.compile(r"CHAPTER(\d{1,6})NAME", re.IGNORECASE)


@define
class ChapterMark:
    """One mark as it is in the file; `end` is not after `start` where the file does not say it.

    `level` is how deep it lies, from 0, in a file that says it.
    """

    start: float
    end: float
    title: str
    has_children: bool = False
    level: int | None = None


def read_chapters(container: InputContainer, path: Path, duration: float) -> list[Cue]:
    """The marks that begin inside `duration`, by start, a part before the chapters inside it.

    Ends that are missing, or run into the next chapter without holding it, are those of the next start.
    """
    zero = 0.0 if container.format.name in TIMED_FROM_FIRST_SOUND else start_time(container)
    found = container.chapters()[:CHAPTER_LIMIT]
    nested = _nested_marks(container.format.name, path, zero) if found else []
    marks = nested or _flat_marks(container, found, zero)
    for mark in marks:
        mark.start, mark.end, mark.title = max(mark.start, 0.0), min(mark.end, duration), " ".join(mark.title.split())
    return arrange_chapters((mark for mark in marks if mark.start < duration), duration)


def _nested_marks(format_name: str, path: Path, zero: float) -> list[ChapterMark]:
    """The marks of formats that say how they are nested, where the file does."""
    found = read_matroska_chapters(path) if "matroska" in format_name else read_id3_chapters(path)
    return [ChapterMark(each.start - zero, each.end - zero, each.title, level=each.level) for each in found]


def _flat_marks(container: InputContainer, found: Sequence[Any], zero: float) -> list[ChapterMark]:
    names = _titles_from_tags(container)
    marks = []
    for said in found:
        base = said["time_base"] or Fraction(1, 1000)
        start, end = (float(said[edge] * base) - zero for edge in ("start", "end"))
        marks.append(ChapterMark(start, end, said["metadata"].get("title") or names.get(said["id"], "")))
    return marks


def _titles_from_tags(container: InputContainer) -> dict[int, str]:
    """Titles by number that FFmpeg leaves among the tags: a Vorbis comment `CHAPTER003NAME` before its `CHAPTER003`."""
    found: dict[int, str] = {}
    for tags in (container.metadata, *(stream.metadata for stream in container.streams.audio)):
        for key, value in tags.items():
            if (named := _TITLE_TAG.fullmatch(key)) is not None:
                found.setdefault(int(named[1]), value)
    return found


def arrange_chapters(found: Iterable[ChapterMark], duration: float) -> list[Cue]:
    """Marks in any order as stretches of which any two are apart, or one holds the other.

    A mark holds others that lie deeper; where the file does not say how deep, it holds others where the first one in it
    ends before it does: one that reaches to the same end is its follower, for some programs let every chapter end with the
    file. Of two marks of one stretch and one level the first is kept.
    """
    marks = _sorted_without_duplicates(found)
    around: list[ChapterMark] = []
    for number, mark in enumerate(marks):
        while around and around[-1].end <= mark.start + TOLERANCE:
            around.pop()
        if mark.end <= mark.start:
            following = marks[number + 1].start if number + 1 < len(marks) else duration
            mark.end = min(following, around[-1].end if around else duration)
        while around and not _is_inside(mark, around[-1]):
            around.pop().end = mark.start
        if around:
            around[-1].has_children = True
            mark.end = min(mark.end, around[-1].end)
        around.append(mark)
    return [Cue(mark.start, mark.end, mark.title) for mark in marks if mark.end > mark.start]


def _is_inside(mark: ChapterMark, outer: ChapterMark) -> bool:
    if mark.level is not None and outer.level is not None:
        return mark.level > outer.level
    return mark.end < outer.end - TOLERANCE or (outer.has_children and mark.end <= outer.end + TOLERANCE)


def _sorted_without_duplicates(found: Iterable[ChapterMark]) -> list[ChapterMark]:
    kept: list[ChapterMark] = []
    for mark in sorted(found, key=lambda one: (one.start, -max(one.end, one.start), one.level or 0)):
        same = bool(kept) and mark.start - kept[-1].start < TOLERANCE and abs(mark.end - kept[-1].end) < TOLERANCE
        same = same and mark.level == kept[-1].level
        if same:
            kept[-1].title = kept[-1].title or mark.title
        else:
            kept.append(mark)
    return kept
