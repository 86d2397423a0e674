"""Writes chapters of a book as one HTML document."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from attrs import define

from citekit.adapters.formats.xhtml.chapter_html import Page, body_markup, document
from citekit.adapters.formats.xhtml.flow import Flow
from citekit.domain.errors import FormUnsupported, LocationOutside, SourceUnsupported
from citekit.domain.progress import Progress

DOCUMENT_LIMIT = 64 * 1024 * 1024
"""Maximum number of characters that are written for one HTML document."""

STEPS_LIMIT = 4_000_000
"""Maximum number of start tags, end tags, and pieces of text in a book."""


def check_steps(steps: int, name: str) -> None:
    """Raise `SourceUnsupported` if the book `name` has more than `STEPS_LIMIT` tags and pieces of text."""
    if steps > STEPS_LIMIT:
        raise SourceUnsupported(
            f"{name} has more than {STEPS_LIMIT:,} tags and pieces of text, the limit for a book. Split it into smaller "
            "files."
        )


@define
class ChapterPages:
    """A writer of a book's chapters as HTML. `content` and `page` return the content and metadata of a chapter
    (1-based).
    """

    count: int
    content: Callable[[int], Flow]
    page: Callable[[int], Page]
    steps: int = 0

    def document(self, chapter: int, chars: tuple[int, int] | None, last: int | None, progress: Progress) -> str:
        """See `Reader.html`. Also raise `SourceUnsupported` if the chapters have too many tags and pieces of text."""
        self._check(chapter)
        if last is None or last == chapter:
            body = bounded(self._body(chapter, chars), f"Chapter {chapter} produces")
        else:
            self._check(last)
            body = bounded(self._sections(chapter, last, progress), f"Chapters {chapter}-{last} produce")
        return document(self.page(chapter), body)

    def _check(self, chapter: int) -> None:
        if not 1 <= chapter <= self.count:
            raise LocationOutside.beyond("chapter", chapter, "book", self.count)

    def _sections(self, first: int, last: int, progress: Progress) -> Iterator[str]:
        """Yield the markup of the chapters from `first` to `last`, each in a `section` element."""
        for number in range(first, last + 1):
            progress(number - first, last + 1 - first, "extracting chapters")
            yield "<section>\n"
            yield from self._body(number, None)
            yield "\n</section>" if number == last else "\n</section>\n"

    def _body(self, number: int, chars: tuple[int, int] | None) -> Iterator[str]:
        """Return the markup of chapter `number`, or of the range `chars` of its characters.

        Raise `SourceUnsupported` if the chapters so far exceed `STEPS_LIMIT`, or `LocationOutside` if `chars` is not
        within the chapter.
        """
        content = self.content(number)
        self.steps += len(content.steps)
        if self.steps > STEPS_LIMIT:
            raise SourceUnsupported(
                f"The requested chapters, up to chapter {number}, have more than {STEPS_LIMIT:,} tags and pieces of text, "
                "which is the limit. Request fewer chapters, or the form text."
            )
        if chars is not None and not 0 <= chars[0] < chars[1] <= len(content.text):
            raise LocationOutside(
                f"characters {chars[0]}-{chars[1]} are beyond the end: "
                f"chapter {number} has {len(content.text)} characters"
            )
        return body_markup(content, self.page(number), chars)


def bounded(pieces: Iterable[str], what: str, remedy: str = "Request the form text, or a smaller part.") -> str:
    """Return the pieces joined. Raise `FormUnsupported` as soon as their total length exceeds `DOCUMENT_LIMIT`.

    `what` starts the message, as in "Chapter 3 produces", and `remedy` ends it.
    """
    kept, size = [], 0
    for piece in pieces:
        size += len(piece)
        if size > DOCUMENT_LIMIT:
            raise FormUnsupported(
                f"{what} an HTML document of more than {DOCUMENT_LIMIT // 1_000_000} million characters, which is the limit. "
                f"{remedy}"
            )
        kept.append(piece)
    return "".join(kept)
