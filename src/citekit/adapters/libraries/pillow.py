"""Opens images with Pillow, limits their size, and rotates them upright. The package pillow-heif reads HEIC.

Only HEIC and the formats in `FORMATS` are enabled, because some decoders of Pillow run other programs.
"""

from __future__ import annotations

import struct
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, BinaryIO, cast

from citekit.adapters.libraries.model_files import imported
from citekit.adapters.system.files import unreadable
from citekit.domain.errors import CiteKitError, LocationOutside, SourceUnsupported

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageFile import ImageFile

PIXEL_LIMIT = 178_956_970
"""The maximum number of pixels of an image that is decoded. Pillow rejects larger images."""

FORMATS = ("JPEG", "PNG", "GIF", "TIFF", "WEBP", "BMP", "DIB", "AVIF", "ICO", "PPM", "JPEG2000")
"""Pillow's names of the supported formats. JPEG includes MPO (several JPEG images in one file)."""

_HEIF_BRANDS = (b"heic", b"heix", b"hevc", b"hevx", b"mif1", b"msf1")

ORIENTATION = 0x0112
"""The EXIF orientation tag (EXIF 2.3, table 4)."""

_STRIP_PIXELS = 4_000_000
"""Number of pixels that are converted to another mode at a time."""

_BROKEN = "is damaged or truncated"


@lru_cache(maxsize=1)
def library() -> ModuleType:
    """Return the module `PIL.Image`, with its warnings turned off unless the caller has set filters."""
    from PIL import Image

    warnings.filterwarnings("ignore", module=r"PIL(\.|\Z)", append=True)
    return Image


def error_table(failure: type[CiteKitError]) -> dict[type[BaseException], tuple[type[CiteKitError], str]]:
    """Map each exception that Pillow raises to a CiteKit error class and the reason that its message gives.

    `failure` is the error class for damaged images.
    """
    from PIL import ImageCms, UnidentifiedImageError

    image = library()
    broken = (failure, _BROKEN)
    return {
        UnidentifiedImageError: (SourceUnsupported, "has an unsupported format or a damaged header"),
        image.DecompressionBombError: (
            SourceUnsupported,
            f"declares more than the limit of {PIXEL_LIMIT // 1_000_000} megapixels",
        ),
        image.DecompressionBombWarning: (
            SourceUnsupported,
            "has so many pixels that Pillow warns about it, and warnings are errors in this process",
        ),
        ImageCms.PyCMSError: (failure, "has an unusable color profile"),
        MemoryError: (failure, "needs more memory than is available"),
        **dict.fromkeys(
            (OSError, EOFError, SyntaxError, ValueError, TypeError, LookupError, AttributeError, Warning), broken
        ),
        **dict.fromkeys((ArithmeticError, RuntimeError, AssertionError, struct.error, zlib.error), broken),
    }


@contextmanager
def translated_errors(path: Path, failure: type[CiteKitError]) -> Iterator[None]:
    """Translate Pillow's errors inside the block to CiteKit errors about the image at `path`; for damage, to `failure`."""
    table = error_table(failure)
    try:
        yield
    except CiteKitError:
        raise
    except tuple(table) as error:
        error_class, reason = next(table[kind] for kind in table if isinstance(error, kind))
        if "MAX_TEXT_" in str(error):  # Pillow's message names its own setting
            reason = "has more text metadata than the limit allows"
        detail = f" ({_short_reason(error)})" if reason == _BROKEN else ""
        raise error_class(f"The image {path.name} {reason}{detail}.") from error


def _short_reason(error: BaseException) -> str:
    text = (str(error).splitlines() or [""])[0].strip(" .")[:120]
    return text or type(error).__name__


@contextmanager
def open_image(path: Path, failure: type[CiteKitError] = SourceUnsupported, page: int = 1) -> Iterator[ImageFile]:
    """Open the image at `path` and yield its first frame, or the page `page` (see `page_count`), without decoding it.

    Raise `SourceUnreadable` if the file cannot be read, `SourceUnsupported` if it is not an image or declares more than
    `PIXEL_LIMIT` pixels, `LocationOutside` if it has no such page, or `DriverMissing` if it is HEIC and the extra
    `heic` is not installed. For errors inside the block, see `translated_errors`.
    """
    try:
        stream = path.open("rb")
    except OSError as error:
        raise unreadable(error, path) from error
    with stream:
        with translated_errors(path, SourceUnsupported):
            picture = cast("ImageFile", library().open(stream, formats=_formats(stream, path)))
            if page != 1:
                if not 1 <= page <= page_count(picture):
                    raise LocationOutside.beyond("page", page, "image", page_count(picture))
                picture.seek(page - 1)
            _check_size(path, picture)
        with translated_errors(path, failure), picture:
            yield picture


