"""Pillow: pictures opened safely, upright, with its exceptions translated by one table.

Only the formats of `FORMATS` are tried, so that no file reaches a decoder that runs other programs. The size that a file
declares is checked before anything is decoded.
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
from typing import TYPE_CHECKING, cast

from citekit.adapters.system.files import unreadable
from citekit.domain.errors import CiteKitError, SourceUnsupported

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageFile import ImageFile

PIXEL_LIMIT = 178_956_970
"""Pixels of the largest picture that is decoded: from twice its own warning limit on, Pillow speaks of an attack."""

FORMATS = ("JPEG", "PNG", "GIF", "TIFF", "WEBP", "BMP", "DIB", "AVIF", "ICO", "PPM", "JPEG2000")
"""Pillow's names of the formats that are opened; with JPEG comes MPO, several JPEGs in one file."""

ORIENTATION = 0x0112
"""The EXIF tag that says how a picture is turned (EXIF 2.3, table 4)."""

_STRIP_PIXELS = 4_000_000
"""Pixels that are changed into another mode at a time."""

_BROKEN = "is broken or cut off"


@lru_cache(maxsize=1)
def library() -> ModuleType:
    """The module `PIL.Image`. What it says about odd files as warnings, it says to nobody (filters of yours come first)."""
    from PIL import Image

    warnings.filterwarnings("ignore", module=r"PIL(\.|\Z)", append=True)
    return Image


def error_table(failure: type[CiteKitError]) -> dict[type[BaseException], tuple[type[CiteKitError], str]]:
    """For every exception that Pillow raises: our error, and what its text says of the file. Subclasses come first.

    Damaged files make it raise most of Python's own exceptions, too.
    """
    from PIL import ImageCms, UnidentifiedImageError

    image = library()
    too_large = (SourceUnsupported, f"declares more than the {PIXEL_LIMIT // 1_000_000} megapixels that are decoded")
    broken = (failure, _BROKEN)
    return {
        UnidentifiedImageError: (SourceUnsupported, "is not a picture that can be read, or its beginning is damaged"),
        image.DecompressionBombError: too_large,
        image.DecompressionBombWarning: too_large,
        ImageCms.PyCMSError: (failure, "has a colour profile that cannot be used"),
        MemoryError: (failure, "needs more memory than there is"),
        **dict.fromkeys(
            (OSError, EOFError, SyntaxError, ValueError, TypeError, LookupError, AttributeError, Warning), broken
        ),
        **dict.fromkeys((ArithmeticError, RuntimeError, AssertionError, struct.error, zlib.error), broken),
    }


@contextmanager
def translated_errors(path: Path, failure: type[CiteKitError]) -> Iterator[None]:
    """Turn what Pillow raises over the picture at `path` into our errors; the cause is kept."""
    known = error_table(failure)
    try:
        yield
    except CiteKitError:
        raise
    except tuple(known) as error:
        ours, reason = next(known[kind] for kind in known if isinstance(error, kind))
        detail = f" ({_short_reason(error)})" if reason == _BROKEN else ""
        raise ours(f"The picture {path.name} {reason}{detail}.") from error


def _short_reason(error: BaseException) -> str:
    text = (str(error).splitlines() or [""])[0].strip(" .")[:120]
    if "MAX_TEXT_" in text:  # names of settings of Pillow
        return "it holds more text beside the picture than is read"
    return text or type(error).__name__


@contextmanager
def open_image(path: Path, failure: type[CiteKitError] = SourceUnsupported) -> Iterator[ImageFile]:
    """The picture at `path`, its first frame, not decoded yet.

    Raises `SourceUnreadable`, `SourceUnsupported` (no picture, or one that declares more than `PIXEL_LIMIT` pixels). What
    Pillow raises while the picture is worked on becomes a `failure`.
    """
    try:
        stream = path.open("rb")
    except OSError as error:
        raise unreadable(error, path) from error
    with stream:
        with translated_errors(path, SourceUnsupported):
            picture = cast("ImageFile", library().open(stream, formats=FORMATS))
            _check_size(path, picture)
        with translated_errors(path, failure), picture:
            yield picture


def _check_size(path: Path, picture: Image) -> None:
    width, height = picture.size
    if width * height > PIXEL_LIMIT:
        limit = PIXEL_LIMIT // 1_000_000
        raise SourceUnsupported(
            f"The picture {path.name} declares {width} x {height} pixels, more than the {limit} megapixels that are decoded."
        )


def orientation(picture: Image) -> int:
    """How the stored pixels are turned, 1 to 8 as in EXIF; 1 where nothing sensible says so.

    Pillow turns TIFF files itself while it decodes them.
    """
    if picture.format == "TIFF":
        return 1
    value: object = None
    with suppress(Exception):  # EXIF is optional and often damaged; whatever is wrong with it, the picture is as stored
        value = picture.getexif().get(ORIENTATION)
    return value if isinstance(value, int) and 1 <= value <= 8 else 1


def upright_size(picture: Image) -> tuple[int, int]:
    """(width, height) in pixels as the picture is seen."""
    width, height = picture.size
    return (height, width) if orientation(picture) >= 5 else (width, height)


def turn_upright(picture: Image, turn: int) -> Image:
    """The picture turned upright from the EXIF orientation `turn`."""
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
    return picture.transpose(methods[turn]) if turn in methods else picture


def frame_count(picture: Image) -> int:
    """How many frames or pages there are, at least 1; 1 where they cannot be counted."""
    with suppress(Exception):  # a file whose later frames are damaged still has its first
        return max(1, int(getattr(picture, "n_frames", 1)))
    return 1


def reduced_copy(picture: ImageFile, side: int, mode: str) -> Image:
    """An upright copy of the first frame, at most `side` pixels on its longer side; `mode` is `L` or `RGB`.

    What is transparent is white. JPEG is decoded at a lower resolution where that suffices; others are turned into `mode`
    a strip at a time, so that only the picture as it is stored is ever held as a whole.
    """
    turn = orientation(picture)
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
    return turn_upright(copy, turn)


def _value_range(picture: Image) -> tuple[float, float] | None:
    """The darkest and the lightest value of a picture of more than 8 bits; None for others."""
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
