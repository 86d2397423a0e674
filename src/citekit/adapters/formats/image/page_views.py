"""Shows images in a viewer."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

from citekit.adapters.libraries.pillow import open_image, orientation, turn_upright, upright_size
from citekit.domain.errors import LocationOutside
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
