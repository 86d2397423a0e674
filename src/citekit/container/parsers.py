"""Creates the parsers, which open untrusted files, in a worker or in the main process."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import define, field, frozen

from citekit.adapters.formats.handler import Task
from citekit.adapters.formats.registry import handler_of
from citekit.container.cached_property import first_use
from citekit.domain.formats import Format, by_name
from citekit.domain.modality import Modality
from citekit.domain.recognition import scan_advice, speech_advice

if TYPE_CHECKING:
    from citekit.adapters.formats.book_reader import AnyBookReader
    from citekit.adapters.formats.media.evidence.previews import JpegStills
    from citekit.adapters.formats.shared.ocr import OcrReader
    from citekit.adapters.formats.shared.outline import Outliner
    from citekit.adapters.formats.shared.read_pages import ReadPages
    from citekit.adapters.importers.foreign_files import ForeignFiles
    from citekit.adapters.libraries.sqlite.key_value_cache import Index
    from citekit.adapters.mappers.llm.file_views import Viewer
    from citekit.domain.ports.clock import Clock
    from citekit.domain.ports.extractor import Extractor
    from citekit.domain.ports.mapper import Mapper
    from citekit.domain.ports.measurer import Measurer
    from citekit.domain.ports.media_probe import MediaProbe
    from citekit.domain.ports.page_views import PageViews
    from citekit.domain.ports.quotable_texts import QuotableTexts
    from citekit.domain.ports.reader import Reader
    from citekit.domain.ports.screen_reader import ScreenReader
    from citekit.domain.ports.speech_windows import SpeechWindows
    from citekit.domain.ports.text_reader import TextReader
    from citekit.domain.ports.transcriber import Transcriber
    from citekit.domain.source import Source


@frozen
class SpeechChoice:
    """The transcriber that the user chose.

    `model` is the folder or the name of a model, or empty for an installed multilingual model. `language` is the
    language code of all recordings, or empty to detect it. `folder` contains the downloaded models. `speakers` is empty
    if the words are not divided into turns. `name` and `version` identify the transcriber of a service, if one is used.
    """

    model: str = ""
    language: str = ""
    folder: str = ""
    speakers: str = "on"
    name: str = ""
    version: str = ""

    @property
    def downloaded(self) -> Path | None:
        """`folder` as a path; None if `folder` is an empty text."""
        return Path(self.folder) if self.folder else None


@define
class Parsers:
    """The parsers of one process: a worker or the main process. Each is created on first use. Thread-safe.

    `index_folder` is the path of the cache of metadata of files, and `password` opens encrypted PDFs. The fields that
    begin with `given_` replace built-in adapters. `before_picture` is called before OCR of each image, and
    `before_window` before each window of a recording is transcribed.
    """

    index_folder: Path | None = None
    password: str | None = field(default=None, repr=False)
    ocr: bool = True
    speech: SpeechChoice | None = None
    given_index: Index | None = field(default=None, repr=False)
    given_reader: Reader | None = field(default=None, repr=False)
    given_probe: MediaProbe | None = field(default=None, repr=False)
    given_transcriber: Transcriber | None = field(default=None, repr=False)
    given_screen_reader: ScreenReader | None = field(default=None, repr=False)
    given_clock: Clock | None = field(default=None, repr=False)
    before_picture: Callable[[], object] = field(default=lambda: None, repr=False)
    before_window: Callable[[], object] = field(default=lambda: None, repr=False)
    made: dict[str, object] = field(factory=dict, init=False, repr=False)
    _extractors: dict[str, Extractor] = field(factory=dict, init=False, repr=False)
    lock: threading.RLock = field(factory=threading.RLock, init=False, repr=False)

    @first_use
    def index(self) -> Index | None:
        """The cache of metadata of files, or None if there is no cache."""
        if self.given_index is not None or self.index_folder is None:
            return self.given_index
        from citekit.adapters.libraries.sqlite.key_value_cache import Index

        return Index(self.index_folder)

    @first_use
    def reader(self) -> Reader:
        """The reader of reflowable books, such as EPUB."""
        return self.given_reader or self._books

    @first_use
    def read_pages(self) -> ReadPages:
        """See `Services.read_pages`."""
        from citekit.adapters.formats.shared.read_pages import ReadPages

        return ReadPages()

    def books(self, *, marked: bool = False) -> AnyBookReader:
        """See `Services.books`."""
        return self._seen if marked else self._books

    def line_reader(self, *, marked: bool = False) -> TextReader:
        """See `Services.line_reader`."""
        from citekit.adapters.formats.line_reader import LinesTextReader

        return LinesTextReader(as_seen=marked)

    def plain_outliner(self) -> Outliner:
        """See `Services.plain_outliner`."""
        from citekit.adapters.formats.plain_text.outliner import PlainTextOutliner

        return PlainTextOutliner()

    @first_use
    def _books(self) -> AnyBookReader:
        from citekit.adapters.formats.book_reader import AnyBookReader

        return AnyBookReader()

    @first_use
    def marked_reader(self) -> Reader:
        """The reader of books for checking quotes. Its text marks superscripts, subscripts, and hidden text."""
        return self.given_reader or self._seen

    @first_use
    def _seen(self) -> AnyBookReader:
        from citekit.adapters.formats.book_reader import AnyBookReader

        return AnyBookReader(as_seen=True)

    @first_use
    def probe(self) -> MediaProbe:
        """The reader of the properties of video and audio files."""
        from citekit.adapters.formats.media.probe import PyAvProbe

        return self.given_probe or PyAvProbe()

    @first_use
    def measurer(self) -> Measurer:
        """The measurer of file extents."""
        from citekit.adapters.formats.measuring import FileMeasurer

        return FileMeasurer(self)

    @first_use
    def mapper(self) -> Mapper:
        """The local mapper."""
        from citekit.adapters.mappers.local import LocalMapper
        from citekit.adapters.system.clock import SystemClock

        return LocalMapper(self, self.given_clock or SystemClock())

    @first_use
    def text(self) -> TextReader:
        """The reader of the text of documents."""
        from citekit.adapters.formats.text_reader import FormatTextReader

        return FormatTextReader(self)

    @first_use
    def written(self) -> TextReader:
        """The reader of documents for checking quotes.

        Superscripts, subscripts, and hidden text are marked, and words that are hyphenated at the end of a line stay
        split.
        """
        from citekit.adapters.formats.text_reader import FormatTextReader

        return FormatTextReader(self, marked=True)

    @first_use
    def quotable(self) -> QuotableTexts:
        """The reader of the texts in which quotes are searched for."""
        from citekit.adapters.formats.subtitles.parser import find_sidecar, read_cues
        from citekit.adapters.quotes.texts import Beside, QuotableTextReader

        sidecar_files = Beside(find_sidecar, read_cues)
        return QuotableTextReader(
            self.written,
            self.probe,
            sidecar_files,
            (),
            lambda: self.ocr_version,
            self.drawn_pages,
            lambda: self.transcriber,
            lambda: self.screen_reader,
            scan_advice=self.scan_advice,
            speech_advice=self.speech_advice,
        )

    def drawn_pages(self, source: Source, pages: Sequence[int]) -> Mapping[int, str]:
        """Return the text that is visible on drawn pages of a PDF, by page number.

        The result is empty for other formats. See `QuotableTexts.drawn`.
        """
        if source.format.name != "pdf":
            return {}
        from citekit.adapters.formats.pdf.text_reader import drawn_pages

        return drawn_pages(source.path, pages, password=self.password)

    @first_use
    def page_views(self) -> PageViews:
        """The service that draws pages for people."""
        from citekit.adapters.formats.page_views import FormatPageViews

        return FormatPageViews(self)

    @first_use
    def viewer(self) -> Viewer:
        """The service that prepares files to be shown to a model."""
        from citekit.adapters.mappers.llm.file_views import FileViewer

        return FileViewer()

    @first_use
    def still(self) -> JpegStills:
        """The service that extracts the frame of a video at a given time as a small JPEG."""
        from citekit.adapters.formats.media.evidence.previews import JpegStills

        return JpegStills(self.extractor("stills"))

    @first_use
    def foreign_files(self) -> ForeignFiles:
        """The reader of the data files of other programs, and of the PDFs that these files refer to."""
        from citekit.adapters.importers.foreign_files import DriverForeignFiles

        return DriverForeignFiles()

    def extractor(self, name: str) -> Extractor:
        """Return the extractor with that name. Raise `KeyError` if there is no such extractor."""
        from citekit.adapters.formats.registry import extractor_of

        with self.lock:
            if name not in self._extractors:
                self._extractors[name] = extractor_of(name, self)
            return self._extractors[name]

    @first_use
    def ocr_reader(self) -> OcrReader | None:
        """The OCR engine, or None if OCR is disabled or not installed."""
        if not self.ocr:
            return None
        from citekit.adapters.formats.shared.ocr import AnnouncedOcrReader, RapidOcrReader

        if not RapidOcrReader.installed():
            return None
        return AnnouncedOcrReader(RapidOcrReader(), self.before_picture)

    @property
    def ocr_version(self) -> str:
        """The version of OCR, which changes when its results may change; empty if OCR is disabled or not installed."""
        if self.ocr_reader is None:
            return ""
        from citekit.adapters.formats.shared.ocr import version_of_ocr

        return version_of_ocr()

    def scan_advice(self) -> str:
        """Return the sentence about OCR for a PDF without text."""
        return scan_advice(self.ocr_version, is_off=not self.ocr)

    @first_use
    def screen_reader(self) -> ScreenReader | None:
        """The reader of the text that videos show, or None if OCR is disabled or not installed."""
        if self.given_screen_reader is not None or self.ocr_reader is None:
            return self.given_screen_reader
        from citekit.adapters.formats.media.screen_reader import OcrScreenReader

        return OcrScreenReader(self.probe, self.ocr_reader, self.index, self.before_picture)

    @first_use
    def has_transcriber(self) -> bool:
        """Whether there is a transcriber: a supplied one, a service, or speech recognition with a model."""
        if self.given_transcriber is not None:
            return True
        if self.speech is None:
            return False
        if self.speech.name:
            return True
        from citekit.adapters.libraries import faster_whisper
        from citekit.adapters.libraries.speech_models import automatic_model

        return faster_whisper.installed() and (
            bool(self.speech.model) or automatic_model(self.speech.downloaded) is not None
        )

    def speech_advice(self) -> str:
        """Return the sentence that says how to get a transcriber, for a recording without subtitles."""
        from citekit.adapters.libraries import faster_whisper

        return speech_advice(is_off=self.speech is None, is_installed=faster_whisper.installed())

    @first_use
    def transcriber(self) -> Transcriber | None:
        """The transcriber, or None if speech recognition is disabled, not installed, or has no model.

        Raises `MapperUnavailable` if the chosen model does not exist.
        """
        if self.given_transcriber is not None or self.speech is None or not self.has_transcriber:
            return self.given_transcriber
        from citekit.adapters.formats.media.speaker_turns import SpeakerTurns
        from citekit.adapters.formats.media.transcriber import StoredSpeech, WhisperTranscriber

        if self.speech.name:
            return StoredSpeech(self.speech.name, self.speech.version, self.index)
        from citekit.adapters.libraries import faster_whisper
        from citekit.adapters.libraries.speech_models import chosen_model
        from citekit.adapters.libraries.voice_encoder import VoiceEncoder

        model = chosen_model(self.speech.model, self.speech.downloaded)
        transcriber = WhisperTranscriber(
            faster_whisper.FasterWhisper(model),
            model.name,
            model.fingerprint,
            self.speech.language or None,
            self.index,
            self.before_window,
        )
        if not self.speech.speakers:
            return transcriber
        return SpeakerTurns(transcriber, VoiceEncoder(), self.index, self.before_window)

    @first_use
    def speech_windows(self) -> SpeechWindows:
        """The service that cuts recordings at pauses."""
        from citekit.adapters.formats.media.transcriber import LocalSpeechWindows

        return LocalSpeechWindows(self.before_window)


SMALL_TEXT = 16_000
"""The maximum size in bytes of a text that the calling process parses itself, if the parser is pure Python.

