"""EPUB: the table of contents, each entry with the chapters, or the characters of one, that it covers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from attrs import define, field

from citekit.adapters.mapping.local.outline import Draft, Outline
from citekit.adapters.mapping.local.prose import first_sentence, has_text
from citekit.domain.bounds import Bounds
from citekit.domain.locations import Chapter
from citekit.domain.ports.reader import Book, BookChapter, Heading, Reader
from citekit.domain.progress import Progress
from citekit.domain.source import Source

Place = tuple[int, int]
"""(chapter from 1, character from 0); (n + 1, 0) is the end of chapter n."""

_SUMMARY_FROM = 3000
_TITLE_LIMIT = 80
_PART = re.compile(r"(?:part|book|volume|teil|buch|band|partie|livre|tome|parte|libro)\b", re.I)


class EpubOutliner:
    """Maps books that `reader` reads."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def outline(self, source: Source, progress: Progress) -> Outline:
        """The contents as a tree; chapters that no entry covers stand beside it. Raises as `Reader.read` does."""
        progress(0, 1, "reading the book")
        book = self._reader.read(source.path)
        lengths = tuple(len(chapter.text) for chapter in book.chapters)
        notes = () if book.contents else ("The book has no table of contents: every chapter file is a node.",)
        return Outline(
            title=book.title,
            bounds=Bounds(chapters=lengths),
            drafts=contents_drafts(book),
            facts={
                "chapter_count": len(lengths),
                "chapter_lengths": list(lengths),
                "language": book.language,
                "authors": list(book.authors),
                "identifier": book.identifier,
            },
            notes=notes,
        )


@define
class _Entry:
    level: int
    title: str
    start: Place
    end: Place = (0, 0)
    below: list[_Entry] = field(factory=list)


def contents_drafts(book: Book) -> tuple[Draft, ...]:
    """The drafts of a book's contents.

    An entry covers from its place to that of the next entry of its own or a higher level.
    """
    end = (len(book.chapters) + 1, 0)
    entries = [_Entry(each.level, each.title, _start(each, book)) for each in _distinct(book.contents)]
    entries = [entry for entry in entries if entry.start < end]
    first = entries[0].start if entries else end
    roots = _tree(entries, end)
    loose = tuple(_loose(book, (1, 0), first))
    return loose + tuple(draft for entry in roots for draft in _drafts(entry, book, 0))


def _distinct(contents: Sequence[Heading]) -> Iterator[Heading]:
    """The entries without those that repeat the one before them, as some tools write them for a chapter's own page."""
    before: Heading | None = None
    for each in contents:
        if before is None or (each.title, each.chapter, each.offset) != (before.title, before.chapter, before.offset):
            yield each
        before = each


def _start(heading: Heading, book: Book) -> Place:
    """Where an entry begins: at its chapter's beginning where nothing stands before it, at the next one's at its end."""
    text = book.chapters[heading.chapter - 1].text
    if not has_text(text[: heading.offset]):
        return heading.chapter, 0
    return (heading.chapter, heading.offset) if heading.offset < len(text) else (heading.chapter + 1, 0)


def _tree(entries: Sequence[_Entry], end: Place) -> list[_Entry]:
    roots: list[_Entry] = []
    stack: list[_Entry] = []
    for entry in entries:
        while stack and stack[-1].level >= entry.level:
            stack.pop()
        (stack[-1].below if stack else roots).append(entry)
        stack.append(entry)
    _close(entries, end)
    for root in roots:
        _stretch(root)
    return roots


def _close(entries: Sequence[_Entry], end: Place) -> None:
    """Give every entry its end: the next later place of an entry of its own or a higher level.

    So entries at the same place share what they cover.
    """
    ahead: dict[int, tuple[Place, Place]] = {}
    for entry in reversed(entries):
        places = (near if near > entry.start else far for level, (near, far) in ahead.items() if level <= entry.level)
        entry.end = min(places, default=end)
        near, far = ahead.get(entry.level, (end, end))
        ahead[entry.level] = (entry.start, near if near > entry.start else far)


