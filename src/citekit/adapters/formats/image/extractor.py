"""Extracts a rectangle of an image, turned upright, in the format of the image."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from citekit.adapters.formats.image.encoding import CropFile, EncodedCrop, encode, resolution
from citekit.adapters.formats.image.file_properties import depth_notes
from citekit.adapters.formats.image.jpeg_segments import copy_without_metadata
from citekit.adapters.formats.image.partial_decoding import Rectangle, decode_region
from citekit.adapters.libraries import pillow
from citekit.adapters.system.files import writing
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

_FORMS = (Form.NATIVE, Form.PNG)
_BUFFER_SIZE = 1 << 20
"""Bytes per write. Encoders produce pieces of 64 kB, and each system call costs time."""


class PillowExtractor:
    """Extracts regions of images.

    The extent of the evidence is the smallest rectangle of whole pixels that contains the requested box. Format, mode,
    color profile, and resolution are those of the source if its format can be written. The pixels are turned upright.
    If possible, a whole upright JPEG is copied without encoding it again. EXIF and XMP are removed, because they can
    contain a GPS position, a name, and a preview of the whole image.
    """

    identity = ExtractorIdentity("pillow", "3")

    def forms(self, format: Format, location: Location) -> Sequence[Form]:
        """See `Extractor.forms`. A box in an image has the native form (the format of the source) and PNG."""
        return _FORMS if format.modality is Modality.IMAGE and isinstance(location, Box) else ()

    def extract(
        self, source: Source, location: Location, options: Options, target: Path, progress: Progress = silent
    ) -> Extraction:
        """See `Extractor.extract`. Also raise `SourceUnreadable` if the image cannot be read."""
        if not isinstance(location, Box) or options.form not in _FORMS:
            raise FormUnsupported(
                f"A part of a picture is available in the forms native and png, but not {options.form.value}."
            )
        with pillow.open_image(source.path, failure=ExtractionFailed) as picture:
            width, height = pillow.upright_size(picture)
            rectangle = location.pixels(width, height)
            notes = [*_frame_note(picture), *depth_notes(source.path, picture)]
            progress(0, 2, "decoding the picture")
            whole = rectangle == (0, 0, width, height) and options.form is Form.NATIVE
            copy = _lossless_copy(picture) if whole else None
            crop = picture if copy is not None else _crop(picture, rectangle, (width, height))
            progress(1, 2, "writing the crop")
            with _new_crop_file(target) as file:
                if copy is not None:
                    file.write(copy)
                    encoded = EncodedCrop(suffix=".jpg", media_type="image/jpeg")
                else:
                    encoded = encode(source.path, picture, crop, file, as_png=options.form is Form.PNG)
        return Extraction(
            suffix=encoded.suffix,
            media_type=encoded.media_type,
            extent=_extent(location, rectangle, width, height),
            notes=(*notes, *encoded.notes),
        )


def _frame_note(picture: Image) -> list[str]:
    count = pillow.frame_count(picture)
    return [f"The picture has {count} frames or pages; the crop shows the first one."] if count > 1 else []


def _crop(picture: ImageFile, rectangle: Rectangle, upright: tuple[int, int]) -> Image:
    orientation = pillow.orientation(picture)
    return pillow.turn_upright(decode_region(picture, _stored_rectangle(rectangle, orientation, upright)), orientation)


@contextmanager
def _new_crop_file(target: Path) -> Iterator[CropFile]:
    """Create a file at `target`, and close it at the end of the context, or delete it after an error."""
    with writing(target):
        stream = target.open("xb", buffering=_BUFFER_SIZE)
    try:
        yield CropFile(target, stream)
        with writing(target):
            stream.close()
    except BaseException:
        with suppress(OSError):  # closing writes the buffer, which fails if the disk is full
            stream.close()
        target.unlink(missing_ok=True)
        raise


def _lossless_copy(picture: ImageFile) -> bytes | None:
    """Return a copy of a whole upright JPEG without encoding it again, or None if that is not possible."""
    if picture.format not in ("JPEG", "MPO") or pillow.orientation(picture) != 1 or picture.fp is None:
        return None
    data = copy_without_metadata(picture.fp, resolution(picture))
    if data is not None:
        with pillow.library().open(BytesIO(data), formats=("JPEG",)) as copy:
            decode_region(copy, (0, 0, copy.width, 1))
    return data


def _stored_rectangle(rectangle: Rectangle, orientation: int, upright: tuple[int, int]) -> Rectangle:
    """Convert a rectangle of the upright image, which has the size `upright`, to the coordinates of the stored image."""
    left, top, right, bottom = rectangle
    width, height = upright
    if orientation in (2, 3, 6, 7):
        left, right = width - right, width - left
    if orientation in (3, 4, 7, 8):
        top, bottom = height - bottom, height - top
    return (top, left, bottom, right) if orientation >= 5 else (left, top, right, bottom)


def _extent(requested: Box, rectangle: Rectangle, width: int, height: int) -> Box:
    left, top, right, bottom = rectangle
    cut = Box(left / width, top / height, right / width, bottom / height)
    return requested if requested.pixels(width, height) == rectangle and _nearly_equal(requested, cut) else cut


def _nearly_equal(one: Box, other: Box) -> bool:
    """Return whether two boxes differ only by rounding errors."""
    return all(abs(a - b) < 1e-9 for a, b in zip(one.corners, other.corners, strict=True))
