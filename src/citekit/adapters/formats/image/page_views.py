"""Shows images and the pages of comics in a viewer."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from citekit.adapters.formats.comic.archive import open_comic
from citekit.adapters.libraries.pillow import open_image, orientation, turn_upright, upright_size
from citekit.domain.errors import CiteKitError, LocationOutside
from citekit.domain.page_view import PagePicture, PageSize, PageWord
from citekit.domain.source import Source


def reduced_picture(path: Path, width: int, height: int) -> PagePicture:
    """Return an upright copy of the image at `path` that fits into so many pixels, as JPEG, or as PNG if it has
    transparent parts.
    """
    with open_image(path) as picture:
        turn = orientation(picture)
        if turn >= 5:
            width, height = height, width
        picture.draft("RGB", (width, height))
        small = picture.convert("RGBA") if picture.has_transparency_data else picture.convert("RGB")
        small.thumbnail((width, height))
        upright = turn_upright(small, turn)
        data = io.BytesIO()
        if upright.mode == "RGBA":
            upright.save(data, "PNG")
            return PagePicture(data.getvalue(), "image/png")
        upright.save(data, "JPEG", quality=90)
        return PagePicture(data.getvalue(), "image/jpeg")


class ImagePageViews:
    """Shows an image as one page."""

    def sizes(self, source: Source) -> Sequence[PageSize]:
        """See `PageViews.sizes`."""
        with open_image(source.path) as picture:
            return [PageSize(*map(float, upright_size(picture)))]

    def picture(self, source: Source, page: int, width: int) -> PagePicture:
        """See `PageViews.picture`."""
        if page != 1:
            raise LocationOutside.beyond("page", page, "image", 1)
        return reduced_picture(source.path, width, 4 * width)

    def words(self, source: Source, page: int) -> Sequence[PageWord]:  # noqa: ARG002
        """Return nothing: the words that OCR recognized in an image are nodes of its map."""
        return []


class ComicPageViews:
    """Shows the images of a comic. A damaged image counts as a page of 1 x 1 pixels."""

    def sizes(self, source: Source) -> Sequence[PageSize]:
        """See `PageViews.sizes`."""
        with open_comic(source.path) as comic:
            count = len(comic.names)
        return [self._size(source, page) for page in range(1, count + 1)]

    def picture(self, source: Source, page: int, width: int) -> PagePicture:
        """See `PageViews.picture`."""
        with _page_file(source, page) as path:
            return reduced_picture(path, width, 4 * width)

    def words(self, source: Source, page: int) -> Sequence[PageWord]:  # noqa: ARG002
        """Return nothing, because pages of comics have no text."""
        return []

    def _size(self, source: Source, page: int) -> PageSize:
        try:
            with _page_file(source, page) as path, open_image(path) as picture:
                return PageSize(*map(float, upright_size(picture)))
        except CiteKitError:
            return PageSize(1.0, 1.0)


@contextmanager
def _page_file(source: Source, page: int) -> Iterator[Path]:
    """Yield the path of a temporary file with the image of a page."""
    with open_comic(source.path) as comic:
        if not 1 <= page <= len(comic.names):
            raise LocationOutside.beyond("page", page, "comic", len(comic.names))
        data = comic.read(page)
    with tempfile.TemporaryDirectory(prefix="citekit-") as folder:
        path = Path(folder) / "page"
        path.write_bytes(data)
        yield path
