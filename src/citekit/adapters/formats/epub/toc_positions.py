"""Determines the positions in the text of a book that its table of contents entries point to."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence

from attrs import define, evolve, field

from citekit.adapters.formats.epub.chapter_marks import HEADING_LIMIT
from citekit.adapters.formats.epub.toc import ChapterFiles, Entry
from citekit.adapters.formats.shared.summaries import folded
from citekit.domain.ports.reader import BookChapter, Heading, Mark

_BEHIND = 99
"""Maximum number of whitespace characters between the end of a heading and a position that belongs to it."""


def headings(
    entries: Sequence[Entry], chapters: Sequence[BookChapter], anchors: Sequence[Mapping[str, int]]
) -> list[Heading]:
    """Return the table of contents entries with their positions, in reading order.

    An entry without a target gets the position of the next entry if that is deeper. Otherwise, it is omitted, like an
    entry whose target is not a chapter. An entry whose fragment does not exist, and a later entry that points to the
    beginning of the same file, get the position of the heading with their title, or else the beginning of the file. An
    entry that points into its heading, or directly after it, starts with it. `anchors` maps the IDs in each chapter to
    character offsets.
    """
    files = ChapterFiles({chapter.name: chapter.number for chapter in reversed(chapters)})
    placer = _Placer(chapters, anchors)
    placed: list[Heading | Entry] = []
    near = ""
    for entry in entries:
        number = files.number(entry.path, near) if entry.path else None
        if number is not None:
            near = chapters[number - 1].name
            placed.append(Heading(entry.level, entry.title or near, number, placer.offset(entry, number)))
        elif entry.path is None and entry.title:
            placed.append(entry)
    return sorted(_all_placed(placed), key=lambda heading: (heading.chapter, heading.offset))


@define
class _Placer:
    chapters: Sequence[BookChapter]
    anchors: Sequence[Mapping[str, int]]
    begun: dict[int, int] = field(factory=dict)
    """The last offset, by chapter number, assigned to an entry without an existing fragment."""
    titles: dict[int, dict[str, list[Mark]]] = field(factory=dict)

    def offset(self, entry: Entry, number: int) -> int:
        said = self.anchors[number - 1].get(entry.fragment) if entry.fragment else None
        if said is not None:
            return self._with_heading(entry, number, said)
        again = number in self.begun
        if not entry.fragment and not again:
            self.begun[number] = 0
            return 0
        after = self.begun.get(number, -1)
        titled = self._titled(entry, number)
        behind = bisect_right(titled, after, key=_start)
        found = titled[behind].start if behind < len(titled) else 0
        self.begun[number] = max(found, after)
        return found

    def _titled(self, entry: Entry, number: int) -> list[Mark]:
        if number not in self.titles:
            self.titles[number] = _by_title(self.chapters[number - 1])
        return self.titles[number].get(folded(entry.title), [])

    def _with_heading(self, entry: Entry, number: int, offset: int) -> int:
        """Return the start of the heading with the entry's title if `offset` is in or directly after it, or else
        `offset`.
        """
        text, titled = self.chapters[number - 1].text, self._titled(entry, number)
        first = bisect_left(titled, offset - HEADING_LIMIT - _BEHIND, key=_start)
        for mark in titled[first : bisect_left(titled, offset, key=_start)]:
            if mark.start < offset <= mark.end + _BEHIND and not text[mark.end : offset].strip():
                return mark.start
        return offset


def _start(mark: Mark) -> int:
    return mark.start


def _by_title(chapter: BookChapter) -> dict[str, list[Mark]]:
    found: dict[str, list[Mark]] = {}
    for mark in chapter.marks:
        if mark.kind == "heading" and folded(mark.title):
            found.setdefault(folded(mark.title), []).append(mark)
    return found


def _all_placed(found: Sequence[Heading | Entry]) -> list[Heading]:
    """Return the entries as headings. An entry without a target gets the position of a deeper next entry, or is
    omitted.
    """
    headings: list[Heading] = []
    for each in reversed(found):
        if isinstance(each, Heading):
            headings.append(each)
        elif headings and headings[-1].level > each.level:
            headings.append(evolve(headings[-1], level=each.level, title=each.title))
    return headings[::-1]
