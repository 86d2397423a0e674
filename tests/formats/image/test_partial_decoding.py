"""Parts have the pixels of a complete decoding, and a copied JPEG keeps all of its pixels."""

from __future__ import annotations

import io
import random
import subprocess
from pathlib import Path
from typing import IO, Any

import imageio_ffmpeg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageCms

from citekit.adapters.formats.image import extractor
from citekit.adapters.formats.image.extractor import PillowExtractor
from citekit.adapters.formats.image.jpeg_segments import copy_without_metadata
from citekit.adapters.formats.image.partial_decoding import decode_region
from citekit.adapters.libraries import pillow
from citekit.domain.digest import Digest
from citekit.domain.errors import CiteKitError, ExtractionFailed, HomeUnwritable
from citekit.domain.evidence import Extraction, Options
from citekit.domain.formats import BY_SUFFIX
from citekit.domain.locations import Box
from citekit.domain.source import Source

SIZE = (150, 170)
JPEGS: list[dict[str, Any]] = [
    *({"subsampling": subsampling, "quality": 90} for subsampling in (0, 1, 2)),
    {"progressive": True},
    {"progressive": True, "subsampling": 2, "restart_marker_blocks": 3},
    {"restart_marker_rows": 1, "subsampling": 2},
    {"optimize": True, "subsampling": 2},
]


def noise(mode: str = "RGB", size: tuple[int, int] = SIZE) -> Image.Image:
    generator = random.Random(7)
    channels = {"L": 1, "I;16": 2, "I;16B": 2, "RGB": 3, "RGBA": 4, "CMYK": 4}[mode]
    return Image.frombytes(mode, size, generator.randbytes(size[0] * size[1] * channels))


def smooth(mode: str = "RGB") -> Image.Image:
    return noise("RGB", (15, 17)).resize(SIZE).convert(mode)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("rows")


boxes = st.tuples(st.integers(0, 149), st.integers(0, 169), st.integers(1, 150), st.integers(1, 170)).map(
    lambda box: (box[0], box[1], min(SIZE[0], box[0] + box[2]), min(SIZE[1], box[1] + box[3]))
)
FILES: list[tuple[str, str, dict[str, Any]]] = [
    *(("a.jpg", "RGB", options) for options in JPEGS),
    ("a.jpg", "L", {}),
    ("a.jpg", "CMYK", {}),
    ("a.png", "RGB", {}),
    ("a.png", "L", {}),
    *(("a.tif", mode, {}) for mode in ("L", "I;16", "I;16B", "RGB", "RGBA", "CMYK")),
    ("a.tif", "RGB", {"compression": "tiff_lzw"}),
    ("a.tif", "I;16", {"tiffinfo": {278: 13}}),
    ("a.ppm", "RGB", {}),
    ("a.pgm", "L", {}),
    ("a.bmp", "RGB", {}),
    ("a.gif", "L", {}),
    ("a.webp", "RGB", {}),
]


@pytest.mark.parametrize("number", range(len(FILES)))
@given(box=boxes)
def test_a_part_has_the_pixels_of_a_complete_decoding(
    number: int, box: tuple[int, int, int, int], folder: Path
) -> None:
    name, mode, options = FILES[number]
    path = folder / f"{number}{name}"
    if not path.exists():
        (smooth(mode) if name == "a.jpg" else noise(mode)).save(path, **options)
    with Image.open(path) as picture:
        expected = picture.crop(box)

    found = part_of(path, box)

    assert (expected.mode, expected.size) == (found.mode, found.size)
    assert expected.tobytes() == found.tobytes()


def test_rows_below_the_part_are_not_decoded(folder: Path) -> None:
    for name in ("below.jpg", "below.png"):
        path = folder / name
        smooth().save(path)
        with pillow.open_image(path) as picture:
            decode_region(picture, (0, 0, 150, 10))

            assert (150, 170) == picture.size
            assert b"\0" * 150 * 3 * 100 == picture.tobytes()[-150 * 3 * 100 :], name


