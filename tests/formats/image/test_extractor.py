from __future__ import annotations

import random
import struct
import subprocess
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import imageio_ffmpeg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from citekit.adapters.formats.image.extractor import PillowExtractor
from citekit.domain.detection import detect
from citekit.domain.digest import Digest
from citekit.domain.errors import CiteKitError, ExtractionFailed, FormUnsupported, SourceUnreadable, SourceUnsupported
from citekit.domain.evidence import Extraction, Form, Options
from citekit.domain.formats import BY_SUFFIX
from citekit.domain.locations import Box, Lines
from citekit.domain.source import Source

Picture = Image.Image
Rows = list[list[bytes]]
Cut = Callable[..., tuple[Path, Extraction]]

ORIENTATION = 274
GPS = 34853
PROFILE = b"\0" * 128 + b"a colour profile"

STORED_AT: dict[int, Callable[[int, int, int, int], tuple[int, int]]] = {
    1: lambda x, y, w, h: (x, y),
    2: lambda x, y, w, h: (w - 1 - x, y),
    3: lambda x, y, w, h: (w - 1 - x, h - 1 - y),
    4: lambda x, y, w, h: (x, h - 1 - y),
    5: lambda x, y, w, h: (y, x),
    6: lambda x, y, w, h: (y, w - 1 - x),
    7: lambda x, y, w, h: (h - 1 - y, w - 1 - x),
    8: lambda x, y, w, h: (h - 1 - y, x),
}
"""EXIF 2.3, 4.6.4 A: where the pixel that is seen at (x, y) of a picture w x h is stored."""


def noise_picture(mode: str = "RGB", size: tuple[int, int] = (23, 17), seed: int = 1) -> Picture:
    """Return a picture of noise in which all pixels differ."""
    generator = random.Random(seed)
    channels = {"1": 1, "L": 1, "P": 1, "LA": 2, "I;16": 2, "RGB": 3, "RGBA": 4, "CMYK": 4}[mode]
    if mode == "1":
        return Image.frombytes("L", size, generator.randbytes(size[0] * size[1])).convert("1")
    picture = Image.frombytes(mode, size, generator.randbytes(size[0] * size[1] * channels))
    if mode == "P":
        picture.putpalette(generator.randbytes(768))
    return picture


def pixels_by_ffmpeg(path: Path, size: tuple[int, int], pixels: str = "rgba") -> Rows:
    """Return the stored pixels of a picture file, row by row, decoded by ffmpeg."""
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-noautorotate", "-i", str(path)]
    command += ["-frames:v", "1", "-f", "rawvideo", "-pix_fmt", pixels, "-"]
    raw = subprocess.run(command, capture_output=True, check=True).stdout
    width, height = size
    depth = len(raw) // (width * height)
    assert depth * width * height == len(raw) > 0
    cells = [raw[at : at + depth] for at in range(0, len(raw), depth)]
    return [cells[row * width : (row + 1) * width] for row in range(height)]


def upright(stored: Rows, orientation: int) -> Rows:
    width, height = len(stored[0]), len(stored)
    if orientation >= 5:
        width, height = height, width
    place = STORED_AT[orientation]
    return [
        [stored[place(x, y, width, height)[1]][place(x, y, width, height)[0]] for x in range(width)]
        for y in range(height)
    ]


def part(rows: Rows, left: int, top: int, right: int, bottom: int) -> Rows:
    return [row[left:right] for row in rows[top:bottom]]


def source_at(path: Path) -> Source:
    data = path.read_bytes()
    format = detect(path.name, data[:8192]) or BY_SUFFIX[".png"]
    return Source(path, Digest.of_bytes(data), len(data), format)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pictures")


@pytest.fixture(scope="module")
def cut(folder: Path) -> Cut:
    def run(path: Path, box: Box, form: Form = Form.NATIVE) -> tuple[Path, Extraction]:
        bare = folder / "bare"
        bare.unlink(missing_ok=True)
        extraction = PillowExtractor().extract(source_at(path), box, Options(form), bare)
        target = folder / f"cut{extraction.suffix}"
        bare.replace(target)
        return target, extraction

    return run


def saved(folder: Path, name: str, picture: Picture, **options: Any) -> Path:
    path = folder / name
    picture.save(path, **options)
    return path


def rotated(orientation: int) -> Image.Exif:
    exif = Image.Exif()
    exif[ORIENTATION] = orientation
    return exif


