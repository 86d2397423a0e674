"""Reads the text of PDF pages with PyMuPDF, in the order in which the file draws it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from time import thread_time
from typing import TYPE_CHECKING, Any, Self

from attrs import frozen

from citekit.adapters.formats.pdf.document.hidden_text import has_annotations
from citekit.adapters.formats.pdf.document.scanned_pages import PageRecognizer, is_blank_scan
from citekit.adapters.formats.pdf.document.superscripts import CELL_END, levelled_blocks
from citekit.adapters.formats.pdf.document.text import text_flags
from citekit.adapters.formats.pdf.document.visible_text import Blocks, shown_blocks
from citekit.adapters.formats.pdf.lazy import Lazy
from citekit.adapters.formats.shared.book_metadata import language_code
from citekit.adapters.formats.shared.read_pages import PagesRead, ReadPages
from citekit.adapters.libraries.mupdf.engine import GIVE, Document, PageWorkError, give_way, opened, skipped_pages
from citekit.domain.errors import CiteKitError
from citekit.domain.formats import Format
from citekit.domain.library.books import BookFacts
from citekit.domain.library.extracted_text import ExtractedText, UnitKind
from citekit.domain.progress import Progress, silent
from citekit.domain.quotes.hidden import with_hidden
from citekit.domain.quotes.superscripts import CUT
from citekit.domain.source import Source

if TYPE_CHECKING:
    from citekit.adapters.formats.shared.ocr import OcrReader
    from citekit.adapters.libraries.sqlite.key_value_cache import Index

_BROKEN = re.compile(r"(?<!\w)([^\W\d_]{2,40})-\n([^\W\d_]{2,40})")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_SOFT_END = re.compile("\u00ad[ \t]*\n[ \t]*")
_ENDED = re.compile(r"""[.!?:;。！？…]["'”’»)\]]*$""")
_JUNK = re.compile(
    r"untitled(?: \d+)?|no title|title|unknown|document\d*|print|anonymous|author|user|owner|admin(?:istrator)?"
    r"|adobe photoshop pdf|\[.*\]",
    re.IGNORECASE,
)
_FILE = re.compile(
    r".{0,200}\.(?:docx?|rtf|odt|tex|dvi|ps|eps|pdf|pptx?|xlsx?|indd|qxd|qxp|fm|pmd|p65|wpd|pages|key|txt|html?)", re.I
)


class PyMuPdfTextReader:
    """A text reader for PDFs that reads page by page and lets other threads use PyMuPDF between two pages.

    Lines are separated by a line feed, and paragraphs (blocks) by two, unless a block clearly continues in the next.
    Soft hyphens are removed. If `joining` is true, words that other hyphens split at line ends are joined (see
    `_unbroken`).

    Hidden text is omitted (see `hidden_text`). With `as_seen`, a page with hidden text has its visible text first, then
    a mark, and then all of its text, in the format of `domain.quotes.hidden`; and raised and lowered numbers become
    superscripts and subscripts.

    `password` opens a file that needs one. If `password` is None, the error about such a file contains the advice
    `locked`. `ocr` recognizes the text of scanned pages, which is otherwise empty, and `index` caches it. `known` holds
    the texts of pages that a mapper has just read, as a reader with `as_seen` and without `joining` returns them.
    """

    def __init__(
        self,
        *,
        joining: bool = True,
        as_seen: bool = False,
        password: str | None = None,
        locked: str = GIVE,
        ocr: OcrReader | None = None,
        index: Index | None = None,
        known: ReadPages | None = None,
    ) -> None:
        self._joining, self._as_seen, self._password, self._locked = joining, as_seen, password, locked
        self._ocr, self._index, self._known = ocr, index, known

    def supports(self, format: Format) -> bool:
        """Return whether `format` is PDF."""
        return format.name == "pdf"

    def read(self, source: Source, progress: Progress = silent) -> ExtractedText:
        """See `TextReader.read`. Each page is a unit, which is empty if the page has no text or is too complex to be
        read.
        """
        known = PagesRead() if self._known is None else self._known.take(source)
        if known.is_whole and (self._ocr is None or all(map(str.strip, known.texts.values()))):
            return ExtractedText.joined(UnitKind.PAGE, [known.texts[number] for number in sorted(known.texts)], "\n")
        with opened(source.path, password=self._password, locked=self._locked) as document:
            pages = list(_pages(document, progress, known.texts, as_seen=self._as_seen))
            unread = skipped_pages(document)
            recognized = {} if self._ocr is None else self._recognized(document, source, pages, unread, progress)
        for number, text in recognized.items():
            pages[number - 1] = text
        texts = _unbroken(pages) if self._joining else pages
        return ExtractedText.joined(UnitKind.PAGE, texts, "\n", unread=unread, recognized=recognized)

    def _recognized(
        self, document: Document, source: Source, pages: Sequence[str], unread: Sequence[int], progress: Progress
    ) -> dict[int, str]:
        """Return the recognized text of scanned pages without text, by 1-based page number."""
        assert self._ocr is not None
        recognizer = PageRecognizer(self._ocr, source.size, self._index)
        empty = [number for number, text in enumerate(pages, 1) if not text.strip() and number not in unread]
        found = {}
        for position, number in enumerate(empty):
            progress(position, len(empty), "reading scanned pages")
            if not is_blank_scan(document, number):
                continue
            page = recognizer.page(document, number)
            if page is not None and page.lines:
                found[number] = page.text
        return found

    def facts(self, source: Source) -> BookFacts:
        """See `TextReader.facts`. The title, authors, and language are those that the file states.

        Default values of programs and damaged values are left out, and so is a title that is a file name.
        """
        with opened(source.path, password=self._password, locked=self._locked) as document:
            said = document.metadata or {}
            language = getattr(document, "language", None)
        title, author = _title(said.get("title")), _said(said.get("author"))
        return BookFacts(title=title, authors=_authors(author), language=language_code(language))