@pytest.mark.parametrize("name", ["torn.jpg", "torn.png", "torn.tif", "torn.bmp"])
def test_a_truncated_picture_is_refused_for_any_part(name: str, folder: Path) -> None:
    path = folder / name
    noise().save(path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])

    box = (0, 100, 150, 110) if name in ("torn.tif", "torn.bmp") else (0, 0, 150, 10)

    with pytest.raises(CiteKitError):
        part_of(path, box)


def part_of(path: Path, box: tuple[int, int, int, int]) -> Image.Image:
    with pillow.open_image(path, failure=ExtractionFailed) as picture:
        return decode_region(picture, box)


def cut(path: Path, target: Path, box: Box = Box(0, 0, 1, 1)) -> Extraction:  # noqa: B008 - a value
    target.unlink(missing_ok=True)
    source = Source(path, Digest.of_bytes(b"x"), path.stat().st_size, BY_SUFFIX[path.suffix])
    return PillowExtractor().extract(source, box, Options(), target)


def pixels(path: Path) -> bytes:
    """Return the pixels of a picture, decoded by ffmpeg without applying the orientation."""
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-noautorotate", "-i", str(path), "-frames:v", "1"]
    return subprocess.run([*command, "-f", "rawvideo", "-"], capture_output=True, check=True).stdout


def exif_with_description() -> Image.Exif:
    exif = Image.Exif()
    exif[270] = "a secret description"
    return exif


@pytest.mark.parametrize("options", JPEGS)
@pytest.mark.parametrize("mode", ["RGB", "L"])
def test_a_whole_upright_jpeg_is_not_encoded_again(mode: str, options: dict[str, Any], folder: Path) -> None:
    path, target = folder / "whole.jpg", folder / "whole_cut"
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    smooth(mode).save(
        path, exif=exif_with_description(), comment=b"secret", icc_profile=profile, dpi=(300, 150), **options
    )
    path.write_bytes(path.read_bytes() + b"a secret after the end")

    extraction = cut(path, target)

    assert pixels(path) == pixels(target)
    assert () == extraction.notes
    assert b"secret" not in target.read_bytes()
    with Image.open(target) as picture:
        assert profile == picture.info["icc_profile"]
        assert (300, 150) == picture.info["dpi"]
        assert not picture.getexif()


def test_a_resolution_only_in_exif_is_copied(folder: Path) -> None:
    path, target = folder / "exif.jpg", folder / "exif_cut"
    exif = exif_with_description()
    exif[282], exif[283], exif[296] = 240.0, 240.0, 2
    smooth().save(path, exif=exif)
    data = path.read_bytes()
    path.write_bytes(data[:2] + data[20:])  # as cameras write it: without a JFIF segment

    extraction = cut(path, target)

    with Image.open(target) as picture:
        assert (240, 240) == picture.info["dpi"]
    assert pixels(path) == pixels(target)
    assert () == extraction.notes


def test_a_resolution_that_would_change_the_colors_is_not_written(folder: Path) -> None:
    path = folder / "adobe.jpg"
    smooth().save(path, keep_rgb=True)
    data = path.read_bytes()
    adobe = b"\xff\xee\0\x0eAdobe\0\x64\0\0\0\0\0"
    start = 20 if data[2:4] == b"\xff\xe0" else 2
    plain = io.BytesIO(data[:2] + adobe + data[start:])

    assert copy_without_metadata(plain, (300.0, 300.0)) is None
    kept = copy_without_metadata(plain, ())
    assert kept is not None
    with Image.open(io.BytesIO(kept)) as after, Image.open(plain) as before:
        assert before.tobytes() == after.tobytes()


