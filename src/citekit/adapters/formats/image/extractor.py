"""A rectangle of a picture, upright, in the picture's own format."""

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
"""Bytes that are written at once: encoders give them in pieces of 64 kB, and each call of the system takes its time."""


class PillowExtractor:
    """Cuts the smallest rectangle of whole pixels that holds the asked box; the extent is that rectangle.

    Format, mode, colour profile and resolution are the source's where its format can be written; the pixels are turned
    upright. The whole of an upright JPEG is not coded again. No other metadata goes along: EXIF and XMP can hold a
    position, a name, and a preview of the whole picture.
    """

    identity = ExtractorIdentity("pillow", "3")

    def forms(self, format: Format, location: Location) -> Sequence[Form]:
        """The picture's own format (the native form) and PNG; none for anything but a box in a picture."""
        return _FORMS if format.modality is Modality.IMAGE and isinstance(location, Box) else ()

    def extract(
        self, source: Source, location: Location, options: Options, target: Path, progress: Progress = silent
    ) -> Extraction:
        """Write that rectangle to `target`; raises as the port says, and `SourceUnreadable`."""
        if not isinstance(location, Box) or options.form not in _FORMS:
            raise FormUnsupported(f"A part of a picture is cut as a picture, not as {options.form.value}.")
        with pillow.open_image(source.path, failure=ExtractionFailed) as picture:
            width, height = pillow.upright_size(picture)
            rectangle = location.pixels(width, height)
            notes = [*_frame_note(picture), *depth_notes(source.path, picture)]
            progress(0, 2, "decoding the picture")
            whole = rectangle == (0, 0, width, height) and options.form is Form.NATIVE
            copy = _lossless_copy(picture) if whole else None
            crop = picture if copy is not None else _crop(picture, rectangle, (width, height))
            progress(1, 2, "writing the crop")
            with _new_crop_file(target) as out:
                if copy is not None:
                    out.write(copy)
                    encoded = EncodedCrop(suffix=".jpg", media_type="image/jpeg")
                else:
                    encoded = encode(source.path, picture, crop, out, as_png=options.form is Form.PNG)
        return Extraction(
            suffix=encoded.suffix,
            media_type=encoded.media_type,
            extent=_extent(location, rectangle, width, height),
            notes=(*notes, *encoded.notes),
        )


def _frame_note(picture: Image) -> list[str]:
    count = pillow.frame_count(picture)
    return [f"The picture has {count} frames or pages; this is a part of the first."] if count > 1 else []


def _crop(picture: ImageFile, rectangle: Rectangle, upright: tuple[int, int]) -> Image:
    turn = pillow.orientation(picture)
    return pillow.turn_upright(decode_region(picture, _stored_rectangle(rectangle, turn, upright)), turn)


@contextmanager
def _new_crop_file(target: Path) -> Iterator[CropFile]:
    """A new file at `target`; gone again where the work fails."""
    with writing(target):
        stream = target.open("xb", buffering=_BUFFER_SIZE)
    try:
        yield CropFile(target, stream)
        with writing(target):
            stream.close()
    except BaseException:
        with suppress(OSError):  # what is left in its buffer still does not fit
            stream.close()
        target.unlink(missing_ok=True)
        raise


def _lossless_copy(picture: ImageFile) -> bytes | None:
    """The whole of an upright JPEG without coding it again; its first rows are decoded, as a proof that it opens."""
    if picture.format not in ("JPEG", "MPO") or pillow.orientation(picture) != 1 or picture.fp is None:
        return None
    data = copy_without_metadata(picture.fp, resolution(picture))
    if data is not None:
        with pillow.library().open(BytesIO(data), formats=("JPEG",)) as copy:
            decode_region(copy, (0, 0, copy.width, 1))
    return data


def _stored_rectangle(rectangle: Rectangle, turn: int, upright: tuple[int, int]) -> Rectangle:
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
    return asked if asked.pixels(width, height) == rectangle and _nearly_equal(asked, cut) else cut


def _nearly_equal(one: Box, other: Box) -> bool:
    """Whether two boxes differ by rounding error only."""
    return all(abs(a - b) < 1e-9 for a, b in zip(one.corners, other.corners, strict=True))
