"""The format handler for images."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from citekit.adapters.formats.handler import NativeHandler, Services
from citekit.adapters.formats.shared.outline import Outliner
from citekit.domain.extent import Extent
from citekit.domain.formats import Format
from citekit.domain.ports.extractor import Extractor
from citekit.domain.ports.text_reader import TextReader


class ImageHandler(NativeHandler):
    """Handles images. A location in an image is a bounding box."""

    def outliner(self, format: Format, services: Services) -> Outliner:  # noqa: ARG002
        """See `FormatHandler.outliner`."""
        from citekit.adapters.formats.image.outliner import ImageOutliner

        return ImageOutliner(services.ocr_reader)

    def measure(self, path: Path, services: Services) -> Extent:  # noqa: ARG002
        """See `FormatHandler.measure`. The extent is the width and height in pixels, as displayed."""
        from citekit.adapters.libraries.pillow import open_image, upright_size

        with open_image(path) as picture:
            return Extent(size=upright_size(picture))

    def text_reader(self, services: Services, *, marked: bool) -> TextReader | None:  # noqa: ARG002
        """See `FormatHandler.text_reader`."""
        return None

    def extractors(self) -> Mapping[str, Callable[[Services], Extractor]]:
        """See `FormatHandler.extractors`."""
        return {"regions": _regions}


def _regions(_: Services) -> Extractor:
    from citekit.adapters.formats.image.extractor import PillowExtractor

    return PillowExtractor()


HANDLER = ImageHandler()