@pytest.mark.parametrize("turn", [3, 6])
def test_a_rotated_jpeg_is_turned_upright_and_encoded_again(turn: int, folder: Path) -> None:
    path, target = folder / "turned.jpg", folder / "turned_cut"
    exif = Image.Exif()
    exif[274] = turn
    smooth().save(path, exif=exif)

    extraction = cut(path, target)

    with Image.open(target) as picture:
        assert (SIZE if turn == 3 else SIZE[::-1]) == picture.size
    assert "quality 95" in extraction.notes[0]


def test_a_jpeg_that_does_not_open_is_not_copied(folder: Path) -> None:
    path = folder / "tables.jpg"
    smooth().save(path)
    data = path.read_bytes()
    tables = data.index(b"\xff\xdb")
    path.write_bytes(
        data[:tables] + b"\xff\xfe" + data[tables + 2 :]
    )  # a comment in the place of its quantization tables
    while b"\xff\xdb" in path.read_bytes():
        path.write_bytes(path.read_bytes().replace(b"\xff\xdb", b"\xff\xfe", 1))

    with pytest.raises(ExtractionFailed):
        cut(path, folder / "never")

    assert not (folder / "never").exists()


@given(st.binary(max_size=200), st.binary(max_size=60))
def test_malformed_bytes_never_make_the_copy_fail(body: bytes, end: bytes) -> None:
    copy = copy_without_metadata(io.BytesIO(b"\xff\xd8" + body + b"\xff\xda\0\x02" + end + b"\xff\xd9"), ())

    assert copy is None or copy.startswith(b"\xff\xd8")


@pytest.mark.corpus
def test_parts_of_every_picture_of_the_corpus_have_the_pixels_of_a_complete_decoding(corpus: Path) -> None:
    for path in sorted((corpus / "image").iterdir()):
        try:
            with pillow.open_image(path) as picture:
                picture.load()
                width, height = picture.size
                whole = picture.copy()
        except CiteKitError:
            continue
        for box in ((0, 0, width, max(1, height // 3)), (width // 2, height // 2, width, max(1, height * 3 // 4))):
            assert whole.crop(box).tobytes() == part_of(path, box).tobytes(), path.name


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("name", ["full.png", "full.jpg", "full.tif", "full.bmp", "full.webp"])
def test_a_full_disk_is_reported(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, target = folder / name, folder / "full"
    noise(size=(900, 900)).save(path)
    monkeypatch.setattr(extractor, "_BUFFER_SIZE", 1 << 10)
    opening = Path.open

    def full(self: Path, mode: str = "r", buffering: int = -1) -> IO[Any]:
        return opening(Path("/dev/full"), "r+b", buffering) if self == target else opening(self, mode, buffering)

    monkeypatch.setattr(Path, "open", full)

    with pytest.raises(HomeUnwritable, match="disk is full"):
        cut(path, target, Box(0.1, 0.1, 0.9, 0.9))


@pytest.mark.parametrize("marker", [0xEE, 0xDC])
def test_an_overlong_segment_hides_no_metadata(marker: int, folder: Path) -> None:
    path, target = folder / "longer.jpg", folder / "longer_cut"
    noise("CMYK").save(path)
    data = path.read_bytes()
    at, length = data.index(b"\xff\xee"), 14
    adobe = data[at + 4 : at + 2 + length] if marker == 0xEE else b""
    body = adobe + b"a secret that nobody shows"
    rest = data[at + 2 + length :] if marker == 0xEE else data[at:]
    path.write_bytes(data[:at] + bytes((0xFF, marker)) + (len(body) + 2).to_bytes(2, "big") + body + rest)

    cut(path, target)

    assert pixels(path) == pixels(target)
    assert b"secret" not in target.read_bytes()


@pytest.mark.parametrize("options", [{}, {"progressive": True}, {"dpi": (72, 72)}])
def test_a_whole_jpeg_is_copied_with_and_without_a_resolution(options: dict[str, Any], folder: Path) -> None:
    path, target = folder / "bare.jpg", folder / "bare_cut"
    smooth().save(path, **options)

    extraction = cut(path, target)

    assert () == extraction.notes
    assert path.read_bytes() == target.read_bytes()
