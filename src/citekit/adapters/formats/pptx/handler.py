"""The format handler for presentations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from citekit.adapters.formats.handler import NativeHandler, Services
from citekit.adapters.formats.shared.outline import Outliner
from citekit.domain.extent import Extent
from citekit.domain.formats import Format
from citekit.domain.ports.extractor import Extractor
from citekit.domain.ports.text_reader import TextReader


class PptxHandler(NativeHandler):
    """A format handler for presentations, in which each slide is a page."""

    def outliner(self, format: Format, services: Services) -> Outliner:  # noqa: ARG002
        """See `FormatHandler.outliner`."""
        from citekit.adapters.formats.pptx.outliner import PptxOutliner

        return PptxOutliner()

    def measure(self, path: Path, services: Services) -> Extent:  # noqa: ARG002
        """See `FormatHandler.measure`. Slides count as pages."""
        from citekit.adapters.formats.pptx import presentation
        from citekit.adapters.libraries.office_package import opened_package

        with opened_package(path) as package:
            deck = presentation.presentation(package)
            with presentation.translated(path.name):
                return Extent(pages=len(list(deck.slides)))

    def text_reader(self, services: Services, *, marked: bool) -> TextReader:  # noqa: ARG002
        """See `FormatHandler.text_reader`."""
        from citekit.adapters.formats.pptx.text_reader import SlidesTextReader

        return SlidesTextReader(as_seen=marked)

    def extractors(self) -> Mapping[str, Callable[[Services], Extractor]]:
        """See `FormatHandler.extractors`."""
        return {"slides": _slides}


def _slides(_: Services) -> Extractor:
    from citekit.adapters.formats.pptx.extractor import SlideExtractor

    return SlideExtractor()


HANDLER = PptxHandler()
