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
    """What CiteKit does with a file apart from extraction."""

    OUTLINE = "outline"
    MEASURE = "measure"
    READ_TEXT = "read text"


class BookReader(Protocol):
    """A reader of books that also reads their metadata, without their chapters."""

    def read(self, path: Path) -> Book:
        """See `Reader.read`."""

    def facts(self, path: Path) -> BookFacts:
        """The metadata of the book."""


class Services(Protocol):
    """What a handler may use. Each member is created when it is first used."""

    @property
    def index(self) -> Index | None:
        """The cache of facts about files, by the digest of their bytes; None if there is no cache."""

    @property
    def password(self) -> str | None:
        """The password for locked documents."""

    @property
    def ocr_reader(self) -> OcrReader | None:
        """The reader of text in images; None if OCR is off or not installed."""

    @property
    def probe(self) -> MediaProbe:
        """The probe of video and audio files."""

    @property
    def reader(self) -> Reader:
        """The reader of reflowable books."""

    @property
    def marked_reader(self) -> Reader:
        """The reader of reflowable books that marks superscripts, subscripts, and hidden text."""

    def books(self, *, marked: bool = False) -> BookReader:
        """The reader of every kind of reflowable book, with the metadata of books; `marked` as for `marked_reader`."""

    def line_reader(self, *, marked: bool = False) -> TextReader:
        """The reader of text files by their lines; `marked` as for `FormatHandler.text_reader`."""

    def plain_outliner(self) -> Outliner:
        """The outliner of texts in which no other outliner finds structure."""


class FormatHandler(Protocol):
    """What CiteKit knows about one format, or about a family of formats that are alike.

    Members are cheap: a handler imports a library only inside of the function that uses it.
    """

    def uses_native_code(self, task: Task, format: Format) -> bool:
        """Whether a compiled parser does the task, so that it runs in a worker for files of any size."""

    def outliner(self, format: Format, services: Services) -> Outliner:
        """The outliner of the format."""

    def measure(self, path: Path, services: Services) -> Extent:
        """The extent of the file, without a search for structure. Raises as `Measurer.measure` does."""

    def text_reader(self, services: Services, *, marked: bool) -> TextReader | None:
        """The reader of the text; None if such a file holds no text.

        With `marked`, the text is as quotes need it: superscripts, subscripts, and hidden text are marked, and words
        stay split at line ends.
        """

    def extractors(self) -> Mapping[str, Callable[[Services], Extractor]]:
        """What creates the extractors of this format, by the names under which workers know them."""


class InstalledFormat(FormatHandler, Protocol):
    """A handler from an installed package: an entry point of the group `citekit.formats` names an instance.

    CiteKit asks it about files whose suffix is not in its own table. Locations are of one of CiteKit's kinds.
    """

    @property
    def format(self) -> Format:
        """The format. The package's handler is used for files of exactly this name."""

    @property
    def suffixes(self) -> Sequence[str]:
        """The file suffixes of the format, in lower case with their dots."""


class NativeHandler:
    """A base for handlers whose tasks are all done by compiled parsers."""

    def uses_native_code(self, task: Task, format: Format) -> bool:  # noqa: ARG002
        """See `FormatHandler.uses_native_code`."""
        return True

    def extractors(self) -> Mapping[str, Callable[[Services], Extractor]]:
        """See `FormatHandler.extractors`: none."""
        return {}


class TextHandler:
    """A base for handlers of text files: locations are lines, and every text can be read and measured by its lines."""

    def uses_native_code(self, task: Task, format: Format) -> bool:  # noqa: ARG002
        """See `FormatHandler.uses_native_code`."""
        return False

    def measure(self, path: Path, services: Services) -> Extent:  # noqa: ARG002
        """The number of lines."""
        from citekit.adapters.formats.shared.text_file import open_text

        return open_text(path).bounds

    def text_reader(self, services: Services, *, marked: bool) -> TextReader | None:
        """A reader of lines without their markup."""
        return services.line_reader(marked=marked)

    def extractors(self) -> Mapping[str, Callable[[Services], Extractor]]:
        """None: the extractor of plain text copies lines of every text."""
        return {}
