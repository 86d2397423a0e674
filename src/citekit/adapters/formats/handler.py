"""The interface of a file format: how CiteKit outlines, measures, reads, and extracts files of that format."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from citekit.domain.extent import Extent
from citekit.domain.formats import Format
from citekit.domain.library.books import BookFacts
from citekit.domain.ports.extractor import Extractor
from citekit.domain.ports.media_probe import MediaProbe
from citekit.domain.ports.reader import Book, Reader
from citekit.domain.ports.text_reader import TextReader

if TYPE_CHECKING:
    from citekit.adapters.formats.shared.ocr import OcrReader
    from citekit.adapters.formats.shared.outline import Outliner
    from citekit.adapters.libraries.sqlite.key_value_cache import Index


class Task(Enum):
    """A task that CiteKit performs on a file, other than extraction."""

    OUTLINE = "outline"
    MEASURE = "measure"
    READ_TEXT = "read text"


class BookReader(Protocol):
    """Reads books, and can read their metadata without reading their chapters."""

    def read(self, path: Path) -> Book:
        """See `Reader.read`."""

    def facts(self, path: Path) -> BookFacts:
        """Return the metadata of the book."""


class Services(Protocol):
    """The services that a handler can use. Each one is created when it is first used."""

    @property
    def index(self) -> Index | None:
        """The cache of facts about files, keyed by file digest; None if caching is off."""

    @property
    def password(self) -> str | None:
        """The password for encrypted documents."""

    @property
    def ocr_reader(self) -> OcrReader | None:
        """Recognizes text in images; None if OCR is off or not installed."""

    @property
    def probe(self) -> MediaProbe:
        """Reads the properties of video and audio files."""

    @property
    def reader(self) -> Reader:
        """Reads reflowable books."""

    @property
    def marked_reader(self) -> Reader:
        """Reads reflowable books, marking superscripts, subscripts, and hidden text."""

    def books(self, *, marked: bool = False) -> BookReader:
        """Return a reader of all reflowable book formats that also reads their metadata; `marked` works as for
        `marked_reader`.
        """

    def line_reader(self, *, marked: bool = False) -> TextReader:
        """Return a reader that reads text files line by line; `marked` works as for `FormatHandler.text_reader`."""

    def plain_outliner(self) -> Outliner:
        """Return the outliner for texts in which no other outliner finds any structure."""


class FormatHandler(Protocol):
    """Everything that CiteKit knows about one format or one family of similar formats.

    Creating a handler and looking up its members must be cheap: import libraries inside the functions that use them.
    """

    def uses_native_code(self, task: Task, format: Format) -> bool:
        """Return whether the task uses a compiled parser. If so, it runs in a worker process, whatever the file
        size.
        """

    def outliner(self, format: Format, services: Services) -> Outliner:
        """Return the outliner of the format."""

    def measure(self, path: Path, services: Services) -> Extent:
        """Return the extent of the file without analyzing its structure. Raises the same errors as
        `Measurer.measure`.
        """

    def text_reader(self, services: Services, *, marked: bool) -> TextReader | None:
        """Return the reader of the file's text; None if such files contain no text.

        With `marked`, the reader returns the form that quotes need: superscripts, subscripts, and hidden text are
        marked, and words that are hyphenated at a line end stay split.
        """

    def extractors(self) -> Mapping[str, Callable[[Services], Extractor]]:
        """Return the factories of this format's extractors, keyed by the names under which workers request them."""


class InstalledFormat(FormatHandler, Protocol):
    """A handler from an installed package, published as an entry point in the group `citekit.formats`.

    CiteKit uses it for files whose suffix is not in the built-in table. Its locations must be of CiteKit's location
    types.
    """

    @property
    def format(self) -> Format:
        """The format. CiteKit uses the handler only for files of the format with this name."""

    @property
    def suffixes(self) -> Sequence[str]:
        """The file suffixes of the format, in lowercase and with the leading dot."""


class NativeHandler:
    """Base class for handlers whose tasks all use compiled parsers."""

    def uses_native_code(self, task: Task, format: Format) -> bool:  # noqa: ARG002
        """See `FormatHandler.uses_native_code`."""
        return True

    def extractors(self) -> Mapping[str, Callable[[Services], Extractor]]:
        """See `FormatHandler.extractors`. Returns an empty mapping."""
        return {}


class TextHandler:
    """Base class for handlers of text files, which are measured and read by line."""

    def uses_native_code(self, task: Task, format: Format) -> bool:  # noqa: ARG002
        """See `FormatHandler.uses_native_code`."""
        return False

    def measure(self, path: Path, services: Services) -> Extent:  # noqa: ARG002
        """Return the number of lines."""
        from citekit.adapters.formats.shared.text_file import open_text

        return open_text(path).extent

    def text_reader(self, services: Services, *, marked: bool) -> TextReader | None:
        """Return a reader of the lines without their markup."""
        return services.line_reader(marked=marked)

    def extractors(self) -> Mapping[str, Callable[[Services], Extractor]]:
        """Return an empty mapping: the plain-text extractor handles the lines of every text format."""
        return {}
