"""Converts the table of contents of a book to nested outline items."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from attrs import define, evolve, field

from citekit.adapters.formats.epub.headings import HEADINGS_LIMIT, chapter_headings, inside, of_sections
from citekit.adapters.formats.epub.toc_ranges import Entry, Place, Starts, book_end, entry_tree
from citekit.adapters.formats.shared.outline import OutlineItem
from citekit.adapters.formats.shared.summaries import first_sentence, has_text
from citekit.domain.locations import Chapter
from citekit.domain.ports.reader import Book, BookChapter, Mark
from citekit.domain.vocabulary import BOOK, CHAPTER, CJK_CHAPTER, PART, TOC_HEADING, VOLUME, any_of

OPENING = "Introduction"
"""The title of the text of a chapter or section before its first subsection. The chapter or section has a title of its
own.
"""

_SUMMARY_FROM = 3000
_TITLE_LIMIT = 80
_PART = re.compile(rf"(?:{any_of(PART, BOOK, VOLUME)})\b", re.IGNORECASE)
_CHAPTER = re.compile(rf"(?:{any_of(CHAPTER)})\b|第.{{1,5}}{CJK_CHAPTER}", re.IGNORECASE)
_ROLES = {
    "toc": re.compile(rf"(?:{any_of(TOC_HEADING)})\W*", re.IGNORECASE),
    "cover": re.compile(r"(?:front )?cover(?: page| image)?", re.IGNORECASE),
    "titlepage": re.compile(r"title ?page", re.IGNORECASE),
    "copyright-page": re.compile(r"copyright(?: page| notice)?", re.IGNORECASE),
}
"""Patterns of titles by role, for parts whose role no markup declares."""

_SUBNUMBER = re.compile(r"\W*\d+\.\d")
_PLACES = frozenset(("bodymatter", "frontmatter", "backmatter"))
_ABOVE_CHAPTERS = frozenset(("part", "volume"))
_NAMES = {"subchapter": "section", "notes": "endnotes", "rearnotes": "endnotes"}


def toc_outline_items(book: Book) -> tuple[OutlineItem, ...]:
    """Return the outline items of a book: its table of contents, and below its entries the headings in the chapters.

    Every character is in exactly one item without children. Text before the first child of an item becomes an
    `opening`. If that text has only the title of the item or other headings, the first child begins with it instead, if
    it can. Chapters that no entry refers to become items, too.
    """
    headings = [chapter_headings(chapter) for chapter in book.chapters]
    if sum(map(len, headings)) > HEADINGS_LIMIT:
        headings = [[] for _ in headings]
    entries = entry_tree(book)
    first = entries[0].start if entries else book_end(book)
    builder = _OutlineBuilder(book, headings, _terms(book))
    loose = builder.loose((1, 0), first, "chapter")
    found = (*loose, *(outline_item for entry in entries for outline_item in builder.entry(entry, "")))
    return tuple(_with_named_openings(each, book, headings) for each in found)


def _with_named_openings(outline_item: OutlineItem, book: Book, headings: Sequence[Sequence[Mark]]) -> OutlineItem:
    """Return the item, with `OPENING` as the title of openings that have text.

    An opening that has only headings is left out, and the next section begins with these headings, if it can.
    """
    children = tuple(_with_named_openings(each, book, headings) for each in outline_item.children)
    first = next(iter(children), None)
    if first is None or first.type != "opening" or not isinstance(first.location, Chapter):
        return evolve(outline_item, children=children)
    if not _is_bare(first, first.location, book, headings):
        children = (evolve(first, title=OPENING), *children[1:])
    elif len(children) > 1 and first.location.chars is not None and _is_in(children[1], first.location.number):
        children = (_starting(children[1], first.location.chars[0]), *children[2:])
    return evolve(outline_item, children=children)


def _is_in(section: OutlineItem, chapter: int) -> bool:
    """Return whether a section begins in the chapter with this number."""
    return isinstance(section.location, Chapter) and section.location.number == chapter


def _is_bare(opening: OutlineItem, location: Chapter, book: Book, headings: Sequence[Sequence[Mark]]) -> bool:
    """Return whether the text of an opening at `location` is its title or consists of headings."""
    text = book.chapters[location.number - 1].text
    start, stop = location.chars or (0, len(text))
    if text[start:stop].split() == opening.title.split():
        return True
    for mark in inside(headings[location.number - 1], start, stop):
        if has_text(text[start : mark.start]):
            return False
        start = mark.end
    return not has_text(text[start:stop])


def _starting(outline_item: OutlineItem, start: int) -> OutlineItem:
    """Return a section, with its first child on each level, that begins at the offset `start` in its chapter."""
    location, children = outline_item.location, outline_item.children
    if isinstance(location, Chapter) and location.chars is not None:
        location = evolve(location, chars=(start, location.chars[1]))
    return evolve(
        outline_item,
        location=location,
        children=(_starting(children[0], start), *children[1:]) if children else (),
    )


def _terms(book: Book) -> Mapping[Place, list[str]]:
    """Return the declared roles, such as `preface`, of the sections that start at each position, outermost first."""
    found: dict[Place, list[str]] = {}
    starts = Starts(book)
    said = [(each.chapter, each.offset, each.type) for each in book.landmarks if each.type not in _PLACES]
    marked = [
        (chapter.number, mark.start, mark.kind)
        for chapter in book.chapters
        for mark in chapter.marks
        if mark.kind not in ("heading", "figure", "table")
    ]
    for chapter, offset, kind in (*said, *marked):
        terms = found.setdefault(starts.of(chapter, offset), [])
        term = _NAMES.get(kind, kind)
        if term not in terms:
            terms.append(term)
    return found


@define
class _OutlineBuilder:
    book: Book
    headings: Sequence[Sequence[Mark]]
    terms: Mapping[Place, list[str]]
    named: dict[Place, int] = field(factory=dict)

    def entry(self, entry: Entry, above: str) -> Iterator[OutlineItem]:
        """Yield the outline items of a table of contents entry, whose parent has the type `above` ("" at the top
        level).

        An entry without children is split at chapter boundaries, because a location with characters must lie within one
        chapter. Extending the entry to whole chapters would include text of its neighbors.
        """
        self._trim(entry)
        type = self._type(entry, above)
        if entry.below:
            opening = self._pieces(entry.start, entry.below[0].start, entry.title, type)
            below = [outline_item for child in entry.below for outline_item in self.entry(child, type)]
            yield self._outline_item(entry.title, type, entry.start, entry.end, (*opening, *below))
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
            yield self._outline_item(title, type, start, end, children)

    def _trim(self, entry: Entry) -> None:
        """Remove trailing chapters without text, to which an entry that starts inside a chapter would be extended."""
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
        """Yield an outline item for each chapter in a range that no table of contents entry refers to.

        `type` is the type of whole chapters without a role.
        """
        for chapter in self.book.chapters[start[0] - 1 : _last(start, end) if start < end else 0]:
            stop = end[1] if chapter.number == end[0] else len(chapter.text)
            begin = chapter.number, start[1] if chapter.number == start[0] else 0
            title = self._title(chapter, begin[1], stop)
            below = self._sections(begin, stop, title)
            partial = begin[1] or stop < len(chapter.text)
            usual = self._term(begin) or _role_of(title) or ("section" if partial else type)
            yield self._outline_item(title, usual, begin, (chapter.number, stop) if partial else _after(chapter), below)

    def _pieces(self, start: Place, end: Place, title: str, type: str) -> Iterator[OutlineItem]:
        """Yield the outline items of a range without table of contents entries: the sections of its first chapter (an
        opening if that has no headings), and the chapters that follow.

        `title` and `type` are those of the entry that contains the range.
        """
        if start >= end:
            return
        stop = self._stop(start, end)
        if stop > start[1]:
            yield from self._sections(start, stop, title) or (self._opening(title, start, stop),)
        elif start[0] < end[0]:
            yield self._outline_item(title, "opening", start, (start[0] + 1, 0), ())
        if _last(start, end) > start[0]:
            usual = "chapter" if type in _ABOVE_CHAPTERS else "section"
            for outline_item in self.loose((start[0] + 1, 0), end, usual):
                if (
                    isinstance(outline_item.location, Chapter)
                    and self.book.chapters[outline_item.location.number - 1].text
                ):
                    yield outline_item

    def _sections(self, start: Place, stop: int, title: str) -> tuple[OutlineItem, ...]:
        """Return outline items for the sections between `start` and the offset `stop` in one chapter, if it has
        headings.

        A heading at the beginning may repeat `title`.
        """
        chapter = self.book.chapters[start[0] - 1]
        found = inside(self.headings[chapter.number - 1], start[1], stop)
        found = of_sections(found, chapter.text, start[1], title) if found else found
        if not found:
            return ()
        outline_items: list[OutlineItem] = []
        begin = start[1]
        if has_text(chapter.text[begin : found[0].start]):
            outline_items.append(self._opening(title, start, found[0].start))
            begin = found[0].start
        tops = _tops(found)
        for mark, behind in zip(tops, [*(mark.start for mark in tops[1:]), stop], strict=True):
            at = chapter.number, begin
            below = self._sections(at, behind, mark.title)
            outline_items.append(self._outline_item(mark.title, "section", at, (chapter.number, behind), below))
            begin = behind
        return tuple(outline_items)

    def _opening(self, title: str, start: Place, stop: int) -> OutlineItem:
        chapter = self.book.chapters[start[0] - 1]
        end = (start[0], stop) if stop < len(chapter.text) else _after(chapter)
        return self._outline_item(title, "opening", start, end, ())

    def _outline_item(
        self, title: str, type: str, start: Place, end: Place, below: Sequence[OutlineItem]
    ) -> OutlineItem:
        text = self.book.chapters[start[0] - 1].text[start[1] : min(self._stop(start, end), start[1] + _SUMMARY_FROM)]
        summary = first_sentence(_lines(text), skip=title)
        name = type if type == "opening" else None
        return OutlineItem(title, type, place(start, end, self.book), summary, below, name=name)

    def _has_text(self, start: Place, end: Place) -> bool:
        """Return whether any chapter in the range has text. The range starts at the beginning of a chapter."""
        chapters = self.book.chapters[start[0] - 1 : _last(start, end) if start < end else 0]
        return any(chapter.text for chapter in chapters)

    def _stop(self, start: Place, end: Place) -> int:
        """Return the offset in the first chapter of the range at which the range, or the chapter, ends."""
        return end[1] if end[0] == start[0] else len(self.book.chapters[start[0] - 1].text)

    def _term(self, start: Place) -> str | None:
        """Return the declared role of the section that starts at a position, or None.

        If nested sections start there, each call returns the role of the next one.
        """
        terms, rank = self.terms.get(start, ()), self.named.get(start, 0)
        self.named[start] = rank + 1
        return terms[rank] if rank < len(terms) else None

    def _type(self, entry: Entry, above: str) -> str:
        said = self._term(entry.start)
        if said is not None:
            return said
        if not above and (role := _role_of(entry.title)):
            return role
        if above and above not in _ABOVE_CHAPTERS:
            return "section"
        several = _last(entry.start, entry.end) > entry.start[0]
        if several and not _CHAPTER.match(entry.title) and (_PART.match(entry.title) or _holds_chapters(entry)):
            return "part"
        return "chapter"

    def _title(self, chapter: BookChapter, start: int, stop: int) -> str:
        """Return a title for a part of a chapter: its heading, a short first line, the base name of the file, or the
        number of the chapter.
        """
        text = chapter.text[start : min(stop, start + _SUMMARY_FROM)]
        first = next((line.strip() for line in text.split("\n") if has_text(line)), "")
        for mark in inside(self.headings[chapter.number - 1], start, stop)[:1]:
            if not has_text(chapter.text[start : mark.start]):
                return mark.title
        name = chapter.name.rpartition("/")[2].partition("#")[0].rpartition(".")
        return first if 0 < len(first) <= _TITLE_LIMIT else name[0] or name[2] or f"Chapter {chapter.number}"


def _role_of(title: str) -> str | None:
    """Return the role of a part with the title `title`, such as `toc` for `Contents`, or None."""
    return next((role for role, pattern in _ROLES.items() if pattern.fullmatch(title.strip())), None)


def _holds_chapters(entry: Entry) -> bool:
    """Return whether the children of an entry look like chapters: at least one after the first begins a
    file, and none is numbered like a section (`3.1`).
    """
    return any(not child.start[1] for child in entry.below[1:]) and not any(
        _SUBNUMBER.match(child.title) for child in entry.below
    )


def _tops(headings: Sequence[Mark]) -> list[Mark]:
    """Return the headings that are not subordinate to an earlier heading in the list."""
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
    """Return the number of the last chapter that the range from `start` to `end` (exclusive) overlaps."""
    return max(start[0], end[0] if end[1] else end[0] - 1)


def _after(chapter: BookChapter) -> Place:
    return chapter.number + 1, 0


def place(start: Place, end: Place, book: Book) -> Chapter:
    """Return the location of the text from `start` to `end` (exclusive).

    If the text spans several chapters, the location is extended to whole chapters.
    """
    if _last(start, end) > start[0]:
        return Chapter(start[0], last=_last(start, end))
    length = len(book.chapters[start[0] - 1].text)
    chars = start[1], (end[1] if end[0] == start[0] else 0) or length
    return Chapter(start[0]) if chars == (0, length) or not length else Chapter(start[0], chars)


def _lines(text: str) -> Iterator[str]:
    """Yield each paragraph of `text` (one per line), followed by an empty line."""
    for line in text.split("\n"):
        yield line
        yield ""
