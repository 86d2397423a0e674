"""Which outliner maps which format; each is imported when the first file of its kind comes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from attrs import field, frozen

from citekit.adapters.mapping.local.outline import Outliner
from citekit.adapters.mapping.local.texts import TEXTS, outliner_of
from citekit.domain.formats import BOOKS, Format
from citekit.domain.modality import Modality
from citekit.domain.ports.media_probe import MediaProbe
from citekit.domain.ports.reader import Reader

if TYPE_CHECKING:
    from citekit.adapters.drivers.sqlite_index import Index
    from citekit.adapters.mapping.local.ocr import OcrReader

CODE = frozenset(
    [
        "python",
        "javascript",
        "typescript",
        "tsx",
        "java",
        "c",
        "cpp",
        "objc",
        "csharp",
        "go",
        "rust",
        "zig",
        "kotlin",
        "swift",
        "scala",
        "dart",
        "ruby",
        "php",
        "bash",
        "lua",
        "perl",
        "powershell",
        "elixir",
        "julia",
        "haskell",
        "sql",
        "css",
        "scss",
    ]
)


@frozen
class Outliners:
    """The outliners, and what they need: see `LocalMapper`."""

    reader: Reader
    probe: MediaProbe
    index: Index | None = None
    ocr: OcrReader | None = None
    password: str | None = field(default=None, repr=False)

    def of(self, format: Format) -> Outliner:
        """The outliner of that format."""
        if format.name in CODE:
            return _code()
        if format.modality in (Modality.VIDEO, Modality.AUDIO):
            return self._media()
        if format.modality is Modality.IMAGE:
            return self._image()
        return self._prose().get(format.name, self.plain)()

    def plain(self) -> Outliner:
        """The outliner of texts in which nothing else finds structure."""
        from citekit.adapters.mapping.local.plain_text import PlainTextOutliner

        return PlainTextOutliner()

    def _prose(self) -> dict[str, Callable[[], Outliner]]:
        return {
            "pdf": self._pdf,
            **dict.fromkeys(BOOKS, self._book),
            "docx": self._docx,
            "pptx": _pptx,
            "xlsx": _xlsx,
            "cbz": _comic,
            "markdown": self._markdown,
            "html": self._html,
            "rst": self._rst,
            "subtitles": self._subtitles,
            **{name: partial(self._text, name) for name in TEXTS},
        }

    def _text(self, name: str) -> Outliner:
        return outliner_of(name, self.plain())

    def _media(self) -> Outliner:
        from citekit.adapters.mapping.local.media import MediaOutliner

        return MediaOutliner(self.probe)

    def _image(self) -> Outliner:
        from citekit.adapters.mapping.local.image import ImageOutliner

        return ImageOutliner(self.ocr)

    def _pdf(self) -> Outliner:
        from citekit.adapters.mapping.local.pdf import PdfOutliner

        return PdfOutliner(self.index, self.password, self.ocr)

    def _book(self) -> Outliner:
        from citekit.adapters.mapping.local.epub import EpubOutliner

        return EpubOutliner(self.reader)

    def _docx(self) -> Outliner:
        from citekit.adapters.mapping.local.office.docx import DocxOutliner

        return DocxOutliner(self.reader)

    def _markdown(self) -> Outliner:
        from citekit.adapters.mapping.local.markdown import MarkdownOutliner

        return MarkdownOutliner(self.plain())

    def _html(self) -> Outliner:
        from citekit.adapters.mapping.local.html import HtmlOutliner

        return HtmlOutliner(self.plain())

    def _rst(self) -> Outliner:
        from citekit.adapters.mapping.local.rst import RstOutliner

        return RstOutliner(self.plain())

    def _subtitles(self) -> Outliner:
        from citekit.adapters.mapping.local.subtitles import SubtitlesOutliner

        return SubtitlesOutliner(self.plain())


def _code() -> Outliner:
    from citekit.adapters.mapping.local.code import CodeOutliner

    return CodeOutliner()


def _pptx() -> Outliner:
    from citekit.adapters.mapping.local.office.pptx import PptxOutliner

    return PptxOutliner()


def _xlsx() -> Outliner:
    from citekit.adapters.mapping.local.office.xlsx import XlsxOutliner

    return XlsxOutliner()


def _comic() -> Outliner:
    from citekit.adapters.mapping.local.books.cbz import CbzOutliner

    return CbzOutliner()