def _formats(stream: BinaryIO, path: Path) -> tuple[str, ...]:
    """Return the formats in which an image may be opened, and register HEIC with Pillow for a HEIC image."""
    head = stream.read(64)
    stream.seek(0)
    if head[4:8] != b"ftyp" or head[8:12] not in _HEIF_BRANDS or b"avif" in head[16:]:
        return FORMATS
    imported("pillow_heif", f"Reading {path.name}, a HEIC picture,", "heic").register_heif_opener(thumbnails=False)
    return ("HEIF",)


def _check_size(path: Path, picture: Image) -> None:
    width, height = picture.size
    if width * height > PIXEL_LIMIT:
        limit = PIXEL_LIMIT // 1_000_000
        raise SourceUnsupported(
            f"The image {path.name} declares {width} x {height} pixels, more than the limit of {limit} megapixels. Use a "
            "smaller copy."
        )


def orientation(picture: Image) -> int:
    """Return the EXIF orientation of the pixels, 1 to 8; 1 if it is missing or invalid, or if Pillow applies it (TIFF)."""
    if picture.format == "TIFF":
        return 1
    value: object = None
    with suppress(Exception):  # EXIF is optional and often damaged; without it, the image is upright
        value = picture.getexif().get(ORIENTATION)
    return value if isinstance(value, int) and 1 <= value <= 8 else 1


def upright_size(picture: Image) -> tuple[int, int]:
    """Return (width, height) in pixels of the image after rotation according to its EXIF orientation."""
    width, height = picture.size
    return (height, width) if orientation(picture) >= 5 else (width, height)


def turn_upright(picture: Image, orientation: int) -> Image:
    """Return the image rotated and mirrored according to the EXIF orientation `orientation`."""
    method = library().Transpose
    methods = {
        2: method.FLIP_LEFT_RIGHT,
        3: method.ROTATE_180,
        4: method.FLIP_TOP_BOTTOM,
        5: method.TRANSPOSE,
        6: method.ROTATE_270,
        7: method.TRANSVERSE,
        8: method.ROTATE_90,
    }
    return picture.transpose(methods[orientation]) if orientation in methods else picture


def frame_count(picture: Image) -> int:
    """Return the number of frames or pages in the image; 1 if they cannot be counted."""
    with suppress(Exception):  # the first frame is usable even if later ones are damaged
        return max(1, int(getattr(picture, "n_frames", 1)))
    return 1


def page_count(picture: Image) -> int:
    """Return the number of pages of a TIFF file; 1 for other formats."""
    return frame_count(picture) if picture.format == "TIFF" else 1


def reduced_copy(picture: ImageFile, side: int, mode: str) -> Image:
    """Return an upright copy of the current frame, at most `side` pixels on its longer side; `mode` is `L` or `RGB`.

    Transparent areas become white. The values of an image with more than 8 bits per channel are stretched to the full
    range. A JPEG is decoded at a lower resolution if that is still large enough.
    """
    exif_orientation = orientation(picture)
    picture.draft(mode, (side, side))
    picture.load()
    factor = max(1, max(picture.size) // side)
    levels = _value_range(picture)
    copy: Image = library().new(mode, (-(-picture.width // factor), -(-picture.height // factor)))
    step = factor * max(1, _STRIP_PIXELS // (picture.width * factor))
    for top in range(0, picture.height, step):
        strip = _on_white(picture.crop((0, top, picture.width, min(top + step, picture.height))), mode, levels)
        copy.paste(strip.reduce(factor) if factor > 1 else strip, (0, top // factor))
    copy.thumbnail((side, side))
    return turn_upright(copy, exif_orientation)


def _value_range(picture: Image) -> tuple[float, float] | None:
    """Return the lowest and the highest pixel value of an image with more than 8 bits per channel, else None."""
    if not picture.mode.startswith(("I", "F")):
        return None
    low, high = cast("tuple[float, float]", picture.getextrema())
    return float(low), float(high)


def _on_white(picture: Image, mode: str, levels: tuple[float, float] | None) -> Image:
    if levels is not None:
        low, high = levels
        scale = 255 / (high - low) if high > low else 0.0
        floating = picture.convert("F")
        return floating.point(lambda value: value * scale + (-low * scale)).convert("L").convert(mode)
    if picture.has_transparency_data:
        picture = picture.convert("RGBA")
        picture = library().alpha_composite(library().new("RGBA", picture.size, "white"), picture)
    return picture.convert(mode)
