"""Adapters that read books, texts, recordings, and pages in a worker process."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import frozen

from citekit.adapters.sandbox.worker_pool import WorkerPool
from citekit.domain.formats import Format
from citekit.domain.library.books import BookFacts
from citekit.domain.library.extracted_text import ExtractedText
from citekit.domain.locations import Pages
from citekit.domain.page_view import PagePicture, PageSize, PageWord, SheetRow
from citekit.domain.ports.media_probe import MediaFacts
from citekit.domain.ports.page_views import PageViews
from citekit.domain.ports.quotable_texts import QuotableTexts
from citekit.domain.ports.reader import Book
from citekit.domain.ports.screen_reader import ScreenReader
from citekit.domain.ports.text_reader import TextReader
from citekit.domain.ports.transcriber import Transcriber
from citekit.domain.progress import Progress, silent
from citekit.domain.quotes.quotable import Quotable
from citekit.domain.screen_text import ScreenText
from citekit.domain.source import Source
from citekit.domain.speech import Speech, SpeechWindow
from citekit.wire.worker_protocol import (
    amplitudes_from,
    book_facts_from,
    book_from,
    drawn_pages_from,
    extracted_text_from,
    invalid,
    media_facts_from,
    page_sizes_from,
    page_words_from,
    picture_from,
    plain_source,
    screen_text_from,
    sheet_rows_from,
    speech_from,
    speech_windows_from,
    text_from,
    texts_from,
)


@frozen
class IsolatedReader:
    """A `Reader` of books without fixed pages that runs in a worker.

    Methods raise `SourceUnsupported` if the worker dies on the file.
    """

    workers: WorkerPool

    def read(self, path: Path) -> Book:
        """See `Reader.read`."""
        return book_from(self.workers.ask("book", path, {"path": str(path)}))

    def texts(self, path: Path, chapter: int, *, last: int | None = None) -> Sequence[str]:
        """See `Reader.texts`."""
        asked = {"path": str(path), "chapter": chapter, "last": last}
        return texts_from(self.workers.ask("chapters", path, asked))

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
        asked = {"path": str(path), "chapter": chapter, "chars": chars, "last": last}
        return text_from(self.workers.ask("html", path, asked, progress))


@frozen
class IsolatedProbe:
    """A `MediaProbe` that runs in a worker. `probe` raises `SourceUnsupported` if the worker dies on the file."""

    workers: WorkerPool

    def probe(self, path: Path) -> MediaFacts:
        """See `MediaProbe.probe`."""
        return media_facts_from(self.workers.ask("probe", path, {"path": str(path)}))


@frozen
class _IsolatedRecognizer:
    """Recognizes words in a worker. `here` is the same recognizer in this process."""

    here: Transcriber | ScreenReader
    workers: WorkerPool

    @property
    def name(self) -> str:
        """The name of the software and its model."""
        return self.here.name

    @property
    def version(self) -> str:
        """A text that changes when the same file may result in other words."""
        return self.here.version


class IsolatedTranscriber(_IsolatedRecognizer):
    """A `Transcriber` that runs in a worker. `transcribe` raises `SourceUnsupported` if the worker dies on the file."""

    def transcribe(self, source: Source, progress: Progress = silent) -> Speech:
        """See `Transcriber.transcribe`."""
        return speech_from(self.workers.ask("speech", source.path, {"source": plain_source(source)}, progress))


@frozen
class IsolatedSpeechWindows:
    """A `SpeechWindows` that runs in a worker. `write` raises `SourceUnsupported` if the worker dies on the file."""

    workers: WorkerPool

    def write(self, source: Source, target: Path, progress: Progress = silent) -> Sequence[SpeechWindow]:
        """See `SpeechWindows.write`.

        The worker could replace the file `target`, so the caller must open it before this call and read what it opened.
        """
        asked = {"source": plain_source(source), "target": str(target)}
        return speech_windows_from(self.workers.ask("speech_windows", source.path, asked, progress))


class IsolatedScreenReader(_IsolatedRecognizer):
    """A `ScreenReader` that runs in a worker. `read` raises `SourceUnsupported` if the worker dies on the file."""

    def read(self, source: Source, progress: Progress = silent) -> ScreenText:
        """See `ScreenReader.read`."""
        return screen_text_from(self.workers.ask("screen", source.path, {"source": plain_source(source)}, progress))


@frozen
class IsolatedTextReader:
    """A text reader that runs in a worker if `is_apart` returns True for the file; otherwise, it calls `here`."""

    here: TextReader
    workers: WorkerPool
    is_apart: Callable[[Source], bool]

    def supports(self, format: Format) -> bool:
        """See `TextReader.supports`."""
        return self.here.supports(format)

    def read(self, source: Source, progress: Progress = silent) -> ExtractedText:
        """See `TextReader.read`. Raise `SourceUnsupported` if the worker dies on the file."""
        if not self.is_apart(source):
            return self.here.read(source, progress)
        return extracted_text_from(self.workers.ask("text", source.path, {"source": plain_source(source)}, progress))

    def facts(self, source: Source) -> BookFacts:
        """See `TextReader.facts`. Raise `SourceUnsupported` if the worker dies on the file."""
        if not self.is_apart(source):
            return self.here.facts(source)
        return book_facts_from(self.workers.ask("facts", source.path, {"source": plain_source(source)}))


@frozen
class IsolatedPageViews:
    """A `PageViews` that draws in a worker what `here` supports. Methods raise `SourceUnsupported` if the worker dies."""

    here: PageViews
    workers: WorkerPool

    def supports(self, format: Format) -> bool:
        """See `PageViews.supports`."""
        return self.here.supports(format)

    def sizes(self, source: Source) -> Sequence[PageSize]:
        """See `PageViews.sizes`."""
        return page_sizes_from(self.workers.ask("page_sizes", source.path, {"source": plain_source(source)}))

    def picture(self, source: Source, page: int, width: int) -> PagePicture:
        """See `PageViews.picture`."""
        asked = {"source": plain_source(source), "page": page, "width": width}
        return PagePicture(*picture_from(self.workers.ask("page_picture", source.path, asked)))

    def words(self, source: Source, page: int) -> Sequence[PageWord]:
        """See `PageViews.words`."""
        asked = {"source": plain_source(source), "page": page}
        return page_words_from(self.workers.ask("page_words", source.path, asked))

    def rows(self, source: Source, sheet: str) -> Sequence[SheetRow]:
        """See `PageViews.rows`."""
        asked = {"source": plain_source(source), "sheet": sheet}
        return sheet_rows_from(self.workers.ask("sheet_rows", source.path, asked))

    def document(self, source: Source, page: int) -> str:
        """See `PageViews.document`."""
        asked = {"source": plain_source(source), "page": page}
        return text_from(self.workers.ask("document", source.path, asked))

    def waveform(self, source: Source, count: int) -> Sequence[int]:
        """See `PageViews.waveform`."""
        asked = {"source": plain_source(source), "count": count}
        return amplitudes_from(self.workers.ask("waveform", source.path, asked))


@frozen
class IsolatedQuotableTexts:
    """A reader of quotable texts that runs in a worker if `is_apart` returns True for the file; otherwise, it calls
    `here`.

    `from_plain` converts one text in the worker's answer from plain data.
    """

    here: QuotableTexts
    workers: WorkerPool
    is_apart: Callable[[Source], bool]
    from_plain: Callable[[dict[str, object]], Quotable]

    def version(self, source: Source) -> str:
        """See `QuotableTexts.version`."""
        return self.here.version(source)

    def reader_version(self) -> str:
        """See `QuotableTexts.reader_version`."""
        return self.here.reader_version()

    def drawn(self, source: Source, pages: Sequence[int]) -> Mapping[int, str]:
        """See `QuotableTexts.drawn`. Raise `SourceUnsupported` if the worker dies on the file."""
        if not self.is_apart(source):
            return self.here.drawn(source, pages)
        asked = {"source": plain_source(source), "pages": list(pages)}
        texts = drawn_pages_from(self.workers.ask("drawn_pages", source.path, asked))
        return {number: texts[number] for number in pages if number in texts}

    def region(self, source: Source, place: Pages) -> Quotable:
        """See `QuotableTexts.region`. The region is read by `here`."""
        return self.here.region(source, place)

    def read(self, source: Source, progress: Progress = silent) -> Sequence[Quotable]:
        """See `QuotableTexts.read`. Raise `SourceUnsupported` if the worker dies on the file."""
        if not self.is_apart(source):
            return self.here.read(source, progress)
        found = self.workers.ask("quotable", source.path, {"source": plain_source(source)}, progress)
        if not isinstance(found, list) or not found:
            raise invalid("the text")
        return [self._text(each) for each in found]

    def _text(self, plain: Any) -> Quotable:
        """Convert one text in the worker's answer from plain data. Raise `FaultyAnswer` if it is not valid.

        A hostile file may control the worker, so its answers are not trusted.
        """
        extracted_text_from(plain if isinstance(plain, dict) else {})
        try:
            text = self.from_plain(plain)
        except (ValueError, KeyError, TypeError, OverflowError) as wrong:
            raise invalid("the text") from wrong
        if not text.is_sound:
            raise invalid("the text")
        return text
