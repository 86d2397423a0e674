"""Handles comics (CBZ)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from citekit.adapters.formats.handler import NativeHandler, Services
from citekit.adapters.formats.shared.outline import Outliner
from citekit.domain.extent import Extent
from citekit.domain.formats import Format
from citekit.domain.ports.extractor import Extractor
from citekit.domain.ports.text_reader import TextReader


class ComicHandler(NativeHandler):
    """Handles comics. Each image is a page, and pages have no text."""

    def outliner(self, format: Format, services: Services) -> Outliner:  # noqa: ARG002
        """See `FormatHandler.outliner`."""
        from citekit.adapters.formats.comic.outliner import CbzOutliner

        return CbzOutliner()

    def measure(self, path: Path, services: Services) -> Extent:  # noqa: ARG002
        """See `FormatHandler.measure`. Each image counts as a page."""
        from citekit.adapters.formats.comic.archive import open_comic

        with open_comic(path) as comic:
            return Extent(pages=len(comic.names))

    def text_reader(self, services: Services, *, marked: bool) -> TextReader | None:  # noqa: ARG002
        """See `FormatHandler.text_reader`."""
        return None

    def extractors(self) -> Mapping[str, Callable[[Services], Extractor]]:
        """See `FormatHandler.extractors`."""
        return {"comics": _comics}


def _comics(_: Services) -> Extractor:
    from citekit.adapters.formats.comic.extractor import CbzExtractor

    return CbzExtractor()


HANDLER = ComicHandler()
