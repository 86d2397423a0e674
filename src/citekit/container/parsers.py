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
    """`index_folder` is where they remember what makes another look fast; `password` opens PDFs; `ocr` reads pictures.

    A given port is used as it is. `before_picture` is called before the text
    of each picture is read. Any thread may ask.
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
        """What is remembered of files."""
        if self.given_index is not None or self.index_folder is None:
            return self.given_index
        from citekit.adapters.libraries.sqlite.key_value_cache import Index

        return Index(self.index_folder)

    @first_use
    def reader(self) -> Reader:
        """How reflowable books are read."""
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
        """How they are read as they are seen: what stands higher or lower, and what nobody sees, is marked."""
        return self.given_reader or self._seen

    @first_use
    def _seen(self) -> AnyBookReader:
        from citekit.adapters.formats.book_reader import AnyBookReader

        return AnyBookReader(as_seen=True)

    @first_use
    def probe(self) -> MediaProbe:
        """How recordings are looked into."""
        from citekit.adapters.formats.media.probe import PyAvProbe

        return self.given_probe or PyAvProbe()

    @first_use
    def measurer(self) -> Measurer:
        """How far files reach."""
        from citekit.adapters.formats.measuring import FileMeasurer

        return FileMeasurer(self)

    @first_use
    def mapper(self) -> Mapper:
        """The mapper that asks no model."""
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
        """The reader of documents for quotes: text as it is displayed, with words split where a line ends."""
        from citekit.adapters.formats.text_reader import FormatTextReader

        return FormatTextReader(self, marked=True)

    @first_use
    def quotable(self) -> QuotableTexts:
        """The texts of documents in which quotes are looked for."""
        from citekit.adapters.formats.subtitles.parser import find_sidecar, read_cues
        from citekit.adapters.quotes.texts import Beside, QuotableTextReader

        return QuotableTextReader(self.written, self.probe, Beside(find_sidecar, read_cues), ())

    @first_use
    def viewer(self) -> Viewer:
        """What is shown to a model."""
        from citekit.adapters.mappers.llm.file_views import FileViewer

        return FileViewer()

    @first_use
    def still(self) -> JpegStills:
        """The picture that a film shows at a time, as a small JPEG."""
        from citekit.adapters.formats.media.evidence.previews import JpegStills

        return JpegStills(self.extractor("stills"))

    @first_use
    def foreign_files(self) -> ForeignFiles:
        """How what other programs made is opened, and the PDFs that it speaks of."""
        from citekit.adapters.importers.foreign_files import DriverForeignFiles

        return DriverForeignFiles()

    def extractor(self, name: str) -> Extractor:
        """The extractor of that name. Raises `KeyError`."""
        from citekit.adapters.formats.registry import extractor_of

        with self.lock:
            if name not in self._extractors:
                self._extractors[name] = extractor_of(name, self)
            return self._extractors[name]

    @first_use
    def ocr_reader(self) -> OcrReader | None:
        """Who reads the text of pictures, where that is wanted and can be had."""
        if not self.ocr:
            return None
        from citekit.adapters.formats.shared.ocr import AnnouncedOcrReader, RapidOcrReader

        if not RapidOcrReader.installed():
            return None
        return AnnouncedOcrReader(RapidOcrReader(), self.before_picture)


SMALL_TEXT = 16_000
"""Bytes of the largest text that is read in the process that asks, if its parser is not compiled.

The most expensive texts of this size that we know take half a second, on a slow computer.
"""


def is_mapped_in_worker(source: Source) -> bool:
    """Whether a child maps that file: its parser is compiled, or it is large enough to take long."""
    return source.size > SMALL_TEXT or is_mapped_by_compiled(source.format)


def is_expected_in_worker(path: Path) -> bool:
    """Whether a child will map that file, as its name and its size promise."""
    promised = by_name(path.name)
    if promised is None:
        return False
    try:
        return is_mapped_by_compiled(promised) or path.stat().st_size > SMALL_TEXT
    except OSError:
        return False


def is_read_in_worker(source: Source) -> bool:
    """Whether a child reads the text of that file."""
    return source.size > SMALL_TEXT or is_read_by_compiled(source.format)


def is_quoted_in_worker(source: Source) -> bool:
    """Whether a child makes the text of that file ready for quotes. Subtitles are read in the process that asks."""
    return source.format.modality not in (Modality.VIDEO, Modality.AUDIO) and is_read_in_worker(source)


def is_mapped_by_compiled(format: Format) -> bool:
    """Whether a compiled parser maps such a file: it may crash its process."""
    return handler_of(format).uses_native_code(Task.OUTLINE, format)


def is_measured_by_compiled(format: Format) -> bool:
    """Whether a compiled parser measures such a file."""
    return handler_of(format).uses_native_code(Task.MEASURE, format)


def is_read_by_compiled(format: Format) -> bool:
    """Whether a compiled parser reads the text of such a file."""
    return handler_of(format).uses_native_code(Task.READ_TEXT, format)
