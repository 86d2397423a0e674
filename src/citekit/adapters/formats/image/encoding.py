"""How a crop is written: in the source's format and with its colours, or as PNG where that cannot be."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from attrs import define, frozen

from citekit.adapters.formats.image.file_properties import webp_is_lossless
from citekit.adapters.libraries import pillow
from citekit.adapters.system.files import unwritable, writing

if TYPE_CHECKING:
    from PIL.Image import Image

QUALITY = 95
"""Of lossy formats, 0 to 100: at 95 a second encoding is not seen."""

_LOSSLESS_TIFF = frozenset(
    {"raw", "tiff_lzw", "tiff_adobe_deflate", "tiff_deflate", "packbits", "group3", "group4", "lzma", "zstd"}
)
_FORMATS = {
    "JPEG": ("JPEG", ".jpg", "image/jpeg"),
    "MPO": ("JPEG", ".jpg", "image/jpeg"),
    "PNG": ("PNG", ".png", "image/png"),
    "GIF": ("GIF", ".gif", "image/gif"),
    "TIFF": ("TIFF", ".tif", "image/tiff"),
    "WEBP": ("WEBP", ".webp", "image/webp"),
    "BMP": ("BMP", ".bmp", "image/bmp"),
    "DIB": ("BMP", ".bmp", "image/bmp"),
    "AVIF": ("AVIF", ".avif", "image/avif"),
    "PPM": ("PPM", ".ppm", "image/x-portable-anymap"),
    "JPEG2000": ("JPEG2000", ".jp2", "image/jp2"),
}
_PNG_MODES = frozenset({"1", "L", "LA", "P", "RGB", "RGBA", "I;16", "I"})
_PNG_COMPRESSION = 4
"""Of zlib, 0 to 9: three times as fast as its usual 6, for one per cent of size."""

_COPIED_INFO = ("transparency",)
_LOSSY = "The source is a lossy {format}; the crop was encoded again, at quality {quality}."
_AS_PNG = "A crop cannot be written as {format} ({mode}); it is PNG instead."
_CONVERTED = "The colours were converted from {mode} to {to}, which PNG can hold."


@define
class CropFile:
    """The file that a picture is written to, piece by piece. What the system refuses is `HomeUnwritable` at once."""

    path: Path
    stream: BinaryIO

    def write(self, data: bytes | memoryview) -> int:
        """Write all of `data`."""
        try:
            return self.stream.write(data)
        except OSError as error:
            raise unwritable(error, self.path) from error

    def seek(self, offset: int, whence: int = 0) -> int:
        """As of any file."""
        with writing(self.path):
            return self.stream.seek(offset, whence)

    def tell(self) -> int:
        """As of any file."""
        return self.stream.tell()

    def flush(self) -> None:
        """As of any file."""
        with writing(self.path):
            self.stream.flush()

    def discard(self) -> None:
        """Take back all that was written."""
        self.seek(0)
        with writing(self.path):
            self.stream.truncate()


@frozen(kw_only=True)
class EncodedCrop:
    """What sort of file was written, and sentences about what is not as in the source."""

    suffix: str
    media_type: str
    notes: tuple[str, ...] = ()


def encode(path: Path, source: Image, crop: Image, out: CropFile, *, as_png: bool) -> EncodedCrop:
    """Write `crop`, cut out of the picture `source` at `path`, as a file of the source's format, or as PNG."""
    info = dict(source.info)
    crop.info = {name: info[name] for name in _COPIED_INFO if name in info}
    name = source.format or "PNG"
    if not as_png and name in _FORMATS:
        native = _encode_native(path, source, crop, out, *_FORMATS[name])
        if native is not None:
            return native
    return _encode_png(source, crop, out, wanted=as_png)


