"""Everything that opens untrusted files: created in a worker, or in this process if the settings say so."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import define, field

from citekit.adapters.formats.handler import Task
from citekit.adapters.formats.registry import handler_of
from citekit.container.cached_property import first_use
from citekit.domain.formats import Format, by_name
from citekit.domain.modality import Modality

if TYPE_CHECKING:
    from citekit.adapters.formats.book_reader import AnyBookReader
    from citekit.adapters.formats.media.evidence.previews import JpegStills
    from citekit.adapters.formats.shared.ocr import OcrReader
    from citekit.adapters.formats.shared.outline import Outliner
    from citekit.adapters.importers.foreign_files import ForeignFiles
    from citekit.adapters.libraries.sqlite.key_value_cache import Index
    from citekit.adapters.mappers.llm.file_views import Viewer
    from citekit.domain.ports.clock import Clock
    from citekit.domain.ports.extractor import Extractor
    from citekit.domain.ports.mapper import Mapper
    from citekit.domain.ports.measurer import Measurer
    from citekit.domain.ports.media_probe import MediaProbe
    from citekit.domain.ports.quotable_texts import QuotableTexts
    from citekit.domain.ports.reader import Reader
    from citekit.domain.ports.text_reader import TextReader
    from citekit.domain.source import Source


@define
class Parsers:
    """The parsers, created on first use in a worker or in the main process. Thread-safe.

    `index_folder` is the folder of the file cache; `password` opens PDFs; `ocr` enables OCR. Ports that the caller
    supplies are used as they are. `before_picture` is called before OCR of each image.
    """

    index_folder: Path | None = None
    password: str | None = field(default=None, repr=False)
    ocr: bool = True
    given_index: Index | None = field(default=None, repr=False)
    given_reader: Reader | None = field(default=None, repr=False)
    given_probe: MediaProbe | None = field(default=None, repr=False)
    given_clock: Clock | None = field(default=None, repr=False)
    before_picture: Callable[[], object] = field(default=lambda: None, repr=False)
    made: dict[str, object] = field(factory=dict, init=False, repr=False)
    _extractors: dict[str, Extractor] = field(factory=dict, init=False, repr=False)
    lock: threading.RLock = field(factory=threading.RLock, init=False, repr=False)

    @first_use
    def index(self) -> Index | None:
        """Return the cache of facts about files."""
        if self.given_index is not None or self.index_folder is None:
            return self.given_index
        from citekit.adapters.libraries.sqlite.key_value_cache import Index

        return Index(self.index_folder)

    @first_use
    def reader(self) -> Reader:
        """Return the reader of reflowable books."""
        return self.given_reader or self._books

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
        """Return the reader of books for quotes: superscripts, subscripts, and hidden text are marked."""
        return self.given_reader or self._seen

    @first_use
    def _seen(self) -> AnyBookReader:
        from citekit.adapters.formats.book_reader import AnyBookReader

        return AnyBookReader(as_seen=True)

    @first_use
    def probe(self) -> MediaProbe:
        """Return the probe of recordings."""
        from citekit.adapters.formats.media.probe import PyAvProbe

        return self.given_probe or PyAvProbe()

    @first_use
    def measurer(self) -> Measurer:
        """Return the measurer of file extents."""
        from citekit.adapters.formats.measuring import FileMeasurer

        return FileMeasurer(self)

    @first_use
    def mapper(self) -> Mapper:
        """Return the mapper that uses no model."""
        from citekit.adapters.mappers.local import LocalMapper
        from citekit.adapters.system.clock import SystemClock

        return LocalMapper(self, self.given_clock or SystemClock())

    @first_use
    def text(self) -> TextReader:
        """Return the reader of the text of documents."""
        from citekit.adapters.formats.text_reader import FormatTextReader

        return FormatTextReader(self)

    @first_use
    def written(self) -> TextReader:
        """Return the reader of documents for quotes: text as it is displayed, with words split at line ends."""
        from citekit.adapters.formats.text_reader import FormatTextReader

        return FormatTextReader(self, marked=True)

    @first_use
    def quotable(self) -> QuotableTexts:
        """Return the reader of the texts in which quotes are searched."""
        from citekit.adapters.formats.subtitles.parser import find_sidecar, read_cues
        from citekit.adapters.quotes.texts import Beside, QuotableTextReader

        return QuotableTextReader(self.written, self.probe, Beside(find_sidecar, read_cues), ())

    @first_use
    def viewer(self) -> Viewer:
        """Prepares files to be shown to a model."""
        from citekit.adapters.mappers.llm.file_views import FileViewer

        return FileViewer()

    @first_use
    def still(self) -> JpegStills:
        """Takes the frame of a video at a given time as a small JPEG."""
        from citekit.adapters.formats.media.evidence.previews import JpegStills

        return JpegStills(self.extractor("stills"))

    @first_use
    def foreign_files(self) -> ForeignFiles:
        """Reads the data files of other programs, and the PDFs that they refer to."""
        from citekit.adapters.importers.foreign_files import DriverForeignFiles

        return DriverForeignFiles()

    def extractor(self, name: str) -> Extractor:
        """Return the extractor with that name. Raise `KeyError`."""
        from citekit.adapters.formats.registry import extractor_of

        with self.lock:
            if name not in self._extractors:
                self._extractors[name] = extractor_of(name, self)
            return self._extractors[name]

    @first_use
    def ocr_reader(self) -> OcrReader | None:
        """Return the OCR engine; None if OCR is disabled or not installed."""
        if not self.ocr:
            return None
        from citekit.adapters.formats.shared.ocr import AnnouncedOcrReader, RapidOcrReader

        if not RapidOcrReader.installed():
            return None
        return AnnouncedOcrReader(RapidOcrReader(), self.before_picture)


SMALL_TEXT = 16_000
"""The maximum size in bytes of a text that the calling process parses itself, if the parser is pure Python.

The most expensive known texts of this size take half a second on a slow computer.
"""


def is_mapped_in_worker(source: Source) -> bool:
    """Return whether a worker maps the file: its parser is native code, or the file is large."""
    return source.size > SMALL_TEXT or is_mapped_by_compiled(source.format)


def is_expected_in_worker(path: Path) -> bool:
    """Return whether a worker will probably map the file, judging by its name and size."""
    promised = by_name(path.name)
    if promised is None:
        return False
    try:
        return is_mapped_by_compiled(promised) or path.stat().st_size > SMALL_TEXT
    except OSError:
        return False


def is_read_in_worker(source: Source) -> bool:
    """Return whether a worker reads the text of the file."""
    return source.size > SMALL_TEXT or is_read_by_compiled(source.format)


def is_quoted_in_worker(source: Source) -> bool:
    """Return whether a worker prepares the text of the file for quotes. The calling process reads subtitles itself."""
    return source.format.modality not in (Modality.VIDEO, Modality.AUDIO) and is_read_in_worker(source)


def is_mapped_by_compiled(format: Format) -> bool:
    """Return whether native code maps files of this format. Such code can crash its process."""
    return handler_of(format).uses_native_code(Task.OUTLINE, format)


def is_measured_by_compiled(format: Format) -> bool:
    """Return whether native code measures files of this format."""
    return handler_of(format).uses_native_code(Task.MEASURE, format)


def is_read_by_compiled(format: Format) -> bool:
    """Return whether native code reads the text of files of this format."""
    return handler_of(format).uses_native_code(Task.READ_TEXT, format)
