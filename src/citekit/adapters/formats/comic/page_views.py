"""Shows the pages of comics in a viewer."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import frozen

from citekit.adapters.formats.comic.archive import open_comic
from citekit.adapters.formats.image.page_views import image_words, reduced_picture
from citekit.adapters.libraries.pillow import open_image, upright_size
from citekit.domain.errors import CiteKitError, LocationOutside
from citekit.domain.page_view import PagePicture, PageSize, PageWord
from citekit.domain.source import Source

if TYPE_CHECKING:
    from citekit.adapters.formats.shared.ocr import OcrReader
    from citekit.adapters.libraries.sqlite.key_value_cache import Index


@frozen
class ComicPageViews:
    """Shows the images of a comic. A damaged image counts as 1 x 1 pixels.

    `ocr` recognizes the words of pages, and `index` caches them.
    """

    ocr: OcrReader | None = None
    index: Index | None = None

    def sizes(self, source: Source) -> Sequence[PageSize]:
        """See `PageViews.sizes`."""
        with open_comic(source.path) as comic:
            count = len(comic.names)
        return [self._size(source, page) for page in range(1, count + 1)]

    def picture(self, source: Source, page: int, width: int) -> PagePicture:
        """See `PageViews.picture`."""
        with _page_file(source, page) as path:
            return reduced_picture(path, width, 4 * width)

    def words(self, source: Source, page: int) -> Sequence[PageWord]:
        """See `PageViews.words`. The words are recognized with OCR, if it is available."""
        with _page_file(source, page) as path:
            return image_words(path, self.ocr, self.index)

    def _size(self, source: Source, page: int) -> PageSize:
        try:
            with _page_file(source, page) as path, open_image(path) as picture:
                return PageSize(*map(float, upright_size(picture)))
        except CiteKitError:
            return PageSize(1.0, 1.0)


@contextmanager
def _page_file(source: Source, page: int) -> Iterator[Path]:
    """Yield the path of a temporary file with the image of a page. Raise `LocationOutside` if there is no such page."""
    with open_comic(source.path) as comic:
        if not 1 <= page <= len(comic.names):
            raise LocationOutside.beyond("page", page, "comic", len(comic.names))
        data = comic.read(page)
    with tempfile.TemporaryDirectory(prefix="citekit-") as folder:
        path = Path(folder) / "page"
        path.write_bytes(data)
        yield path
