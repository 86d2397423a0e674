"""Measures files by the drivers that cut them: how many pages, lines, seconds, pixels, characters, cells there are.

A measurer that remembers what was measured, by the bytes of the file.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from attrs import field, frozen

from citekit.adapters.libraries.sqlite.key_value_cache import Index
from citekit.domain.errors import SourceUnsupported
from citekit.domain.extent import Extent
from citekit.domain.formats import BOOKS
from citekit.domain.modality import Modality
from citekit.domain.ports.measurer import Measurer
from citekit.domain.ports.media_probe import MediaProbe
from citekit.domain.ports.reader import Reader
from citekit.domain.source import Source
from citekit.wire.extent import from_plain, to_plain


@frozen
class FileMeasurer:
    """Opens the file and counts; no structure is looked for. `password` opens PDFs that are locked with it."""

    reader: Reader
    probe: MediaProbe
    password: str | None = field(default=None, repr=False)

    def measure(self, source: Source) -> Extent:
        """See `Measurer.measure`."""
        return self._measure(source)(source.path)

    def _measure(self, source: Source) -> Callable[[Path], Extent]:
        match source.format.modality:
            case Modality.TEXT:
                return _lines
            case Modality.IMAGE:
                return _pixels
            case Modality.VIDEO | Modality.AUDIO:
                return self._seconds
        name = source.format.name
        if name in BOOKS:
            return self._chapters
        known = {"pdf": self._pages, "pptx": _slides, "xlsx": _sheets, "cbz": _pictures}
        if name not in known:
            raise SourceUnsupported(f"Nothing here can measure {name} files: {source.path}.")
        return known[name]

    def _pages(self, path: Path) -> Extent:
        from citekit.adapters.libraries.mupdf.engine import opened

        with opened(path, password=self.password) as document:
            return Extent(pages=document.page_count)

    def _chapters(self, path: Path) -> Extent:
        return Extent(chapters=tuple(len(chapter.text) for chapter in self.reader.read(path).chapters))

    def _seconds(self, path: Path) -> Extent:
        facts = self.probe.probe(path)
        return Extent(seconds=facts.duration, size=facts.size)


def _lines(path: Path) -> Extent:
    from citekit.adapters.formats.shared.text_file import open_text

    return open_text(path).bounds


def _pixels(path: Path) -> Extent:
    from citekit.adapters.libraries.pillow import opened, upright_size

    with opened(path) as picture:
        return Extent(size=upright_size(picture))


def _pictures(path: Path) -> Extent:
    from citekit.adapters.formats.comic.archive import opened_comic

    with opened_comic(path) as comic:
        return Extent(pages=len(comic.names))


def _slides(path: Path) -> Extent:
    from citekit.adapters.formats.pptx import presentation
    from citekit.adapters.libraries.office_package import opened_package

    with opened_package(path) as package:
        deck = presentation.presentation(package)
        with presentation.translated(path.name):
            return Extent(pages=len(list(deck.slides)))


def _sheets(path: Path) -> Extent:
    from citekit.adapters.formats.xlsx.workbook import Workbook
    from citekit.adapters.libraries.office_package import opened_package

    with opened_package(path) as package:
        workbook = Workbook.of(package)
        found = []
        for sheet in workbook.sheets:
            rows = columns = 0
            for value in workbook.values(sheet):
                rows, columns = max(rows, value.row), max(columns, value.column)
            found.append((sheet.name, rows, columns))
        return Extent(sheets=tuple(found))


VERSION = 2
"""Changes whenever the same bytes would be measured otherwise."""


@frozen
class RememberingMeasurer:
    """Asks `inner` once for the same bytes, in any process, as long as `index` keeps the answer."""

    inner: Measurer
    index: Index

    def measure(self, source: Source) -> Extent:
        """See `Measurer.measure`; a failure is not remembered."""
        known = from_plain(self.index.get(_key(source)))
        if known is not None:
            return known
        found = self.inner.measure(source)
        self.remember(source, found)
        return found

    def remember(self, source: Source, bounds: Extent) -> None:
        """Somebody who may be believed has measured `source`."""
        self.index.put(_key(source), to_plain(bounds))


def _key(source: Source) -> str:
    return f"bounds:{VERSION}:{source.format.name}:{source.digest}"