def _stretch(entry: _Entry) -> Place:
    """Let an entry reach as far as what is below it."""
    entry.end = max([entry.end, *map(_stretch, entry.below)])
    return entry.end


def _drafts(entry: _Entry, book: Book, depth: int) -> Iterator[Draft]:
    """The draft of an entry, and one for each further piece where a leaf does not cover whole chapters.

    A range of characters lies in one chapter only. A leaf that begins or ends inside a chapter and spans several is cut at
    the ends of chapters; widened, it would hold text that belongs to its neighbours. A parent is widened.
    """
    if entry.below:
        below = tuple(draft for child in entry.below for draft in _drafts(child, book, depth + 1))
        yield _draft(entry, entry.start, entry.end, book, depth, below)
        return
    cuts = [cut for cut in _cuts(entry.start, entry.end) if entry.start < cut < entry.end]
    for start, end in pairwise([entry.start, *cuts, entry.end]):
        yield _draft(entry, start, end, book, depth, ())


def _cuts(start: Place, end: Place) -> Iterator[Place]:
    if start[1]:
        yield start[0] + 1, 0
    if end[1] and (end[0] > start[0] + 1 or not start[1]):
        yield end[0], 0


def _draft(entry: _Entry, start: Place, end: Place, book: Book, depth: int, below: tuple[Draft, ...]) -> Draft:
    location = place(start, end, book)
    stop = end[1] if end[0] == start[0] else None
    text = book.chapters[start[0] - 1].text[start[1] : stop][:_SUMMARY_FROM]
    if not below and location.last > location.number:
        below = tuple(_loose(book, (location.number + 1, 0), (location.last + 1, 0)))
    title = entry.title if start == entry.start else f"{entry.title} (continued)"
    summary = first_sentence(_lines(text), skip=entry.title)
    return Draft(title, _type(entry, location, depth), location, summary, below)


def _type(entry: _Entry, location: Chapter, depth: int) -> str:
    if location.chars is not None:
        return "section" if depth else "chapter"
    if location.last > location.number and (entry.below or _PART.match(entry.title)):
        return "part"
    return "chapter"


def place(start: Place, end: Place, book: Book) -> Chapter:
    """The location from `start` up to `end`, which lies after it; widened to whole chapters where it spans several."""
    last = end[0] if end[1] else end[0] - 1
    if last > start[0]:
        return Chapter(start[0], last=last)
    length = len(book.chapters[start[0] - 1].text)
    chars = start[1], end[1] or length
    return Chapter(start[0]) if chars == (0, length) or not length else Chapter(start[0], chars)


def _loose(book: Book, start: Place, end: Place) -> Iterator[Draft]:
    """A draft for every chapter from `start` to `end` that the contents do not name; empty ones only where all are."""
    for chapter in book.chapters[start[0] - 1 : end[0] if end[1] else end[0] - 1]:
        chars = (0, end[1]) if chapter.number == end[0] else (0, len(chapter.text))
        location = Chapter(chapter.number, chars) if chars[1] < len(chapter.text) else Chapter(chapter.number)
        text = chapter.text[: min(chars[1], _SUMMARY_FROM)]
        title = _title(chapter, text)
        yield Draft(
            title,
            "chapter" if location.chars is None else "section",
            location,
            first_sentence(_lines(text), skip=title),
        )


def _title(chapter: BookChapter, text: str) -> str:
    """The first line, where it is as short as a heading, else the name of the file."""
    first = next((line.strip() for line in text.split("\n") if has_text(line)), "")
    name = chapter.name.rpartition("/")[2].partition("#")[0].rpartition(".")
    return first if 0 < len(first) <= _TITLE_LIMIT else name[0] or name[2] or f"Chapter {chapter.number}"


def _lines(text: str) -> Iterator[str]:
    """Every line of a chapter's text is a paragraph."""
    for line in text.split("\n"):
        yield line
        yield ""