_KEPT = ("\n", CUT, CELL_END)
_SHOWN: Lazy[int, int] = Lazy(lambda code: code if chr(code) in _KEPT or chr(code).isprintable() else 32)


def _pages(document: Any, progress: Progress, known: Mapping[int, str], *, as_seen: bool) -> Iterator[str]:
    flags = text_flags()
    count = document.page_count
    for number in range(count):
        progress(number, count, "reading pages")
        try:
            page = document[number]  # a known page is loaded, too, because its cost counts
            yield known[number + 1] if number + 1 in known else _page_text(page, flags, as_seen=as_seen)
        except PageWorkError:  # `skipped_pages` says which pages; the others are read
            yield ""
        give_way()


@frozen
class PageTextCollector:
    """Collects the texts of the pages of an open document for a `PyMuPdfTextReader`. Use it inside `opened()`."""

    _pages: ReadPages
    _document: Document
    _flags: int

    @classmethod
    def of(cls, pages: ReadPages, source: Source, document: Document) -> Self | None:
        """Return a collector for `document`, or None if `pages` does not expect the texts of `source`."""
        return cls(pages, document, text_flags()) if pages.is_expected(source) else None

    def is_missing(self, number: int) -> bool:
        """Return whether the text of the page with the 1-based `number` is still to be collected."""
        return self._pages.is_missing(number)

    def collect(self, number: int, page: object, blocks: Blocks | None = None) -> None:
        """Store the text of the page `number` if it `is_missing`. `blocks` are the text blocks of its content, if they
        have been read.

        The blocks of a page with annotations are read again, to include their text. A damaged page ends the collection
        and discards all texts, so that the text reader reads the file itself.
        """
        if not self.is_missing(number):
            return
        since = thread_time()
        try:
            own = None if has_annotations(page) else blocks
            self._pages.put(number, _page_text(page, self._flags, as_seen=True, blocks=own), since)
        except CiteKitError:
            raise
        except Exception:  # PyMuPDF can raise any exception then
            self._pages.forget()

    def complete(self, step: Callable[[], None]) -> None:
        """Collect the pages that are still missing, and call `step` after each. Discard all texts if a page is damaged
        or too complex.
        """
        count = self._document.page_count
        for number in range(1, count + 1):
            if self.is_missing(number):
                try:
                    page = self._document[number - 1]
                except Exception:  # as for `collect`
                    self._pages.forget()
                    return
                self.collect(number, page)
                step()
        if skipped_pages(self._document):
            self._pages.forget()
        else:
            self._pages.finish(count)


