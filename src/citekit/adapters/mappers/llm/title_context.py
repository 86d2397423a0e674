"""Finds the text near the location of a node, which must contain the title of the node."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Sequence
from typing import Protocol

from attrs import field, frozen

from citekit.adapters.formats.registry import CODE
from citekit.adapters.formats.shared.text_file import open_text
from citekit.adapters.mappers.llm.codec_chapters import ParagraphCodec
from citekit.adapters.mappers.llm.location_codec import LocationCodec, Span
from citekit.adapters.mappers.llm.media_views import cues_of
from citekit.adapters.mappers.llm.proposals import Fault, ProposedNode
from citekit.adapters.mappers.llm.title_words import (
    TITLE_LINES,
    TextLine,
    contains_title,
    folded,
    lone_number,
    text_line,
)
from citekit.adapters.mappers.llm.windows import SourceView
from citekit.domain.ports.reader import Book
from citekit.domain.resource_map import ResourceMap

LINES_BEFORE, LINES_AFTER = 3, 80
"""The number of lines before and after the beginning of a part of a text that may contain its title."""

SECONDS_AROUND = 30.0
"""Seconds before and after a part of a recording in which the words of its title may be spoken."""

CUE_LINES = 8
"""The number of consecutive subtitles that may together contain a title: speakers rarely say it in one sentence."""

MIN_TEXT = 20
"""The minimum number of letters and digits of a page or file with text; a scan may have a few by accident."""

SIGNATURE_LINES = 12
"""The number of lines of code over which the signature of a definition may extend."""

_SEPARATORS = re.compile(r"[.:]+")
_TAG = re.compile(r"<[^<>]{0,2000}>")


class TitleContext(Protocol):
    """The text of a file, in which the titles of proposed nodes are searched for."""

    def lines(self, span: Span) -> Sequence[TextLine] | None:
        """Return the lines in which the title of a node at `span` may be; None if the node has no text."""

    def everything(self) -> Sequence[TextLine]:
        """Return all lines of the file and the titles that the local mapper found."""

    @property
    def max_lines(self) -> int:
        """The maximum number of consecutive lines over which a title may extend."""

    @property
    def is_code(self) -> bool:
        """Whether the text is source code, in which a title may be a qualified name or a call."""


@frozen
class KnownTitles:
    """The titles that the local mapper found, each with the page, line, paragraph, or second at which it starts."""

    known: Sequence[tuple[float, TextLine]] = ()

    def between(self, first: float, last: float) -> list[TextLine]:
        """Return the titles that start between `first` and `last`, inclusive."""
        return [line for span, line in self.known if first <= span <= last]


@frozen(kw_only=True)
class PageContext:
    """Finds the text for titles in a file with pages: from the page before a node to the page after its first page with
    text.
    """

    pages: Sequence[Sequence[TextLine]] = field(repr=False)
    known_titles: KnownTitles = field(factory=KnownTitles, repr=False)
    max_lines: int = TITLE_LINES
    is_code: bool = False

    def lines(self, span: Span) -> Sequence[TextLine] | None:
        """See `TitleContext.lines`."""
        start, end = max(1, int(span[0])), min(int(span[-1]), len(self.pages))
        page = next((each for each in range(start, end + 1) if self._has_text(each)), None)
        if page is None:
            return None
        around = self.pages[max(0, start - 2) : page + 1]
        return [*(line for each in around for line in each), *self.known_titles.between(start - 1, page + 1)]

    def _has_text(self, page: int) -> bool:
        return sum(len(line.folded) for line in self.pages[page - 1]) >= MIN_TEXT

    def everything(self) -> Sequence[TextLine]:
        """See `TitleContext.everything`."""
        return [*(line for page in self.pages for line in page), *(line for _, line in self.known_titles.known)]


@frozen(kw_only=True)
class RowContext:
    """Finds the text for titles in the lines of a text or in the paragraphs of a book.

    This is the text at the start of a node and shortly before, or all of the node if `whole` is True.
    """

    rows: Sequence[TextLine] = field(repr=False)
    known_titles: KnownTitles = field(factory=KnownTitles, repr=False)
    whole: bool = False
    max_lines: int = TITLE_LINES
    is_code: bool = False

    def lines(self, span: Span) -> Sequence[TextLine] | None:
        """See `TitleContext.lines`."""
        first, last = max(1, int(span[0])), min(int(span[-1]), len(self.rows))
        filled = next((row for row in range(first, last + 1) if self.rows[row - 1].folded), None)
        start = first if filled is None else filled
        end = last if self.whole else min(last, start + LINES_AFTER)
        here = [*self.rows[max(0, first - 1 - LINES_BEFORE) : first - 1], *self.rows[start - 1 : end + 1]]
        return (
            [*here, *self.known_titles.between(first - LINES_BEFORE, start + LINES_BEFORE)]
            if any(line.folded for line in here)
            else None
        )

    def everything(self) -> Sequence[TextLine]:
        """See `TitleContext.everything`."""
        return [*self.rows, *(line for _, line in self.known_titles.known)]


@frozen(kw_only=True)
class CueContext:
    """Finds the text for titles in a recording: the subtitles that start in a node, or at most `SECONDS_AROUND` before
    or after it.

    `cues` are (start in seconds, text) pairs.
    """

    cues: Sequence[tuple[float, TextLine]] = field(repr=False)
    known_titles: KnownTitles = field(factory=KnownTitles, repr=False)
    max_lines: int = CUE_LINES
    is_code: bool = False

    def lines(self, span: Span) -> Sequence[TextLine] | None:
        """See `TitleContext.lines`."""
        start, end = span[0] - SECONDS_AROUND, span[-1] + SECONDS_AROUND
        said = [line for time, line in self.cues if start <= time <= end]
        return [*said, *self.known_titles.between(start, end)] if said else None

    def everything(self) -> Sequence[TextLine]:
        """See `TitleContext.everything`."""
        return [*(line for _, line in self.cues), *(line for _, line in self.known_titles.known)]


@frozen
class TitleCheck:
    """The number of titles that were checked, the number that were found, and the faults of the missing titles.

    `titles_unchecked` counts the titles of nodes without text.
    """

    titles_checked: int
    titles_found: int
    faults: Sequence[Fault]
    titles_unchecked: int = 0


def check_titles(
    proposals: Sequence[ProposedNode], text: TitleContext, where: Callable[[ProposedNode], str]
) -> TitleCheck:
    """Search for the title of each proposal near its location, if there is text.

    `where` describes the location of a proposal in the numbers of the answer.
    """
    titles_checked, faults = 0, []
    in_file = frozenset[str]().union(*(line.stems for line in text.everything())) if text.is_code else frozenset[str]()
    for proposal in proposals:
        lines = text.lines(proposal.span)
        if lines is None:
            continue
        titles_checked += 1
        if not (
            contains_title(proposal.title, lines, text.max_lines)
            or (text.is_code and _names_symbol(proposal.title, lines, in_file))
        ):
            reason = f"these words are not in the file at or near {where(proposal)}"
            faults.append(Fault(f"{proposal.path}.title", reason, proposal.title))
    return TitleCheck(titles_checked, titles_checked - len(faults), faults, len(proposals) - titles_checked)


def may_title_file(title: str, text: TitleContext, known: Sequence[str]) -> bool:
    """Return whether the text or a `known` title contains `title` (`contains_title`), or there is hardly any text."""
    lines = text.everything()
    if sum(len(line.folded) for line in lines) < MIN_TEXT:
        return True
    return contains_title(title, [*lines, *(text_line(each) for each in known)], text.max_lines)


def _names_symbol(title: str, lines: Sequence[TextLine], in_file: frozenset[str]) -> bool:
    """Return whether `title` is a qualified name or a call, such as `Shelf.add(book)`, all of which is in the code.

    The last name and the arguments must be close together. The stems of the words before them must be `in_file`.
    """
    head, _, arguments = title.partition("(")
    if not any(mark in title for mark in ".:(") or " " in head:
        return False
    name = next((each for each in reversed(_SEPARATORS.split(head)) if each), "")
    wanted, words = folded(name), text_line(name).stems
    if len(wanted) < 3 or not text_line(head).stems <= in_file:
        return False
    needed = text_line(arguments).stems
    return any(
        wanted in line.folded
        and words <= line.stems
        and needed <= frozenset[str]().union(*(each.stems for each in lines[number : number + SIGNATURE_LINES]))
        for number, line in enumerate(lines)
    )


def without_page_numbers(pages: Sequence[Sequence[TextLine]]) -> list[list[TextLine]]:
    """Return the lines of all pages without printed page numbers, which would confirm any title like `Chapter 4`.

    A lone number is a page number if nearby pages continue the count.
    """
    numbers = [frozenset(number for line in page if (number := lone_number(line.folded))) for page in pages]

    def counts(page: int, number: int) -> bool:
        near = (page + step for step in (-2, -1, 1, 2) if 0 <= page + step < len(pages))
        return any(number + other - page in numbers[other] for other in near)

    return [
        [line for line in page if not ((number := lone_number(line.folded)) and counts(at, number))]
        for at, page in enumerate(pages)
    ]


def markup_line(text: str) -> TextLine:
    """Return a line of HTML or XML without its tags, whose attributes readers do not see."""
    return text_line(html.unescape(_TAG.sub(" ", text)))


_MARKUP = frozenset({"html", "xml", "svg", "notebook", "json", "jsonl"})
"""Formats whose lines contain tags or escape sequences in addition to words."""

_SPOKEN = frozenset({"subtitles", "log"})
"""Texts without headings: a title may use words from the whole part."""


def title_context(view: SourceView, pages: Sequence[Sequence[str]], book: Book | None) -> TitleContext | None:
    """Return the text in which titles are searched for; None if the source has no text.

    `pages` contains the lines of each page, and `book` is the text of a source with chapters.
    """
    marks = KnownTitles([(float(span), text_line(title)) for title, span in known_titles(view.local, view.codec)])
    if book is not None and isinstance(view.codec, ParagraphCodec):
        return RowContext(rows=[text_line(text) for text in _paragraphs(book, view.codec)], known_titles=marks)
    if view.codec.unit == "page":
        return PageContext(
            pages=without_page_numbers([[text_line(line) for line in page] for page in pages]), known_titles=marks
        )
    if view.codec.unit == "line":
        as_line = markup_line if view.source.format.name in _MARKUP else text_line
        rows = [as_line(line) for line in open_text(view.source.path, view.progress).lines(view.progress)]
        name = view.source.format.name
        return RowContext(rows=rows, known_titles=marks, whole=name in _SPOKEN, is_code=name in CODE)
    if view.codec.unit == "second":
        cues = [(cue.start, text_line(cue.text)) for cue in cues_of(view)]
        return CueContext(cues=cues, known_titles=marks) if cues else None
    return None


def known_titles(known: ResourceMap, codec: LocationCodec) -> list[tuple[str, int]]:
    """Return the titles of the local map, each with the page, line, paragraph, or second at which it starts."""
    spans = ((node.title, codec.from_location(node.location)) for node in known.walk())
    return [(title, int(span[0])) for title, span in spans if span is not None]


def _paragraphs(book: Book, codec: ParagraphCodec) -> list[str]:
    return [
        chapter.text[start:end]
        for chapter, spans in zip(book.chapters, codec.paragraphs, strict=True)
        for start, end in spans
    ]
