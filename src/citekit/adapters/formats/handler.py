"""Defines the interface of a file format: how CiteKit outlines, measures, and reads files, and extracts evidence."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from citekit.adapters.formats.shared.ocr import OcrReader
    from citekit.adapters.formats.shared.outline import Outliner
    from citekit.adapters.formats.shared.read_pages import ReadPages
    from citekit.adapters.libraries.sqlite.key_value_cache import Index
    from citekit.domain.extent import Extent
    from citekit.domain.formats import Format
    from citekit.domain.library.books import BookFacts
    from citekit.domain.ports.extractor import Extractor
    from citekit.domain.ports.media_probe import MediaProbe
    from citekit.domain.ports.reader import Book, Reader
    from citekit.domain.ports.screen_reader import ScreenReader
    from citekit.domain.ports.text_reader import TextReader
    from citekit.domain.ports.transcriber import Transcriber


class Task(Enum):
    """A task that CiteKit performs on a file, except extracting evidence."""

    OUTLINE = "outline"
    MEASURE = "measure"
    READ_TEXT = "read text"


class BookReader(Protocol):
    """Reads books, or only their metadata."""

    def read(self, path: Path) -> Book:
        """See `Reader.read`."""

    def facts(self, path: Path) -> BookFacts:
        """Return the metadata of the book at `path`, which is usually faster than reading the whole book."""


class Services(Protocol):
    """The services that a format handler can use. Each service is created when it is first used."""

    @property
    def index(self) -> Index | None:
        """The cache of data that was derived from files, or None if there is no cache."""

    @property
    def password(self) -> str | None:
        """The password for encrypted documents, or None if the user gave none."""

    @property
    def ocr_reader(self) -> OcrReader | None:
        """The reader that recognizes text in images, or None if OCR is off or not installed."""

    @property
    def transcriber(self) -> Transcriber | None:
        """The transcriber of recordings, or None if there is no transcriber.

        Raises `MapperUnavailable` if the chosen model is missing or incomplete.
        """

    @property
    def has_transcriber(self) -> bool:
        """Whether there is a transcriber.

        This is true if a transcriber was passed to CiteKit or a speech service is chosen, or if speech recognition is
        on, its extra is installed, and a model is chosen, downloaded, or installed.
        """

    @property
    def screen_reader(self) -> ScreenReader | None:
        """The reader of the text that videos show, or None if OCR is off or not installed."""

    @property
    def probe(self) -> MediaProbe:
        """The service that reads the properties of video and audio files, such as duration and codecs."""

    @property
    def reader(self) -> Reader:
        """The reader of reflowable books."""

    @property
    def marked_reader(self) -> Reader:
        """The reader of reflowable books that marks superscripts, subscripts, and hidden text."""

    @property
    def read_pages(self) -> ReadPages:
        """The texts of the pages that a mapper read, for the text reader that reads the same file next."""

    def books(self, *, marked: bool = False) -> BookReader:
        """Return a reader of books in all reflowable formats.

        If `marked` is set, superscripts, subscripts, and hidden text are marked.
        """

    def line_reader(self, *, marked: bool = False) -> TextReader:
        """Return a reader that reads text files line by line. For `marked`, see `FormatHandler.text_reader`."""

    def plain_outliner(self) -> Outliner:
        """Return the outliner for text files in which no other outliner finds any structure."""


class FormatHandler(Protocol):
    """Handles the files of one format, or of several similar formats.

    Creating a handler and looking up its members must be fast. Import libraries inside the functions that use them.
    """

    def uses_native_code(self, task: Task, format: Format) -> bool:
        """Return whether the task uses a compiled parser for files of this format, and so runs in a worker process."""

    def outliner(self, format: Format, services: Services) -> Outliner:
        """Return the outliner for files of this format."""

    def measure(self, path: Path, services: Services) -> Extent:
        """Return the extent of the file without analyzing its structure.

        Raise the same errors as `Measurer.measure`.
        """

    def text_reader(self, services: Services, *, marked: bool) -> TextReader | None:
        """Return the reader of the text in files of this format, or None if such files contain no text.

        If `marked` is set, the text is as `citekit quote` needs it: superscripts, subscripts, and hidden text are
        marked, and words that are hyphenated at the end of a line stay split.
        """

    def extractors(self) -> Mapping[str, Callable[[Services], Extractor]]:
        """Return functions that create the extractors of this format, by the names with which worker processes request
        them.
        """


class InstalledFormat(FormatHandler, Protocol):
    """A format handler from another installed package, published as an entry point in the group `citekit.formats`.

    It is used for files whose suffix is not in the built-in table. It must use CiteKit's location types.
    """

    @property
    def format(self) -> Format:
        """The format. CiteKit uses the handler only for files whose format has the same name."""

    @property
    def suffixes(self) -> Sequence[str]:
        """The file suffixes of the format, in lowercase and with the leading dot."""


class NativeHandler:
    """Base class of format handlers whose tasks all use compiled parsers."""

    def uses_native_code(self, task: Task, format: Format) -> bool:  # noqa: ARG002
        """See `FormatHandler.uses_native_code`."""
        return True

    def extractors(self) -> Mapping[str, Callable[[Services], Extractor]]:
        """See `FormatHandler.extractors`. This handler has no extractors."""
        return {}


class TextHandler:
    """Base class of format handlers for text files. The extent of a text file is its number of lines."""

    def uses_native_code(self, task: Task, format: Format) -> bool:  # noqa: ARG002
        """See `FormatHandler.uses_native_code`."""
        return False

    def measure(self, path: Path, services: Services) -> Extent:  # noqa: ARG002
        """See `FormatHandler.measure`. The extent is the number of lines."""
        from citekit.adapters.formats.shared.text_file import open_text

        return open_text(path).extent

    def text_reader(self, services: Services, *, marked: bool) -> TextReader | None:
        """See `FormatHandler.text_reader`. The reader reads lines."""
        return services.line_reader(marked=marked)

    def extractors(self) -> Mapping[str, Callable[[Services], Extractor]]:
        """See `FormatHandler.extractors`. The plain text handler has the extractor of lines for all text formats."""
        return {}