def drawn_pages(path: Path, numbers: Sequence[int], *, password: str | None = None) -> dict[int, str]:
    """Return the text of pages that is visible when they are drawn, by 1-based page number.

    The text is divided into lines and paragraphs as by `PyMuPdfTextReader` with `as_seen` and without `joining`. Pages
    that the file does not have, or that are too complex to be read, are left out. Raise the same errors as `opened`.
    """
    flags, texts = text_flags(), {}
    with opened(path, password=password) as document:
        for number in numbers:
            if not 1 <= number <= document.page_count:
                continue
            with suppress(PageWorkError):
                shown, _ = shown_blocks(document[number - 1], flags, drawn=True)
                texts[number] = _joined([block_text(block) for block in levelled_blocks(shown)])
            give_way()
    return texts


def _page_text(page: Any, flags: int, *, as_seen: bool, blocks: Blocks | None = None) -> str:
    shown, all_blocks = shown_blocks(page, flags, blocks=blocks)
    make = levelled_blocks if as_seen else _plain_blocks
    text = _joined([block_text(block) for block in make(shown)])
    if as_seen and all_blocks is not None:
        text = with_hidden(text, _joined([block_text(block) for block in make(all_blocks)]))
    return text


def _plain_blocks(blocks: Blocks) -> Iterator[str]:
    for block in blocks:
        yield "".join("".join(span["text"] for span in line["spans"]) + "\n" for line in block.get("lines", ()))


def _joined(blocks: Sequence[str]) -> str:
    """Return the blocks of a page joined by empty lines, or by a line feed within a sentence."""
    text: list[str] = []
    for block in filter(None, blocks):
        if text:
            goes_on = block[0].islower() and not _ENDED.search(text[-1][-8:])
            text.append("\n" if goes_on else "\n\n")
        text.append(block)
    return "".join(text)


def block_text(block: str) -> str:
    """Return the text of a block without soft hyphens and empty lines.

    Unprintable characters become spaces, runs of white space become one space, and tabs separate the cells of a table.
    """
    text = _SOFT_END.sub("", block).replace("\u00ad", "") if "\u00ad" in block else block
    if not text.replace("\n", "").isprintable():
        text = text.translate(_SHOWN)
    lines = (_row(line) if CELL_END in line else " ".join(line.split()) for line in text.split("\n"))
    return "\n".join(filter(None, lines))


def _row(line: str) -> str:
    """Return the table row `line` without its empty cells, with tabs between the other cells."""
    cells = (" ".join(cell.split()) for cell in line.split(CELL_END))
    return "\t".join(filter(None, cells))


def _unbroken(pages: Sequence[str]) -> Iterator[str]:
    """Yield the pages, with words that were split at line ends joined.

    A word stays split if its second half does not start with a lowercase letter, if its hyphenated form occurs
    elsewhere, or if its first half occurs elsewhere as a word and the joined word does not.
    """
    parted = {match.groups() for page in pages for match in _BROKEN.finditer(page)}
    if not parted:
        yield from pages
        return
    wanted = {form.lower() for first, second in parted for form in (first, first + second, f"{first}-{second}")}
    known: set[str] = set()
    for page in pages:
        known.update(wanted.intersection(_WORD.findall(_BROKEN.sub(" ", page).lower())))
    for page in pages:
        yield _BROKEN.sub(lambda match: _put_together(match, known), page)


def _put_together(match: re.Match[str], known: set[str]) -> str:
    first, second = match.groups()
    if not second[0].islower() or f"{first}-{second}".lower() in known:
        return match[0]
    whole = (first + second).lower() in known or first.lower() not in known
    return first + second if whole else match[0]


def _said(text: str | None) -> str | None:
    """Return a metadata value on one line; None if it is empty, damaged, or a default that programs write."""
    said = " ".join(_shown(text or "").split())
    return None if not said or _JUNK.fullmatch(said) or "\ufffd" in said else said


def _shown(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text)


def _title(text: str | None) -> str | None:
    said = _said(text)
    if said is None or said.startswith(("Microsoft Word - ", "Microsoft PowerPoint - ", "Powerpoint")):
        return None
    return None if _FILE.fullmatch(said) else said


def _authors(text: str | None) -> list[str]:
    """Return the authors named in `text`, which is split at semicolons and ampersands."""
    return [name for name in (each.strip() for each in re.split(r"\s*;\s*|\s+&\s+", text or "")) if name]
