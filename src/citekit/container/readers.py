"""Creates the readers of source files, most of which run in workers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from citekit.container.access import Access
from citekit.container.cached_property import first_use
from citekit.container.lazy_proxy import lazy
from citekit.container.names import QUOTABLE

if TYPE_CHECKING:
    from citekit.adapters.formats.measuring import RememberingMeasurer
    from citekit.adapters.importers.foreign_files import ForeignFiles
    from citekit.adapters.sandbox.next_reads import NextReads
    from citekit.adapters.sandbox.worker_pool import WorkerPool
    from citekit.application.measure_extent import MeasureSource
    from citekit.container.parsers import Parsers
    from citekit.domain.ports.extractor import Extractor
    from citekit.domain.ports.mapper import Mapper
    from citekit.domain.ports.measurer import Measurer
    from citekit.domain.ports.media_probe import MediaProbe
    from citekit.domain.ports.page_views import PageViews
    from citekit.domain.ports.quotable_texts import QuotableTexts
    from citekit.domain.ports.reader import Reader
    from citekit.domain.ports.screen_reader import ScreenReader
    from citekit.domain.ports.speech_models import SpeechModels
    from citekit.domain.ports.speech_windows import SpeechWindows
    from citekit.domain.ports.text_reader import TextReader
    from citekit.domain.ports.transcriber import Transcriber


class Readers(Access):
    """The readers of source files, most of which run in workers, if there are any."""

    __slots__ = ()

    @first_use
    def parsers(self) -> Parsers:
        """The parsers that run in this process instead of in a worker."""
        from citekit.container.parsers import Parsers, SpeechChoice

        chosen = self.settings
        return Parsers(
            password=chosen.password,
            ocr=chosen.ocr,
            speech=SpeechChoice(
                chosen.speech_model, chosen.speech_language, str(chosen.models_folder), "on" if chosen.speakers else ""
            )
            if chosen.speech
            else None,
            given_index=lazy(lambda: self.index),
            given_reader=self._given.get("reader"),
            given_probe=self._given.get("probe"),
            given_transcriber=self._given.get("transcriber") or self.asked_transcriber,
            given_screen_reader=self._given.get("screen_reader"),
            given_clock=self.clock,
        )

    @first_use
    def workers(self) -> WorkerPool | None:
        """The pool of worker processes that parse files, or None if files are parsed in this process."""
        from citekit.container.sandbox import is_possible, worker_pool_of

        if self.settings.parsers == "inline" or not is_possible():
            return None
        return worker_pool_of(self.settings, self.index, asked_transcriber=lambda: self.asked_transcriber)

    def _workers_unless_given(self, *ports: str) -> WorkerPool | None:
        """Return the worker pool, or None if there is none.

        Also return None if the caller supplied an adapter for one of `ports`, because workers cannot use that adapter.
        """
        return None if any(port in self._given for port in ports) else self.workers

    @first_use
    def _workers_with_ffmpeg(self) -> WorkerPool | None:
        from citekit.container.sandbox import worker_pool_of

        return self.workers and worker_pool_of(
            self.settings, self.index, run_ffmpeg=True, asked_transcriber=lambda: self.asked_transcriber
        )

    def expect(self, path: Path) -> None:
        """Start a worker early if mapping the file at `path` needs one."""
        from citekit.container.parsers import is_expected_in_worker

        if is_expected_in_worker(path) and self.workers is not None:
            self.workers.warm()

    def _forget_refusals(self, path: Path) -> None:
        """Allow workers to process the file at `path` again after it exceeded their limits."""
        if self.workers is not None:
            self.workers.refusals.forget(path)

    @first_use
    def reader(self) -> Reader:
        """The reader of books."""
        children = self._workers_unless_given("reader")
        if children is None:
            return self.parsers.reader
        from citekit.adapters.sandbox.sandboxed_readers import IsolatedReader

        return IsolatedReader(children)

    @first_use
    def probe(self) -> MediaProbe:
        """The reader of the properties of media files."""
        children = self._workers_unless_given("probe")
        if children is None:
            return self.parsers.probe
        from citekit.adapters.sandbox.sandboxed_readers import IsolatedProbe

        return IsolatedProbe(children)

    @first_use
    def text(self) -> TextReader:
        """The reader of the text of documents."""
        return self._given.get("text") or self._isolated_text()

    def _isolated_text(self) -> TextReader:
        here = self.parsers.text
        if self.workers is None:
            return here
        from citekit.adapters.sandbox.sandboxed_readers import IsolatedTextReader
        from citekit.container.parsers import is_read_in_worker

        return IsolatedTextReader(here, self.workers, is_read_in_worker)

    @first_use
    def transcriber(self) -> Transcriber | None:
        """The transcriber of recordings, or None if speech recognition is disabled, not installed, or has no model."""
        here, workers = self.parsers.transcriber, self._workers_unless_given("transcriber")
        if here is None or workers is None or self.asked_transcriber is not None:
            return here
        from citekit.adapters.sandbox.sandboxed_readers import IsolatedTranscriber

        return IsolatedTranscriber(here, workers)

    @first_use
    def asked_transcriber(self) -> Transcriber | None:
        """The transcriber that asks a service, or None if speech recognition is disabled or the user chose no service."""
        chosen = self.settings
        if not (chosen.speech and chosen.speech_service):
            return None
        from citekit.adapters.mappers.llm.transcription import AskedTranscriber
        from citekit.container.speech_services import speech_service_of

        return AskedTranscriber(
            service=speech_service_of(chosen, self.leftovers),
            windows=lambda: self._speech_windows,
            index=self.index,
            language=chosen.speech_language or None,
            seconds=chosen.speech_seconds,
        )

    @property
    def _speech_windows(self) -> SpeechWindows:
        """The service that cuts recordings at pauses."""
        if self.workers is None:
            return self.parsers.speech_windows
        from citekit.adapters.sandbox.sandboxed_readers import IsolatedSpeechWindows

        return IsolatedSpeechWindows(self.workers)

    @first_use
    def speech_models(self) -> SpeechModels:
        """The models for speech recognition that can be downloaded."""
        from citekit.adapters.libraries.speech_downloads import DownloadableModels
        from citekit.adapters.system.retry import Retries

        chosen = self.settings
        return DownloadableModels(chosen.models_folder, chosen.models_url, Retries(count=chosen.retries))

    @first_use
    def screen_reader(self) -> ScreenReader | None:
        """The reader of the text that videos show, or None if OCR is disabled or not installed."""
        here, workers = self.parsers.screen_reader, self._workers_unless_given("screen_reader", "probe")
        if here is None or workers is None:
            return here
        from citekit.adapters.sandbox.sandboxed_readers import IsolatedScreenReader

        return IsolatedScreenReader(here, workers)

    @first_use
    def page_views(self) -> PageViews:
        """The service that draws pages for people."""
        if self.workers is None:
            return self.parsers.page_views
        from citekit.adapters.sandbox.sandboxed_readers import IsolatedPageViews

        return IsolatedPageViews(self.parsers.page_views, self.workers)

    @first_use
    def _foreign_files(self) -> ForeignFiles:
        """The reader for files that other programs wrote."""
        if self.workers is None:
            return self.parsers.foreign_files
        from citekit.adapters.sandbox.sandboxed_files import IsolatedForeignFiles

        return IsolatedForeignFiles(self.workers)

    @first_use
    def extractors(self) -> Sequence[Extractor]:
        """The extractors in order of precedence. The first one that supports a request is used."""
        if "extractors" in self._given:
            return tuple(self._given["extractors"])
        from citekit.container.extractors import lazy_extractors

        return lazy_extractors(self.settings.media, lambda: self.parsers, self.isolated)

    def isolated(self, name: str, here: Extractor) -> Extractor:
        """Return an extractor that runs `here` in a worker, where it is registered as `name`; or `here` if it cannot or
        need not run there.
        """
        used = ("reader",) if name == "chapters" else ()
        children = self._workers_with_ffmpeg if name == "ffmpeg" else self._workers_unless_given(*used)
        if children is None or name in ("lines", "xml_lines"):  # these copy bytes and parse nothing
            return here
        from citekit.adapters.sandbox.sandboxed_files import IsolatedExtractor

        return IsolatedExtractor(here, name, children, lambda: self.asked_transcriber)

    @first_use
    def extents(self) -> RememberingMeasurer:
        """The measurer of file extents, which caches its results."""
        from citekit.adapters.formats.measuring import RememberingMeasurer

        measurer = self._given.get("measurer") or lazy(self._measurer)
        return RememberingMeasurer(measurer, self.index)

    def _measurer(self) -> Measurer:
        """Return the measurer of file extents, which uses workers, if there are any, for files that need compiled
        parsers.
        """
        here = self.parsers.measurer
        children = self._workers_unless_given("reader", "probe")
        if children is None:
            return here
        from citekit.adapters.sandbox.sandboxed_files import IsolatedMeasurer
        from citekit.container.parsers import is_measured_by_compiled

        return IsolatedMeasurer(here, children, is_measured_by_compiled)

    @first_use
    def next_reads(self) -> NextReads:
        """The record of which threads will read the text of the files that they map."""
        from citekit.adapters.sandbox.next_reads import NextReads

        return NextReads()

    @first_use
    def local_mapper(self) -> Mapper:
        """The local mapper."""
        from citekit.adapters.mappers.measured import MeasuredMapper

        here = self.parsers.mapper
        children = self._workers_unless_given("reader", "probe", "transcriber", "screen_reader")
        if children is None:
            return MeasuredMapper(here, self.extents.remember)
        from citekit.adapters.sandbox.sandboxed_files import IsolatedMapper
        from citekit.container.parsers import is_mapped_in_worker

        isolated = IsolatedMapper(
            here,
            children,
            self.clock,
            is_mapped_in_worker,
            lambda: self.asked_transcriber,
            self.next_reads.is_next,
        )
        return MeasuredMapper(isolated, self.extents.remember)

    @first_use
    def measure(self) -> MeasureSource:
        """The use case that measures the extent of the file that a map describes."""
        from citekit.application.measure_extent import MeasureSource

        return MeasureSource(self.locate, self.extents)

    @first_use
    def quotable(self) -> QuotableTexts:
        """The service that provides the text of a file in which quotes are searched for."""
        return self._given.get("quotable") or self._cached_texts()

    def _cached_texts(self) -> QuotableTexts:
        from citekit.adapters.quotes.cache import KeptQuotableTexts

        reader = lazy(self._isolated_texts)
        if self.objects is not None:
            from citekit.adapters.quotes.shared import SharedQuotableTexts

            reader = SharedQuotableTexts(reader, self.objects, self.sources.is_unchanged)
        folder = self.settings.cache_folder / QUOTABLE
        return KeptQuotableTexts(reader, folder, is_unchanged=self.sources.is_unchanged)

    @first_use
    def _texts_read_here(self) -> QuotableTexts:
        from citekit.adapters.formats.subtitles.parser import find_sidecar, read_cues
        from citekit.adapters.quotes.texts import Beside, QuotableTextReader

        return QuotableTextReader(
            lazy(lambda: self.parsers.written),
            lazy(lambda: self.probe),
            Beside(find_sidecar, read_cues),
            self.extractors,
            lambda: self.parsers.ocr_version,
            lambda source, pages: self.parsers.drawn_pages(source, pages),
            lambda: self.transcriber,
            lambda: self.screen_reader,
            self.settings.speech_always,
            lambda: self.parsers.scan_advice(),
            lambda: self.parsers.speech_advice(),
        )

    def _isolated_texts(self) -> QuotableTexts:
        if self.workers is None:
            return self._texts_read_here
        from citekit.adapters.quotes.stored_form import from_plain
        from citekit.adapters.sandbox.sandboxed_readers import IsolatedQuotableTexts
        from citekit.container.parsers import is_quoted_in_worker

        return IsolatedQuotableTexts(self._texts_read_here, self.workers, is_quoted_in_worker, from_plain)