def _encode_native(
    path: Path, source: Image, crop: Image, out: CropFile, format: str, suffix: str, media_type: str
) -> EncodedCrop | None:
    options, notes = _encoder_options(path, source, format)
    try:
        crop.save(cast("Any", out), format=format, **_color_options(source, format), **options)
    except (OSError, ValueError, KeyError, TypeError):
        out.discard()
        return None  # this mode cannot be written in this format; PNG holds it
    return EncodedCrop(suffix=suffix, media_type=media_type, notes=notes)


def _encoder_options(path: Path, source: Image, format: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    again = (_LOSSY.format(format=format, quality=QUALITY),)
    match format:
        case "PNG":
            return {"compress_level": _PNG_COMPRESSION}, ()
        case "JPEG":
            return {"quality": QUALITY, "subsampling": _subsampling(source)}, again
        case "AVIF":
            return {"quality": QUALITY, "max_threads": 1}, again
        case "WEBP" if webp_is_lossless(path):
            return {"lossless": True, "exact": True}, ()
        case "WEBP":
            return {"quality": QUALITY}, again
        case "TIFF":
            compression = source.info.get("compression")
            return {"compression": compression if compression in _LOSSLESS_TIFF else "tiff_adobe_deflate"}, ()
        case "GIF":
            return {"optimize": False, "save_all": False}, ()
    return {}, ()


def _subsampling(source: Image) -> int:
    """That of the source; without any (4:4:4) where it is not known."""
    from PIL import JpegImagePlugin

    try:
        return max(0, JpegImagePlugin.get_sampling(source))
    except (AttributeError, KeyError, IndexError, TypeError):
        return 0


def _color_options(source: Image, format: str) -> dict[str, Any]:
    """Colour profile and resolution, for the formats that hold them; a turned picture has its resolution turned."""
    kept: dict[str, Any] = {}
    profile, dpi = source.info.get("icc_profile"), resolution(source)
    if profile and format in ("JPEG", "PNG", "TIFF", "WEBP", "AVIF"):
        kept["icc_profile"] = profile
    if dpi and format in ("JPEG", "PNG", "TIFF", "BMP"):
        kept["dpi"] = dpi if pillow.orientation(source) < 5 else dpi[::-1]
    if format == "PNG":
        kept["pnginfo"] = _png_color_chunks(source)
    return kept


def resolution(source: Image) -> tuple[float, ...]:
    """Dots per inch across and down, empty where they are not known or absurd."""
    dpi = source.info.get("dpi")
    if not isinstance(dpi, tuple) or len(dpi) != 2:
        return ()
    values = tuple(float(each) for each in dpi)
    return values if all(0 < each < 65_000 for each in values) else ()


def _png_color_chunks(source: Image) -> Any:
    """The chunks that say how the colours of a PNG are meant (PNG 1.2, 4.2.2), where no profile does."""
    from PIL.PngImagePlugin import PngInfo

    chunks = PngInfo()
    if "icc_profile" not in source.info and source.format == "PNG":
        if "srgb" in source.info:
            chunks.add(b"sRGB", bytes([source.info["srgb"]]))
        if "gamma" in source.info:
            chunks.add(b"gAMA", round(source.info["gamma"] * 100_000).to_bytes(4, "big"))
    return chunks


def _encode_png(source: Image, crop: Image, out: CropFile, *, wanted: bool) -> EncodedCrop:
    notes = [] if wanted else [_AS_PNG.format(format=source.format, mode=crop.mode)]
    colour = _color_options(source, "PNG")
    if crop.mode not in _PNG_MODES:
        to = "RGBA" if crop.mode.lower().endswith("a") else "L" if crop.mode == "F" else "RGB"
        notes.append(_CONVERTED.format(mode=crop.mode, to=to))
        crop = crop.convert(to)
        colour.pop("icc_profile", None)
    crop.save(cast("Any", out), format="PNG", compress_level=_PNG_COMPRESSION, **colour)
    return EncodedCrop(suffix=".png", media_type="image/png", notes=tuple(notes))
