"""Which outliner maps which format; each is imported when the first file of its kind comes.

Which outliner maps which format of markup and of data.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from attrs import field, frozen

from citekit.adapters.formats.shared.outline import Outliner
from citekit.domain.formats import BOOKS, Format
from citekit.domain.modality import Modality
from citekit.domain.ports.media_probe import MediaProbe
from citekit.domain.ports.reader import Reader

if TYPE_CHECKING:
    from citekit.adapters.formats.shared.ocr import OcrReader
    from citekit.adapters.libraries.sqlite.key_value_cache import Index


def _asciidoc(plain: Outliner) -> Outliner:
    from citekit.adapters.formats.markup.asciidoc import asciidoc

    return asciidoc(plain)


def _org(plain: Outliner) -> Outliner:
    from citekit.adapters.formats.markup.org import org

    return org(plain)


def _latex(plain: Outliner) -> Outliner:
    from citekit.adapters.formats.markup.latex import latex

    return latex(plain)


def _json(plain: Outliner) -> Outliner:
    from citekit.adapters.formats.data.json import JsonOutliner

    return JsonOutliner(plain)


def _jsonl(plain: Outliner) -> Outliner:
    from citekit.adapters.formats.data.jsonl import JsonLinesOutliner

    return JsonLinesOutliner(plain, _json(plain))


def _notebook(plain: Outliner) -> Outliner:
    from citekit.adapters.formats.data.notebook import NotebookOutliner

    return NotebookOutliner(_json(plain))


def _yaml(plain: Outliner) -> Outliner:
    from citekit.adapters.formats.data.yaml import YamlOutliner

    return YamlOutliner(plain, _json(plain))


def _toml(plain: Outliner) -> Outliner:
    from citekit.adapters.formats.data.toml import TomlOutliner

    return TomlOutliner(plain)


def _ini(plain: Outliner) -> Outliner:
    from citekit.adapters.formats.data.keyed_sections import IniOutliner

    return IniOutliner(plain)


def _csv(plain: Outliner) -> Outliner:
    from citekit.adapters.formats.data.csv import CsvOutliner

    return CsvOutliner(plain)


def _log(plain: Outliner) -> Outliner:
    from citekit.adapters.formats.data.log import LogOutliner

    return LogOutliner(plain)


def _xml(plain: Outliner) -> Outliner:
    from citekit.adapters.formats.data.xml import XmlOutliner

    return XmlOutliner(plain)


TEXTS: dict[str, Callable[[Outliner], Outliner]] = {
    "asciidoc": _asciidoc,
    "org": _org,
    "latex": _latex,
    "json": _json,
    "jsonl": _jsonl,
    "notebook": _notebook,
    "yaml": _yaml,
    "toml": _toml,
    "ini": _ini,
    "csv": _csv,
    "tsv": _csv,
    "log": _log,
    "xml": _xml,
}
"""By the name of the format: what makes its outliner, given the one for texts without structure."""


def outliner_of(name: str, plain: Outliner) -> Outliner:
    """The outliner of the format `name`, one of `TEXTS`."""
    return TEXTS[name](plain)


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
        from citekit.adapters.formats.plain_text.outliner import PlainTextOutliner

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
        from citekit.adapters.formats.media.outline.outliner import MediaOutliner

        return MediaOutliner(self.probe)

    def _image(self) -> Outliner:
        from citekit.adapters.formats.image.outliner import ImageOutliner

        return ImageOutliner(self.ocr)

    def _pdf(self) -> Outliner:
        from citekit.adapters.formats.pdf.outline.outliner import PdfOutliner

        return PdfOutliner(self.index, self.password, self.ocr)

    def _book(self) -> Outliner:
        from citekit.adapters.formats.epub.outliner import EpubOutliner

        return EpubOutliner(self.reader)

    def _docx(self) -> Outliner:
        from citekit.adapters.formats.docx.outliner import DocxOutliner

        return DocxOutliner(self.reader)

    def _markdown(self) -> Outliner:
        from citekit.adapters.formats.markdown.outliner import MarkdownOutliner

        return MarkdownOutliner(self.plain())

    def _html(self) -> Outliner:
        from citekit.adapters.formats.html.outliner import HtmlOutliner

        return HtmlOutliner(self.plain())

    def _rst(self) -> Outliner:
        from citekit.adapters.formats.markup.rst import RstOutliner

        return RstOutliner(self.plain())

    def _subtitles(self) -> Outliner:
        from citekit.adapters.formats.subtitles.outliner import SubtitlesOutliner

        return SubtitlesOutliner(self.plain())


def _code() -> Outliner:
    from citekit.adapters.formats.code.outliner import CodeOutliner

    return CodeOutliner()


def _pptx() -> Outliner:
    from citekit.adapters.formats.pptx.outliner import PptxOutliner

    return PptxOutliner()


def _xlsx() -> Outliner:
    from citekit.adapters.formats.xlsx.outliner import XlsxOutliner

    return XlsxOutliner()


def _comic() -> Outliner:
    from citekit.adapters.formats.comic.outliner import CbzOutliner

    return CbzOutliner()
