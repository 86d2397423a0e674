"""Shows images in a viewer."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import frozen

from citekit.adapters.formats.image.outliner import OCR_SIZE, read_text
from citekit.adapters.formats.shared.ocr import recognized_words, store_lines, stored_lines
from citekit.adapters.libraries.pillow import (
    open_image,
    orientation,
    page_count,
    reduced_copy,
    turn_upright,
    upright_size,
)
from citekit.domain.page_view import PagePicture, PageSize, PageWord
from citekit.domain.source import Source

if TYPE_CHECKING:
    from citekit.adapters.formats.shared.ocr import OcrReader
    from citekit.adapters.libraries.sqlite.key_value_cache import Index


def reduced_picture(path: Path, width: int, height: int, page: int = 1) -> PagePicture:
    """Return an upright copy of a page of the image at `path` that fits into the given size in pixels.

    The copy is a JPEG, or a PNG if the image has transparent parts. Raise the errors of `open_image`.
    """
    with open_image(path, page=page) as picture:
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


@frozen
class ImagePageViews:
    """Shows an image as one page, or the pages of a TIFF file. A damaged later page counts as 1 x 1 pixels.

    `ocr` recognizes the words of pages, and `index` caches them.
    """

    ocr: OcrReader | None = None
    index: Index | None = None

    def sizes(self, source: Source) -> Sequence[PageSize]:
        """See `PageViews.sizes`."""
        with open_image(source.path) as picture:
            sizes = [PageSize(*map(float, upright_size(picture)))]
            for page in range(1, page_count(picture)):
                try:
                    picture.seek(page)
                    sizes.append(PageSize(*map(float, upright_size(picture))))
                except Exception:  # damaged files can make Pillow raise almost any exception
                    sizes.append(PageSize(1.0, 1.0))
            return sizes

    def picture(self, source: Source, page: int, width: int) -> PagePicture:
        """See `PageViews.picture`."""
        return reduced_picture(source.path, width, 4 * width, page)

    def words(self, source: Source, page: int) -> Sequence[PageWord]:
        """See `PageViews.words`. OCR recognizes the words, if it is available and the image is not a photograph."""
        return image_words(source.path, self.ocr, self.index, page)


def image_words(path: Path, ocr: OcrReader | None, index: Index | None, page: int = 1) -> Sequence[PageWord]:
    """Return the words that OCR recognizes on a page of an image; none without OCR or for a photograph.

    The result is cached in `index`, if that is not None. Raise the errors of `open_image`, and `MapperUnavailable` if
    OCR fails.
    """
    if ocr is None:
        return []
    with open_image(path, page=page) as picture:
        copy = reduced_copy(picture, OCR_SIZE, "RGB")
    lines = stored_lines(index, copy)
    if lines is None:
        found = read_text(ocr, copy)
        lines = [] if found is None else list(found.lines)
        store_lines(index, copy, lines)
    return list(recognized_words(lines))
