"""PDF pages by PyMuPDF, in the order in which the file draws them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from citekit.adapters.formats.pdf.document.superscripts import CELL_END, levelled_blocks
from citekit.adapters.formats.pdf.document.text import text_flags
from citekit.adapters.formats.pdf.document.visible_text import Blocks, shown_blocks
from citekit.adapters.formats.shared.book_metadata import language_code
from citekit.adapters.libraries.mupdf.engine import give_way, opened, skipped_pages
from citekit.adapters.libraries.mupdf.page_cost import PageWorkError
from citekit.domain.formats import Format
from citekit.domain.library.books import BookFacts
from citekit.domain.library.extracted_text import ExtractedText, UnitKind
from citekit.domain.progress import Progress, silent
from citekit.domain.quotes.hidden import with_hidden
from citekit.domain.quotes.superscripts import CUT
from citekit.domain.source import Source

_BROKEN = re.compile(r"(?<!\w)([^\W\d_]{2,40})-\n([^\W\d_]{2,40})")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_SOFT_END = re.compile("\u00ad[ \t]*\n[ \t]*")
_BLANKS = re.compile(r"[^\S\n]+")
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
    """Reads PDFs page by page; other threads get at PyMuPDF between two pages.

    Lines end with line feeds, paragraphs (blocks) with two, unless a block clearly continues in the next one. A word
    that is split at the end of a line is joined: at a soft hyphen always; at a hyphen if the whole word occurs elsewhere
    in the document, or its first part nowhere. No other character but soft hyphens is left out.

    Hidden text is omitted (see `formats.pdf.document.hidden_text`); with `as_seen`, all text of such a page
    follows its shown text behind a mark, as `domain.quotes.hidden` writes it.

    If `joining` is false, words stay split where the page splits them. With `as_seen`, numbers that stand higher or
    lower are superscripts and subscripts. `password` opens a locked file.
    """

    def __init__(self, *, joining: bool = True, as_seen: bool = False, password: str | None = None) -> None:
        self._joining, self._as_seen, self._password = joining, as_seen, password

    def supports(self, format: Format) -> bool:
        """PDF alone."""
        return format.name == "pdf"

    def read(self, source: Source, progress: Progress = silent) -> ExtractedText:
        """A unit a page, an empty one for a page without text, or too complex to be read; see `TextReader.read`."""
        with opened(source.path, password=self._password) as document:
            pages = list(_pages(document, progress, as_seen=self._as_seen))
            unread = skipped_pages(document)
        return ExtractedText.joined(UnitKind.PAGE, _unbroken(pages) if self._joining else pages, "\n", unread=unread)

    def facts(self, source: Source) -> BookFacts:
        """What the document information says; what a program put there by itself counts for nothing."""
        with opened(source.path, password=self._password) as document:
            said = document.metadata or {}
            language = getattr(document, "language", None)
        title, author = _title(said.get("title")), _said(said.get("author"))
        return BookFacts(title=title, authors=_authors(author), language=language_code(language))


_KEPT = ("\n", CUT, CELL_END)


def _pages(document: Any, progress: Progress, *, as_seen: bool) -> Iterator[str]:
    flags = text_flags()
    count = document.page_count
    for number in range(count):
        progress(number, count, "reading pages")
        try:
            yield _page_text(document[number], flags, as_seen=as_seen)
        except PageWorkError:  # `skipped_pages` tells which; the other pages are read
            yield ""
        give_way()


def _page_text(page: Any, flags: int, *, as_seen: bool) -> str:
    shown, all_blocks = shown_blocks(page, flags)
    make = levelled_blocks if as_seen else _plain_blocks
    text = _joined([block_text(block) for block in make(shown)])
    if as_seen and all_blocks is not None:
        text = with_hidden(text, _joined([block_text(block) for block in make(all_blocks)]))
    return text


def _plain_blocks(blocks: Blocks) -> Iterator[str]:
    for block in blocks:
        yield "".join("".join(span["text"] for span in line["spans"]) + "\n" for line in block.get("lines", ()))


def _joined(blocks: Sequence[str]) -> str:
    """The blocks of a page: one that ends within a sentence which goes on with a small letter does not end a paragraph."""
    text: list[str] = []
    for block in filter(None, blocks):
        if text:
            goes_on = block[0].islower() and not _ENDED.search(text[-1][-8:])
            text.append("\n" if goes_on else "\n\n")
        text.append(block)
    return "".join(text)


def block_text(block: str) -> str:
    """Return a block without soft hyphens and empty lines.

    Characters that cannot be displayed become spaces, runs of white space become one space, and the ends of cells become
    tabs.
    """
    text = _SOFT_END.sub("", block).replace("\u00ad", "") if "\u00ad" in block else block
    if not text.replace("\n", "").isprintable():
        text = "".join(c if c in _KEPT or c.isprintable() else " " for c in text)
    lines = (_row(line) if CELL_END in line else _BLANKS.sub(" ", line).strip() for line in text.split("\n"))
    return "\n".join(filter(None, lines))


def _row(line: str) -> str:
    """Return a row without its empty cells, with tabs between the others."""
    cells = (_BLANKS.sub(" ", cell).strip() for cell in line.split(CELL_END))
    return "\t".join(filter(None, cells))


def _unbroken(pages: Sequence[str]) -> Iterator[str]:
    """The pages, with words joined that were split at line ends, where that is certain."""
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
    """A value that a person may have written, on one line; None for what programs write."""
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
    """The authors in a text that separates them with semicolons or ampersands."""
    return [name for name in (each.strip() for each in re.split(r"\s*;\s*|\s+&\s+", text or "")) if name]