The most expensive known texts of this size take half a second on a slow computer.
"""


def is_mapped_in_worker(source: Source) -> bool:
    """Return whether the file is mapped in a worker, because its parser is native code or the file is large."""
    return source.size > SMALL_TEXT or is_mapped_by_compiled(source.format)


def is_expected_in_worker(path: Path) -> bool:
    """Return whether the file at `path` will probably be mapped in a worker, judging by its name and size."""
    promised = by_name(path.name)
    if promised is None:
        return False
    try:
        return is_mapped_by_compiled(promised) or path.stat().st_size > SMALL_TEXT
    except OSError:
        return False


def is_read_in_worker(source: Source) -> bool:
    """Return whether the text of the file is read in a worker, because the parser is native code or the file is large."""
    return source.size > SMALL_TEXT or is_read_by_compiled(source.format)


def is_quoted_in_worker(source: Source) -> bool:
    """Return whether the text in which quotes are searched for is prepared in a worker.

    The calling process reads the subtitles of video and audio itself.
    """
    return source.format.modality not in (Modality.VIDEO, Modality.AUDIO) and is_read_in_worker(source)


def is_mapped_by_compiled(format: Format) -> bool:
    """Return whether files of this format are mapped by native code, which can crash its process."""
    return handler_of(format).uses_native_code(Task.OUTLINE, format)


def is_measured_by_compiled(format: Format) -> bool:
    """Return whether files of this format are measured by native code."""
    return handler_of(format).uses_native_code(Task.MEASURE, format)


def is_read_by_compiled(format: Format) -> bool:
    """Return whether the text of files of this format is read by native code."""
    return handler_of(format).uses_native_code(Task.READ_TEXT, format)
