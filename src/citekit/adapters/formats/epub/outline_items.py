"""From the entries of a book's contents to drafts: nested, and with leaves that hold every character once."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from attrs import define, field

from citekit.adapters.formats.epub.headings import chapter_headings, inside, of_sections
from citekit.adapters.formats.epub.toc_ranges import Entry, Place, book_end, entry_tree, start_of
from citekit.adapters.formats.shared.outline import OutlineItem
from citekit.adapters.formats.shared.summaries import first_sentence, has_text
from citekit.domain.locations import Chapter
from citekit.domain.ports.reader import Book, BookChapter, Mark

HEADINGS_LIMIT = 20_000
"""Headings of one book that become sections; where there are more, its contents alone count."""

_SUMMARY_FROM = 3000
_TITLE_LIMIT = 80
_PART = re.compile(r"(?:part|book|volume|teil|buch|band|partie|livre|tome|parte|libro|часть|том)\b", re.I)
_CHAPTER = re.compile(r"(?:chapter|chap|kapitel|chapitre|cap[ií]tulo|capitolo|глава)\b|第.{1,5}章", re.I)
_SUBNUMBER = re.compile(r"\W*\d+\.\d")
_PLACES = frozenset(("bodymatter", "frontmatter", "backmatter"))
_ABOVE_CHAPTERS = frozenset(("part", "volume"))
_NAMES = {"subchapter": "section", "notes": "endnotes", "rearnotes": "endnotes"}


def contents_drafts(book: Book) -> tuple[OutlineItem, ...]:
    """The drafts of a book: its contents, below the deepest of them the headings inside the chapters.

    The leaves hold every character of the book once. What stands before the first part of a node is a part of its own, of
    the type `opening`; chapters that no entry names are nodes, too.
    """
    headings = [chapter_headings(chapter) for chapter in book.chapters]
    if sum(map(len, headings)) > HEADINGS_LIMIT:
        headings = [[] for _ in headings]
    entries = entry_tree(book)
    first = entries[0].start if entries else book_end(book)
    drafter = _Drafter(book, headings, _terms(book))
    loose = drafter.loose((1, 0), first, "chapter")
    return (*loose, *(draft for entry in entries for draft in drafter.entry(entry, "")))


def _terms(book: Book) -> Mapping[Place, list[str]]:
    """What the book says is at a place, the widest part first."""
    found: dict[Place, list[str]] = {}
    said = [(each.chapter, each.offset, each.type) for each in book.landmarks if each.type not in _PLACES]
    marked = [
        (chapter.number, mark.start, mark.kind)
        for chapter in book.chapters
        for mark in chapter.marks
        if mark.kind not in ("heading", "figure", "table")
    ]
    for chapter, offset, kind in (*said, *marked):
        terms = found.setdefault(start_of(chapter, offset, book), [])
        if kind not in terms:
            terms.append(_NAMES.get(kind, kind))
    return found


@define
class _Drafter:
    book: Book
    headings: Sequence[Sequence[Mark]]
    terms: Mapping[Place, list[str]]
    named: dict[Place, int] = field(factory=dict)

    def entry(self, entry: Entry, above: str) -> Iterator[OutlineItem]:
        """The draft of an entry; `above` is the type of the one above it, "" at the top.

        A range of characters lies in one chapter only. A leaf that begins or ends inside a chapter and spans several is cut
        at the ends of chapters; widened, it would hold text that belongs to its neighbours. A parent is widened.
        """
        self._trim(entry)
        type = self._type(entry, above)
        if entry.below:
            opening = self._pieces(entry.start, entry.below[0].start, entry.title, type)
            below = [draft for child in entry.below for draft in self.entry(child, type)]
            yield self._draft(entry.title, type, entry.start, entry.end, (*opening, *below))
            return
        cuts = [cut for cut in _cuts(entry.start, entry.end) if entry.start < cut < entry.end]
        for start, end in pairwise([entry.start, *cuts, entry.end]):
            title = entry.title if start == entry.start else f"{entry.title} (continued)"
            if start != entry.start and not self._has_text(start, end):
                continue
            if _last(start, end) > start[0] and self._has_text((start[0] + 1, 0), end):
                children = tuple(self._pieces(start, end, title, type))
            else:
                children = self._sections(start, self._stop(start, end), entry.title)
            yield self._draft(title, type, start, end, children)

    def _trim(self, entry: Entry) -> None:
        """Leave out chapters without text behind an entry that begins inside a chapter: for them it would be widened."""
        last = entry
        while last.below:
            last = last.below[-1]
        if (
            entry.start[1]
            and last.start[0] == entry.start[0]
            and not self._has_text((entry.start[0] + 1, 0), entry.end)
        ):
            entry.end = min(entry.end, (entry.start[0] + 1, 0))

    def loose(self, start: Place, end: Place, type: str) -> Iterator[OutlineItem]:
        """A draft for every chapter from `start` to `end`, which no entry names."""
        for chapter in self.book.chapters[start[0] - 1 : _last(start, end) if start < end else 0]:
            stop = end[1] if chapter.number == end[0] else len(chapter.text)
            begin = chapter.number, start[1] if chapter.number == start[0] else 0
            title = self._title(chapter, begin[1], stop)
            below = self._sections(begin, stop, title)
            partial = begin[1] or stop < len(chapter.text)
            usual = self._term(begin) or ("section" if partial else type)
            yield self._draft(title, usual, begin, (chapter.number, stop) if partial else _after(chapter), below)

    def _pieces(self, start: Place, end: Place, title: str, type: str) -> Iterator[OutlineItem]:
        """The parts of a range that has other parts behind it, or spans several chapters: its own beginning, and chapters."""
        if start >= end:
            return
        stop = self._stop(start, end)
        if stop > start[1]:
            yield from self._sections(start, stop, title) or (self._opening(title, start, stop),)
        elif start[0] < end[0]:
            yield self._draft(title, "opening", start, (start[0] + 1, 0), ())
        if _last(start, end) > start[0]:
            usual = "chapter" if type in _ABOVE_CHAPTERS else "section"
            for draft in self.loose((start[0] + 1, 0), end, usual):
                if isinstance(draft.location, Chapter) and self.book.chapters[draft.location.number - 1].text:
                    yield draft

    def _sections(self, start: Place, stop: int, title: str) -> tuple[OutlineItem, ...]:
        """The sections of the characters from `start` to `stop` of one chapter; none where no heading parts them."""
        chapter = self.book.chapters[start[0] - 1]
        found = inside(self.headings[chapter.number - 1], start[1], stop)
        found = of_sections(found, chapter.text, start[1], title) if found else found
        if not found:
            return ()
        drafts: list[OutlineItem] = []
        begin = start[1]
        if has_text(chapter.text[begin : found[0].start]):
            drafts.append(self._opening(title, start, found[0].start))
            begin = found[0].start
        tops = _tops(found)
        for mark, behind in zip(tops, [*(mark.start for mark in tops[1:]), stop], strict=True):
            at = chapter.number, begin
            below = self._sections(at, behind, mark.title)
            drafts.append(self._draft(mark.title, "section", at, (chapter.number, behind), below))
            begin = behind
        return tuple(drafts)

    def _opening(self, title: str, start: Place, stop: int) -> OutlineItem:
        chapter = self.book.chapters[start[0] - 1]
        end = (start[0], stop) if stop < len(chapter.text) else _after(chapter)
        return self._draft(title, "opening", start, end, ())

    def _draft(self, title: str, type: str, start: Place, end: Place, below: Sequence[OutlineItem]) -> OutlineItem:
        text = self.book.chapters[start[0] - 1].text[start[1] : self._stop(start, end)][:_SUMMARY_FROM]
        summary = first_sentence(_lines(text), skip=title)
        name = type if type == "opening" else None
        return OutlineItem(title, type, place(start, end, self.book), summary, below, name=name)

    def _has_text(self, start: Place, end: Place) -> bool:
        """Whether there is a character in a range that begins with a chapter."""
        chapters = self.book.chapters[start[0] - 1 : _last(start, end) if start < end else 0]
        return any(chapter.text for chapter in chapters)

    def _stop(self, start: Place, end: Place) -> int:
        """Where a range ends in the chapter that it begins in."""
        return end[1] if end[0] == start[0] else len(self.book.chapters[start[0] - 1].text)

    def _term(self, start: Place) -> str | None:
        """What the book says is at a place; of several terms, the next one each time that it is asked."""
        terms, rank = self.terms.get(start, ()), self.named.get(start, 0)
        self.named[start] = rank + 1
        return terms[rank] if rank < len(terms) else None

    def _type(self, entry: Entry, above: str) -> str:
        said = self._term(entry.start)
        if said is not None:
            return said
        if above and above not in _ABOVE_CHAPTERS:
            return "section"
        several = _last(entry.start, entry.end) > entry.start[0]
        if several and not _CHAPTER.match(entry.title) and (_PART.match(entry.title) or _holds_chapters(entry)):
            return "part"
        return "chapter"

    def _title(self, chapter: BookChapter, start: int, stop: int) -> str:
        """The heading it begins with, else the first line, where that is as short as a heading, else the name of the file."""
        text = chapter.text[start : min(stop, start + _SUMMARY_FROM)]
        first = next((line.strip() for line in text.split("\n") if has_text(line)), "")
        for mark in inside(self.headings[chapter.number - 1], start, stop)[:1]:
            if not has_text(chapter.text[start : mark.start]):
                return mark.title
        name = chapter.name.rpartition("/")[2].partition("#")[0].rpartition(".")
        return first if 0 < len(first) <= _TITLE_LIMIT else name[0] or name[2] or f"Chapter {chapter.number}"


def _holds_chapters(entry: Entry) -> bool:
    """Whether what is below an entry are chapters: files of their own, not numbered as its sections (`3.1`)."""
    return any(not child.start[1] for child in entry.below[1:]) and not any(
        _SUBNUMBER.match(child.title) for child in entry.below
    )


def _tops(headings: Sequence[Mark]) -> list[Mark]:
    """The headings that no other stands above."""
    found: list[Mark] = []
    for mark in headings:
        if not found or mark.level <= found[-1].level:
            found.append(mark)
    return found


def _cuts(start: Place, end: Place) -> Iterator[Place]:
    if start[1]:
        yield start[0] + 1, 0
    if end[1] and (end[0] > start[0] + 1 or not start[1]):
        yield end[0], 0


def _last(start: Place, end: Place) -> int:
    """The last chapter that a range reaches into."""
    return max(start[0], end[0] if end[1] else end[0] - 1)


def _after(chapter: BookChapter) -> Place:
    return chapter.number + 1, 0


def place(start: Place, end: Place, book: Book) -> Chapter:
    """The location from `start` up to `end`, which lies after it; widened to whole chapters where it spans several."""
    if _last(start, end) > start[0]:
        return Chapter(start[0], last=_last(start, end))
    length = len(book.chapters[start[0] - 1].text)
    chars = start[1], (end[1] if end[0] == start[0] else 0) or length
    return Chapter(start[0]) if chars == (0, length) or not length else Chapter(start[0], chars)


def _lines(text: str) -> Iterator[str]:
    """Every line of a chapter's text is a paragraph."""
    for line in text.split("\n"):
        yield line
        yield ""
