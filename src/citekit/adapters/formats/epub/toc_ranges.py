"""Builds the tree of table of contents entries, each with the range of the book that it covers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from attrs import define, evolve, field, frozen

from citekit.adapters.formats.epub.headings import HEADINGS_LIMIT, chapter_headings
from citekit.adapters.formats.shared.summaries import first_text, has_text
from citekit.domain.ports.reader import Book, BookChapter, Heading
from citekit.domain.vocabulary import BOOK, CHAPTER, NUMBER, PART, VOLUME, any_of

Place = tuple[int, int]
"""(chapter from 1, character from 0); (n + 1, 0) is the end of chapter n."""

_JOINED = " / "
_NUMBER = rf"\W+(?:\d{{1,4}}|[ivxlcdm]{{1,8}}|{any_of(NUMBER, ('the',))})\b"
_PART = re.compile(rf"(?:{any_of(PART, BOOK, VOLUME)}){_NUMBER}", re.IGNORECASE)
_CHAPTER = re.compile(rf"(?:{any_of(CHAPTER)}){_NUMBER}", re.IGNORECASE)

_TITLES_LIMIT = 100
"""Maximum number of titles that are joined for one position."""


@define
class Entry:
    """A table of contents entry that covers the text from `start` to `end` (exclusive). `below` are the child entries."""

    level: int
    title: str
    start: Place
    end: Place = (0, 0)
    below: list[Entry] = field(factory=list)


def book_end(book: Book) -> Place:
    """Return the position after the last chapter: the next chapter number and offset 0."""
    return len(book.chapters) + 1, 0


def entry_tree(book: Book) -> list[Entry]:
    """Return the table of contents entries, nested by level.

    An entry ends where the next entry of the same or a higher level starts. The headings of the chapters replace a
    missing table of contents, if more than half of the chapters with text have a heading.
    """
    headings = book.contents or _from_markup(book)
    end = book_end(book)
    roots: list[Entry] = []
    stack: list[Entry] = []
    for entry in _one_a_place(_nested_by_words(headings), book):
        while stack and stack[-1].level >= entry.level:
            stack.pop().end = entry.start
        (stack[-1].below if stack else roots).append(entry)
        stack.append(entry)
    for entry in stack:
        entry.end = end
    _begin_together(roots, book)
    return roots


def _nested_by_words(headings: Sequence[Heading]) -> Sequence[Heading]:
    """Return a flat table of contents with chapters nested below parts such as `BOOK I`. Any other is unchanged."""
    if len({each.level for each in headings}) != 1 or not any(_CHAPTER.match(each.title) for each in headings):
        return headings
    nested: list[Heading] = []
    has_part = False
    for each in headings:
        has_part = bool(_PART.match(each.title)) or (has_part and bool(_CHAPTER.match(each.title)))
        nested.append(evolve(each, level=each.level + 1) if has_part and _CHAPTER.match(each.title) else each)
    return nested


def _one_a_place(headings: Iterable[Heading], book: Book) -> Iterator[Entry]:
    """Yield the entries sorted by position and level, and merge those that would become nodes with the same text."""
    end = book_end(book)
    starts = Starts(book)
    found: dict[Place, dict[int, dict[str, None]]] = {}
    for each in headings:
        start = starts.of(each.chapter, each.offset)
        if start < end:
            titles = found.setdefault(start, {}).setdefault(each.level, {})
            if len(titles) < _TITLES_LIMIT:
                titles[each.title] = None
    for start in sorted(found):
        before = ""
        for level in sorted(found[start]):
            title = _JOINED.join(found[start][level])
            if title != before:
                yield Entry(level, title, start)
            before = title


@frozen
class Starts:
    """Computes the start positions of entries, and caches where the text of each chapter begins."""

    book: Book
    _first: dict[int, int] = field(factory=dict)

    def of(self, chapter: int, offset: int) -> Place:
        """Return the start position of an entry that points to `offset` in a chapter.

        It is moved to the start of the chapter if no text precedes it, and from the end of the chapter to the start of
        the next one.
        """
        text = self.book.chapters[chapter - 1].text
        if chapter not in self._first:
            self._first[chapter] = first_text(text)
        if offset <= self._first[chapter]:
            return chapter, 0
        return (chapter, offset) if offset < len(text) else (chapter + 1, 0)


def _begin_together(entries: Sequence[Entry], book: Book) -> None:
    """Move the start of each first child to the start of its parent if no text is between them."""
    for entry in entries:
        first = entry.below[0] if entry.below else None
        if first is not None and first.start[0] == entry.start[0]:
            text = book.chapters[entry.start[0] - 1].text
            if not has_text(text[entry.start[1] : first.start[1]]):
                first.start = entry.start
        _begin_together(entry.below, book)


def _from_markup(book: Book) -> list[Heading]:
    """Return the headings as a table of contents, or an empty list if too few chapters have a heading, or if there are
    too many headings.
    """
    headings = list(islice(_chapter_headings(book), HEADINGS_LIMIT + 1))
    return [] if len(headings) > HEADINGS_LIMIT else headings


def _chapter_headings(book: Book) -> Iterator[Heading]:
    read = [chapter for chapter in book.chapters if has_text(chapter.text)]
    headed = [(chapter, chapter_headings(chapter)) for chapter in read]
    if sum(bool(found) for _, found in headed) * 2 > len(read) and sum(len(found) for _, found in headed) > 1:
        for chapter, found in headed:
            if not found or has_text(chapter.text[: found[0].start]):
                yield from _untitled(chapter, found[0].level if found else 1)
            for mark in found:
                yield Heading(mark.level, mark.title, chapter.number, mark.start)


def _untitled(chapter: BookChapter, level: int) -> Iterator[Heading]:
    """Yield the first line of the first chapter as a heading, if it is short. Later chapters continue the preceding
    section.
    """
    first = next((line.strip() for line in chapter.text.split("\n") if has_text(line)), "")
    if chapter.number == 1 and 0 < len(first) <= 80:
        yield Heading(level, first, chapter.number, 0)
