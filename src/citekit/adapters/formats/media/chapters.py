"""Reads the chapters stored in a video or audio file. A chapter precedes the chapters inside it."""

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
"""The maximum number of chapters that are read."""

TIMED_FROM_FIRST_SOUND = frozenset(("mp3",))
"""Formats whose chapter times count from the first sound that players play (ID3v2 `CHAP`).

Players skip the encoder delay of an MP3, but packet times include it.
"""

TOLERANCE = 0.001
"""The largest difference, in seconds, between two times that count as equal."""

_TITLE_TAG = re.compile(r"CHAPTER(\d{1,6})NAME", re.IGNORECASE)


@define
class ChapterMark:
    """A chapter as stored in the file. Times are in seconds.

    If `end` is not after `start`, it is unknown. `level` is the nesting depth from 0, or None if it is unknown.
    """

    start: float
    end: float
    title: str
    has_children: bool = False
    level: int | None = None


def read_chapters(container: InputContainer, path: Path, duration: float) -> list[Cue]:
    """Return the chapters that start before `duration` (seconds), sorted by start. A chapter precedes those inside it.

    A chapter that has no end, or that overlaps the next one without containing it, ends where the next one starts.
    """
    zero = 0.0 if container.format.name in TIMED_FROM_FIRST_SOUND else start_time(container)
    found = container.chapters()[:CHAPTER_LIMIT]
    nested = _nested_marks(container.format.name, path, zero) if found else []
    marks = nested or _flat_marks(container, found, zero)
    for mark in marks:
        mark.start, mark.end, mark.title = max(mark.start, 0.0), min(mark.end, duration), " ".join(mark.title.split())
    return arrange_chapters((mark for mark in marks if mark.start < duration), duration)


def _nested_marks(format_name: str, path: Path, zero: float) -> list[ChapterMark]:
    """Return the chapters of a file whose format can store nested chapters, or an empty list.

    `zero` (seconds) is subtracted from all times.
    """
    chapters = read_matroska_chapters(path) if "matroska" in format_name else read_id3_chapters(path)
    return [ChapterMark(each.start - zero, each.end - zero, each.title, level=each.level) for each in chapters]


def _flat_marks(container: InputContainer, chapters: Sequence[Any], zero: float) -> list[ChapterMark]:
    titles = _titles_from_tags(container)
    marks = []
    for chapter in chapters:
        base = chapter["time_base"] or Fraction(1, 1000)
        start, end = (float(chapter[edge] * base) - zero for edge in ("start", "end"))
        marks.append(ChapterMark(start, end, chapter["metadata"].get("title") or titles.get(chapter["id"], "")))
    return marks


def _titles_from_tags(container: InputContainer) -> dict[int, str]:
    """Return chapter titles by chapter number from tags such as `CHAPTER003NAME`, which FFmpeg does not interpret."""
    titles: dict[int, str] = {}
    for tags in (container.metadata, *(stream.metadata for stream in container.streams.audio)):
        for key, value in tags.items():
            if (match := _TITLE_TAG.fullmatch(key)) is not None:
                titles.setdefault(int(match[1]), value)
    return titles


def arrange_chapters(marks: Iterable[ChapterMark], duration: float) -> list[Cue]:
    """Convert marks in any order to chapters, of which any two are disjoint or nested. The marks are modified.

    A mark contains later marks with a deeper level. If levels are unknown, it contains later marks if the first of them
    ends before it does. If the first has the same end, they are siblings, because some programs let every chapter end
    with the file.
    """
    ordered = _sorted_without_duplicates(marks)
    enclosing: list[ChapterMark] = []
    for number, mark in enumerate(ordered):
        while enclosing and enclosing[-1].end <= mark.start + TOLERANCE:
            enclosing.pop()
        if mark.end <= mark.start:
            following = ordered[number + 1].start if number + 1 < len(ordered) else duration
            mark.end = min(following, enclosing[-1].end if enclosing else duration)
        while enclosing and not _is_inside(mark, enclosing[-1]):
            enclosing.pop().end = mark.start
        if enclosing:
            enclosing[-1].has_children = True
            mark.end = min(mark.end, enclosing[-1].end)
        enclosing.append(mark)
    return [Cue(mark.start, mark.end, mark.title) for mark in ordered if mark.end > mark.start]


def _is_inside(mark: ChapterMark, outer: ChapterMark) -> bool:
    if mark.level is not None and outer.level is not None:
        return mark.level > outer.level
    return mark.end < outer.end - TOLERANCE or (outer.has_children and mark.end <= outer.end + TOLERANCE)


def _sorted_without_duplicates(marks: Iterable[ChapterMark]) -> list[ChapterMark]:
    unique: list[ChapterMark] = []
    for mark in sorted(marks, key=lambda one: (one.start, -max(one.end, one.start), one.level or 0)):
        same = bool(unique) and mark.start - unique[-1].start < TOLERANCE and abs(mark.end - unique[-1].end) < TOLERANCE
        same = same and mark.level == unique[-1].level
        if same:
            unique[-1].title = unique[-1].title or mark.title
        else:
            unique.append(mark)
    return unique
