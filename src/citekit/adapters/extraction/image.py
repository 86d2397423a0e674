"""A rectangle of a picture, upright, in the picture's own format."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from citekit.adapters.drivers import pillow
from citekit.adapters.drivers.files import writing
from citekit.adapters.extraction.image_encoding import encode
from citekit.adapters.extraction.image_traits import lost_depth
from citekit.domain.errors import ExtractionFailed, FormUnsupported
from citekit.domain.evidence import Extraction, ExtractorIdentity, Form, Options
from citekit.domain.formats import Format
from citekit.domain.locations import Box, Location
from citekit.domain.modality import Modality
from citekit.domain.progress import Progress, silent
from citekit.domain.source import Source

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageFile import ImageFile

Rectangle = tuple[int, int, int, int]
"""(left, top, right, bottom) in pixels, right and bottom exclusive."""

_FORMS = (Form.NATIVE, Form.PNG)


class PillowExtractor:
    """Cuts the smallest rectangle of whole pixels that holds the asked box; the extent is that rectangle.

    Format, mode, colour profile and resolution are the source's where its format can be written; the pixels are turned
    upright. No other metadata goes along: EXIF and XMP can hold a position, a name, and a preview of the whole picture.
    """

    identity = ExtractorIdentity("pillow", "1")

    def forms(self, format: Format, location: Location) -> Sequence[Form]:
        """The picture's own format (the native form) and PNG; none for anything but a box in a picture."""
        return _FORMS if format.modality is Modality.IMAGE and isinstance(location, Box) else ()

    def extract(
        self, source: Source, location: Location, options: Options, target: Path, progress: Progress = silent
    ) -> Extraction:
        """Write that rectangle to `target`; raises as the port says, and `SourceUnreadable`."""
        if not isinstance(location, Box) or options.form not in _FORMS:
            raise FormUnsupported(f"A part of a picture is cut as a picture, not as {options.form.value}.")
        with pillow.opened(source.path, failure=ExtractionFailed) as picture:
            width, height = pillow.upright_size(picture)
            rectangle = location.pixels(width, height)
            notes = [*_frame_note(picture), *lost_depth(source.path, picture)]
            progress(0, 2, "decoding the picture")
            crop = _cut(picture, rectangle, (width, height))
            encoded = encode(source.path, picture, crop, as_png=options.form is Form.PNG)
        progress(1, 2, "writing the crop")
        with writing(target), target.open("xb") as out:
            out.write(encoded.data)
        return Extraction(
            suffix=encoded.suffix,
            media_type=encoded.media_type,
            extent=_extent(location, rectangle, width, height),
            notes=(*notes, *encoded.notes),
        )


def _frame_note(picture: Image) -> list[str]:
    count = pillow.frame_count(picture)
    return [f"The picture has {count} frames or pages; this is a part of the first."] if count > 1 else []


def _cut(picture: ImageFile, rectangle: Rectangle, upright: tuple[int, int]) -> Image:
    turn = pillow.orientation(picture)
    picture.load()
    return pillow.turned(picture.crop(_stored(rectangle, turn, upright)), turn)


def _stored(rectangle: Rectangle, turn: int, upright: tuple[int, int]) -> Rectangle:
    """Where the pixels of an upright rectangle lie in the file, which is turned as EXIF says."""
    left, top, right, bottom = rectangle
    width, height = upright
    if turn in (2, 3, 6, 7):
        left, right = width - right, width - left
    if turn in (3, 4, 7, 8):
        top, bottom = height - bottom, height - top
    return (top, left, bottom, right) if turn >= 5 else (left, top, right, bottom)


def _extent(asked: Box, rectangle: Rectangle, width: int, height: int) -> Box:
    left, top, right, bottom = rectangle
    cut = Box(left / width, top / height, right / width, bottom / height)
    return asked if asked.pixels(width, height) == rectangle and _equal(asked, cut) else cut


def _equal(one: Box, other: Box) -> bool:
    """Whether two boxes differ by rounding error only."""
    return all(abs(a - b) < 1e-9 for a, b in zip(one.corners, other.corners, strict=True))
