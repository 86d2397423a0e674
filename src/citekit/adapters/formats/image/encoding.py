"""Writes a crop in the format and with the colors of the source, or else as PNG."""

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
"""The quality of lossy formats, 0 to 100. At 95, a second encoding is hardly visible."""

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
"""The zlib level, 0 to 9. Level 4 is three times as fast as level 6, and makes files one percent larger."""

_COPIED_INFO = ("transparency",)
_LOSSY = "The crop was encoded again as {format} at quality {quality}, which loses some detail."
_AS_PNG = "CiteKit cannot write this crop as {format} (color mode {mode}), so it is a PNG."
_CONVERTED = "The colors were converted from {mode} to {to}, which PNG supports."


@define
class CropFile:
    """The file that a crop is written to. An operating system error while writing raises `HomeUnwritable`."""

    path: Path
    stream: BinaryIO

    def write(self, data: bytes | memoryview) -> int:
        """Write all of `data`, and return its size. Raise `HomeUnwritable` if the file cannot be written."""
        try:
            return self.stream.write(data)
        except OSError as error:
            raise unwritable(error, self.path) from error

    def seek(self, offset: int, whence: int = 0) -> int:
        """See `io.IOBase.seek`."""
        with writing(self.path):
            return self.stream.seek(offset, whence)

    def tell(self) -> int:
        """See `io.IOBase.tell`."""
        return self.stream.tell()

    def flush(self) -> None:
        """See `io.IOBase.flush`."""
        with writing(self.path):
            self.stream.flush()

    def discard(self) -> None:
        """Remove everything that has been written to the file."""
        self.seek(0)
        with writing(self.path):
            self.stream.truncate()


@frozen(kw_only=True)
class EncodedCrop:
    """The file type in which a crop was written, and notes about differences from the source."""

    suffix: str
    media_type: str
    notes: tuple[str, ...] = ()


def encode(path: Path, source: Image, crop: Image, file: CropFile, *, as_png: bool) -> EncodedCrop:
    """Write `crop`, a region of the image `source` at `path`, to `file`, in the format of the source.

    Write a PNG if `as_png` is set or that format cannot be written. The file has the transparency, color profile, and
    resolution of the source, as far as its format can store them, and no other metadata. Raise `HomeUnwritable` if it
    cannot be written.
    """
    info = dict(source.info)
    crop.info = {name: info[name] for name in _COPIED_INFO if name in info}
    name = source.format or "PNG"
    if not as_png and name in _FORMATS:
        native = _encode_native(path, source, crop, file, *_FORMATS[name])
        if native is not None:
            return native
    return _encode_png(source, crop, file, requested=as_png)


def _encode_native(
    path: Path, source: Image, crop: Image, file: CropFile, format: str, suffix: str, media_type: str
) -> EncodedCrop | None:
    options, notes = _encoder_options(path, source, format)
    try:
        crop.save(cast("Any", file), format=format, **_color_options(source, format), **options)
    except (OSError, ValueError, KeyError, TypeError):
        file.discard()
        return None  # this format cannot store this mode; PNG can
    return EncodedCrop(suffix=suffix, media_type=media_type, notes=notes)


def _encoder_options(path: Path, source: Image, format: str) -> tuple[dict[str, object], tuple[str, ...]]:
    lossy = (_LOSSY.format(format=format, quality=QUALITY),)
    match format:
        case "PNG":
            return {"compress_level": _PNG_COMPRESSION}, ()
        case "JPEG":
            return {"quality": QUALITY, "subsampling": _subsampling(source)}, lossy
        case "AVIF":
            return {"quality": QUALITY, "max_threads": 1}, lossy
        case "WEBP" if webp_is_lossless(path):
            return {"lossless": True, "exact": True}, ()
        case "WEBP":
            return {"quality": QUALITY}, lossy
        case "TIFF":
            compression = source.info.get("compression")
            return {"compression": compression if compression in _LOSSLESS_TIFF else "tiff_adobe_deflate"}, ()
        case "GIF":
            return {"optimize": False, "save_all": False}, ()
    return {}, ()


def _subsampling(source: Image) -> int:
    """Return Pillow's code for the chroma subsampling of the source JPEG; 0 (4:4:4) if it is unknown."""
    from PIL import JpegImagePlugin

    try:
        return max(0, JpegImagePlugin.get_sampling(source))
    except (AttributeError, KeyError, IndexError, TypeError):
        return 0


def _color_options(source: Image, format: str) -> dict[str, object]:
    """Return Pillow's save options for the colors and the resolution of the source, as far as `format` can store them."""
    options: dict[str, object] = {}
    profile, dpi = source.info.get("icc_profile"), resolution(source)
    if profile and format in ("JPEG", "PNG", "TIFF", "WEBP", "AVIF"):
        options["icc_profile"] = profile
    if dpi and format in ("JPEG", "PNG", "TIFF", "BMP"):
        options["dpi"] = dpi if pillow.orientation(source) < 5 else dpi[::-1]
    if format == "PNG":
        options["pnginfo"] = _png_color_chunks(source)
    return options


def resolution(source: Image) -> tuple[float, ...]:
    """Return the horizontal and vertical resolution in dots per inch; empty if it is unknown or implausible."""
    dpi = source.info.get("dpi")
    if not isinstance(dpi, tuple) or len(dpi) != 2:
        return ()
    values = tuple(float(each) for each in dpi)
    return values if all(0 < each < 65_000 for each in values) else ()


def _png_color_chunks(source: Image) -> Any:
    """Return the sRGB and gAMA chunks (PNG 1.2, 4.2.2) of a PNG source without a color profile; otherwise no chunks."""
    from PIL.PngImagePlugin import PngInfo

    chunks = PngInfo()
    if "icc_profile" not in source.info and source.format == "PNG":
        if "srgb" in source.info:
            chunks.add(b"sRGB", bytes([source.info["srgb"]]))
        if "gamma" in source.info:
            chunks.add(b"gAMA", round(source.info["gamma"] * 100_000).to_bytes(4, "big"))
    return chunks


def _encode_png(source: Image, crop: Image, file: CropFile, *, requested: bool) -> EncodedCrop:
    notes = [] if requested else [_AS_PNG.format(format=source.format, mode=crop.mode)]
    options = _color_options(source, "PNG")
    if crop.mode not in _PNG_MODES:
        mode = "RGBA" if crop.mode.lower().endswith("a") else "L" if crop.mode == "F" else "RGB"
        notes.append(_CONVERTED.format(mode=crop.mode, to=mode))
        crop = crop.convert(mode)
        options.pop("icc_profile", None)
    crop.save(cast("Any", file), format="PNG", compress_level=_PNG_COMPRESSION, **options)
    return EncodedCrop(suffix=".png", media_type="image/png", notes=tuple(notes))
