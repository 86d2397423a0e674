"""Reads reflowable books. The first bytes and the name of the file determine the format."""

from __future__ import annotations

from pathlib import Path

from citekit.adapters.formats.docx.reader import docx_reader
from citekit.adapters.formats.epub.markup_books import MarkupReader
from citekit.adapters.formats.epub.reader import EpubReader
from citekit.adapters.formats.fb2.reader import fb2_reader
from citekit.adapters.formats.mail.reader import mail_reader
from citekit.adapters.formats.mobi.reader import mobi_reader
from citekit.adapters.system.files import open_for_reading, unreadable
from citekit.domain.detection import HEAD_SIZE, detect
from citekit.domain.library.books import BookFacts
from citekit.domain.ports.reader import Book
from citekit.domain.progress import Progress, silent


class AnyBookReader:
    """Reads EPUB, MOBI (including AZW3), FB2, DOCX, EML, and MBOX files.

    The EPUB reader rejects all other files. For `as_seen`, see `EpubReader`.
    """

    def __init__(self, *, as_seen: bool = False) -> None:
        self._readers: dict[str, EpubReader | MarkupReader] = {
            "mobi": mobi_reader(as_seen=as_seen),
            "fb2": fb2_reader(as_seen=as_seen),
            "docx": docx_reader(as_seen=as_seen),
            "eml": mail_reader(as_seen=as_seen),
            "mbox": mail_reader(as_seen=as_seen),
        }
        self._epub = EpubReader(as_seen=as_seen)

    def facts(self, path: Path) -> BookFacts:
        """Return the book's metadata. Raise the errors of `read`, but accept MOBI, FB2, and DOCX files without text."""
        return self._reader(path).facts(path)

    def read(self, path: Path) -> Book:
        """See `Reader.read`. Also raise `SourceUnsupported` for a file without chapters, or for a Word document that
        contains neither text nor pictures.
        """
        return self._reader(path).read(path)

    def texts(self, path: Path, chapter: int, *, last: int | None = None) -> list[str]:
        """See `Reader.texts`."""
        return self._reader(path).texts(path, chapter, last=last)

    def html(
        self,
        path: Path,
        chapter: int,
        chars: tuple[int, int] | None = None,
        *,
        last: int | None = None,
        progress: Progress = silent,
    ) -> str:
        """See `Reader.html`."""
        return self._reader(path).html(path, chapter, chars, last=last, progress=progress)

    def _reader(self, path: Path) -> EpubReader | MarkupReader:
        try:
            with open_for_reading(path) as stream:
                format = detect(path.name, stream.read(HEAD_SIZE))
        except OSError as error:
            raise unreadable(error, path) from error
        return self._readers.get(format.name if format else "", self._epub)