@pytest.mark.parametrize(
    ("name", "mode", "options", "pixels"),
    [
        ("a.png", "RGB", {}, "rgb24"),
        ("a.png", "RGBA", {}, "rgba"),
        ("a.png", "L", {}, "gray"),
        ("a.png", "LA", {}, "rgba"),
        ("a.png", "1", {}, "gray"),
        ("a.png", "P", {}, "rgba"),
        ("a.png", "I;16", {}, "gray16le"),
        ("a.gif", "P", {}, "rgba"),
        ("a.bmp", "RGB", {}, "rgb24"),
        ("a.tif", "RGB", {}, "rgb24"),
        ("a.tif", "RGB", {"compression": "tiff_lzw"}, "rgb24"),
        ("a.tif", "L", {"compression": "packbits"}, "gray"),
        ("a.tif", "I;16", {}, "gray16le"),
        ("a.webp", "RGB", {"lossless": True}, "rgba"),
        ("a.ppm", "RGB", {}, "rgb24"),
    ],
)
def test_a_lossless_crop_has_the_pixels_and_the_mode_of_its_source(
    name: str, mode: str, options: dict[str, Any], pixels: str, folder: Path, cut: Cut
) -> None:
    source = saved(folder, name, noise_picture(mode), **options)
    expected = part(pixels_by_ffmpeg(source, (23, 17), pixels), 3, 2, 14, 11)

    target, extraction = cut(source, Box(3 / 23, 2 / 17, 14 / 23, 11 / 17))

    with Image.open(source) as before, Image.open(target) as after:
        assert (before.format, before.mode) == (after.format, after.mode)
    assert expected == pixels_by_ffmpeg(target, (11, 9), pixels)
    assert Path(name).suffix == extraction.suffix


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("name", ["a.png", "a.webp", "a.tif"])
def test_a_crop_is_upright_in_all_eight_orientations(orientation: int, name: str, folder: Path, cut: Cut) -> None:
    options: dict[str, Any] = {"lossless": True} if name.endswith("webp") else {}
    source = saved(folder, name, noise_picture(), exif=rotated(orientation), **options)
    rows = upright(pixels_by_ffmpeg(source, (23, 17), "rgba"), orientation)
    width, height = len(rows[0]), len(rows)

    target, extraction = cut(source, Box(2 / width, 3 / height, 9 / width, 14 / height))

    assert part(rows, 2, 3, 9, 14) == pixels_by_ffmpeg(target, (7, 11), "rgba")
    assert Box(2 / width, 3 / height, 9 / width, 14 / height) == extraction.extent
    with Image.open(target) as picture:
        assert picture.getexif().get(ORIENTATION, 1) == 1


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_rotated_photo_is_cropped_at_the_visible_position(orientation: int, folder: Path, cut: Cut) -> None:
    picture = Image.new("RGB", (64, 32), "white")
    picture.paste("black", (0, 0, 16, 16))
    source = saved(folder, "a.jpg", picture, exif=rotated(orientation), quality=95)
    rows = upright([[bytes([value]) for value in line] for line in _gray_picture(picture)], orientation)

    target, extraction = cut(source, Box(0, 0, 0.5, 0.5))

    with Image.open(target) as crop:
        width, height = crop.size
        seen = sum(value < 128 for value in crop.convert("L").tobytes())
    assert (len(rows[0]) // 2, len(rows) // 2) == (width, height)
    dark = sum(cell < b"\x80" for row in part(rows, 0, 0, width, height) for cell in row)
    assert abs(dark - seen) <= 16
    assert "quality 95" in extraction.notes[0]


def _gray_picture(picture: Picture) -> list[bytes]:
    raw, width = picture.convert("L").tobytes(), picture.width
    return [raw[at : at + width] for at in range(0, len(raw), width)]


@given(st.floats(0, 0.9), st.floats(0, 0.9), st.floats(0.001, 1), st.floats(0.001, 1))
def test_the_extent_contains_the_box_and_exceeds_it_by_less_than_a_pixel(
    folder: Path, cut: Cut, x: float, y: float, width: float, height: float
) -> None:
    source = folder / "law.png"
    if not source.exists():
        noise_picture().save(source)
    box = Box(x, y, min(1, x + width), min(1, y + height))

    target, extraction = cut(source, box)

    extent = extraction.extent
    assert isinstance(extent, Box)
    with Image.open(target) as crop:
        assert (round((extent.x2 - extent.x1) * 23), round((extent.y2 - extent.y1) * 17)) == crop.size
    steps = [1 / 23, 1 / 17, 1 / 23, 1 / 17]
    assert all(abs(a - b) < step + 1e-6 for a, b, step in zip(box.corners, extent.corners, steps, strict=True))
    assert extent.x1 <= box.x1 + 1e-6
    assert extent.x2 >= box.x2 - 1e-6


@pytest.mark.parametrize("name", ["a.jpg", "a.png", "a.tif", "a.webp"])
def test_color_profile_and_resolution_are_copied_and_the_gps_position_is_not(name: str, folder: Path, cut: Cut) -> None:
    exif = Image.Exif()
    exif.get_ifd(GPS).update({1: "N", 2: (52.0, 31.0, 12.0)})
    exif[270] = "a secret description"
    source = saved(folder, name, noise_picture(), exif=exif, icc_profile=PROFILE, dpi=(300, 150))

    target, _ = cut(source, Box(0, 0, 0.5, 0.5))

    with Image.open(target) as picture:
        assert PROFILE == picture.info["icc_profile"]
        assert GPS not in picture.getexif()
        if name != "a.webp":
            assert [300, 150] == [round(float(each)) for each in picture.info["dpi"]]
    assert b"secret" not in target.read_bytes()


def test_a_rotated_picture_has_its_resolution_swapped(folder: Path, cut: Cut) -> None:
    source = saved(folder, "a.jpg", noise_picture(), exif=rotated(6), dpi=(300, 150))

    target, _ = cut(source, Box(0, 0, 1, 1))

    with Image.open(target) as picture:
        assert (150, 300) == picture.info["dpi"]


@pytest.mark.parametrize("subsampling", [0, 1, 2])
def test_a_jpeg_keeps_its_subsampling(subsampling: int, folder: Path, cut: Cut) -> None:
    from PIL import JpegImagePlugin

    source = saved(folder, "a.jpg", noise_picture(size=(64, 64)), subsampling=subsampling)

    target, _ = cut(source, Box(0, 0, 0.5, 0.5))

    with Image.open(target) as picture:
        assert subsampling == JpegImagePlugin.get_sampling(picture)


def test_a_cmyk_jpeg_stays_cmyk_and_is_rgb_as_png(folder: Path, cut: Cut) -> None:
    source = saved(folder, "a.jpg", Image.new("CMYK", (32, 32), (200, 10, 20, 30)))

    native, _ = cut(source, Box(0, 0, 0.5, 0.5))
    with Image.open(native) as picture:
        kept = picture.mode, picture.getpixel((3, 3))
    png, extraction = cut(source, Box(0, 0, 0.5, 0.5), Form.PNG)

    assert kept[0] == "CMYK"
    assert all(abs(a - b) <= 3 for a, b in zip(kept[1], (200, 10, 20, 30), strict=True))  # type: ignore[arg-type]
    with Image.open(png) as picture:
        assert ("PNG", "RGB") == (picture.format, picture.mode)
    assert "CMYK" in extraction.notes[0]


def test_the_png_form_has_the_pixels_of_the_source(folder: Path, cut: Cut) -> None:
    source = saved(folder, "a.tif", noise_picture())
    expected = part(pixels_by_ffmpeg(source, (23, 17), "rgb24"), 0, 0, 12, 9)

    target, extraction = cut(source, Box(0, 0, 0.5, 0.5), Form.PNG)

    assert expected == pixels_by_ffmpeg(target, (12, 9), "rgb24")
    assert (".png", "image/png") == (extraction.suffix, extraction.media_type)


def test_a_crop_of_an_animation_shows_the_first_frame_with_a_note(folder: Path, cut: Cut) -> None:
    frames = [noise_picture("P", seed=seed) for seed in range(3)]
    source = saved(folder, "a.gif", frames[0], save_all=True, append_images=frames[1:])
    expected = part(pixels_by_ffmpeg(source, (23, 17), "rgba"), 0, 0, 23, 9)

    target, extraction = cut(source, Box(0, 0, 1, 0.5))

    assert expected == pixels_by_ffmpeg(target, (23, 9), "rgba")
    assert "3 frames" in extraction.notes[0]


def test_an_icon_becomes_a_png_with_a_note(folder: Path, cut: Cut) -> None:
    source = saved(folder, "a.ico", noise_picture("RGBA", (32, 32)))

    _, extraction = cut(source, Box(0, 0, 0.5, 0.5))

    assert ".png" == extraction.suffix
    assert any("ICO" in note for note in extraction.notes)


def png(width: int, height: int, depth: int, colour: int, pixels: bytes) -> bytes:
    """A PNG file made by hand (PNG 1.2, 5)."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(pixels)) + chunk(b"IEND", b"")


def test_the_loss_of_sixteen_bit_channels_is_noted(folder: Path, cut: Cut) -> None:
    source = folder / "deep.png"
    source.write_bytes(png(4, 4, 16, 2, (b"\0" + bytes(range(24))) * 4))

    _, extraction = cut(source, Box(0, 0, 0.5, 0.5))

    assert any("16 bits" in note for note in extraction.notes)


@pytest.mark.parametrize("name", ["a.png", "a.jpg", "a.tif", "a.webp", "a.gif", "a.bmp", "a.avif"])
def test_the_same_request_gives_the_same_bytes(name: str, folder: Path, cut: Cut) -> None:
    source = saved(folder, name, noise_picture("P" if name == "a.gif" else "RGB", (64, 48)))

    first = cut(source, Box(0.1, 0.2, 0.7, 0.9))[0].read_bytes()
    second = cut(source, Box(0.1, 0.2, 0.7, 0.9))[0].read_bytes()

    assert first == second


def test_a_decompression_bomb_is_refused_before_decoding(folder: Path, cut: Cut) -> None:
    source = folder / "bomb.png"
    source.write_bytes(png(60_000, 60_000, 8, 2, b"\0" * 100))

    with pytest.raises(SourceUnsupported, match="megapixels"):
        cut(source, Box(0, 0, 0.001, 0.001))


def test_a_truncated_picture_fails_and_leaves_no_file(folder: Path, cut: Cut) -> None:
    source = saved(folder, "whole.png", noise_picture(size=(200, 200)))
    source.write_bytes(source.read_bytes()[:20_000])

    with pytest.raises(ExtractionFailed, match="truncated") as caught:
        cut(source, Box(0, 0.5, 1, 1))

    assert caught.value.__cause__ is not None
    assert not (folder / "bare").exists()


def test_a_non_picture_is_unsupported_and_a_missing_file_is_unreadable(folder: Path, cut: Cut) -> None:
    path = folder / "no.png"
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"nonsense" * 10)
    with pytest.raises(SourceUnsupported):
        cut(path, Box(0, 0, 1, 1))
    source = source_at(path)
    path.unlink()

    with pytest.raises(SourceUnreadable):
        PillowExtractor().extract(source, Box(0, 0, 1, 1), Options(), folder / "never")


def test_other_locations_and_forms_of_a_picture_are_refused(folder: Path, cut: Cut) -> None:
    extractor = PillowExtractor()

    assert (Form.NATIVE, Form.PNG) == extractor.forms(BY_SUFFIX[".jpg"], Box(0, 0, 1, 1))
    assert () == extractor.forms(BY_SUFFIX[".jpg"], Lines(1, 1))
    assert () == extractor.forms(BY_SUFFIX[".pdf"], Box(0, 0, 1, 1))
    with pytest.raises(FormUnsupported):
        cut(saved(folder, "a.png", noise_picture()), Box(0, 0, 1, 1), Form.TEXT)


@pytest.mark.corpus
def test_every_picture_of_the_corpus_is_cropped_or_refused_with_one_clear_error(corpus: Path, cut: Cut) -> None:
    refused = {}
    for path in sorted((corpus / "image").iterdir()):
        try:
            target, extraction = cut(path, Box(0.25, 0.25, 0.75, 0.75))
        except CiteKitError as error:
            refused[path.name] = str(error)
            continue
        width, height = Image.open(target).size
        assert pixels_by_ffmpeg(target, (width, height), "rgba"), path.name
        assert isinstance(extraction.extent, Box)

    assert {
        "bomb-3000000x2000000.bmp",
        "bomb-65535x66601.gif",
        "broken.png",
        "decompression_bomb.ico",
        "png_decompression_dos.png",
        "truncated_image.png",
        "truncated_jpeg.jpg",
    } == set(refused)
    assert all(name in error for name, error in refused.items())
