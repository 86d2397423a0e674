"""Prepares files for the viewer: draws pages, reads sheets, shows documents, and measures sound."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from attrs import frozen

from citekit.domain.errors import LocationOutside, SourceUnsupported
from citekit.domain.formats import Format
from citekit.domain.modality import Modality
from citekit.domain.page_view import PagePicture, PageSize, PageWord, SheetRow, is_drawing
from citekit.domain.source import Source

if TYPE_CHECKING:
    from citekit.adapters.formats.handler import Services


class _Views(Protocol):
    """The views of one format. See `PageViews`."""

    def sizes(self, source: Source) -> Sequence[PageSize]: ...
    def picture(self, source: Source, page: int, width: int) -> PagePicture: ...
    def words(self, source: Source, page: int) -> Sequence[PageWord]: ...


@frozen
class FormatPageViews:
    """Prepares files for the viewer in this process."""

    services: Services

    def supports(self, format: Format) -> bool:
        """See `PageViews.supports`."""
        return format.name in ("pdf", "cbz") or format.modality is Modality.IMAGE

    def sizes(self, source: Source) -> Sequence[PageSize]:
        """See `PageViews.sizes`."""
        return self._views(source).sizes(source)

    def picture(self, source: Source, page: int, width: int) -> PagePicture:
        """See `PageViews.picture`."""
        return self._views(source).picture(source, page, width)

    def words(self, source: Source, page: int) -> Sequence[PageWord]:
        """See `PageViews.words`."""
        return self._views(source).words(source, page)

    def rows(self, source: Source, sheet: str) -> Sequence[SheetRow]:
        """See `PageViews.rows`."""
        if source.format.name != "xlsx":
            raise SourceUnsupported(f"{source.path.name} has no sheets: its format is {source.format.name}.")
        from citekit.adapters.formats.xlsx.rows import sheet_rows

        return sheet_rows(source.path, sheet)

    def document(self, source: Source, page: int) -> str:
        """See `PageViews.document`."""
        if source.format.name == "pptx":
            from citekit.adapters.formats.pptx.slide_html import slide_html

            return slide_html(source.path, page)
        if source.format.name != "html" and not is_drawing(source):
            raise SourceUnsupported(f"{source.path.name} cannot be shown as HTML: its format is {source.format.name}.")
        if page != 1:
            raise LocationOutside.beyond("page", page, "file", 1)
        if is_drawing(source):
            from citekit.adapters.formats.image.drawing import drawing_page

            return drawing_page(source.path)
        from citekit.adapters.formats.html.part import html_page

        return html_page(source.path)

    def waveform(self, source: Source, count: int) -> Sequence[int]:
        """See `PageViews.waveform`."""
        if source.format.modality not in (Modality.VIDEO, Modality.AUDIO):
            raise SourceUnsupported(f"{source.path.name} is not a recording: its format is {source.format.name}.")
        from citekit.adapters.formats.media.waveform import waveform

        return waveform(source.path, count)

    def _views(self, source: Source) -> _Views:
        if source.format.name == "pdf":
            from citekit.adapters.formats.pdf.page_views import PdfPageViews

            services = self.services
            return PdfPageViews(services.password, services.ocr_reader, services.index)
        if source.format.name == "cbz":
            from citekit.adapters.formats.comic.page_views import ComicPageViews

            return ComicPageViews(self.services.ocr_reader, self.services.index)
        if source.format.modality is Modality.IMAGE:
            from citekit.adapters.formats.image.page_views import ImagePageViews

            return ImagePageViews(self.services.ocr_reader, self.services.index)
        raise SourceUnsupported(f"{source.path.name} has no pages to draw: its format is {source.format.name}.")
