from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import PIL
import pytest
from PIL import Image

from citekit.adapters.libraries import pillow
from citekit.domain.errors import CiteKitError, DriverMissing, ExtractionFailed, SourceUnreadable, SourceUnsupported
from tests.contracts.small_files import make

NOT_OURS = {"PIL.ImageGrab", "PIL.ImageQt", "PIL.ImageTk", "PIL._tkinter_finder", "PIL.__main__"}
"""Modules for windows and screens, which need programs that are not there."""


def exceptions() -> set[type[BaseException]]:
    """Return every exception class that Pillow defines."""
    found: set[type[BaseException]] = set()
    for module in pkgutil.iter_modules(PIL.__path__, "PIL."):
        if module.name in NOT_OURS:
            continue
        try:
            members = vars(importlib.import_module(module.name)).values()
        except ImportError:
            continue
        found |= {each for each in members if isinstance(each, type) and issubclass(each, BaseException)}
    return {each for each in found if each.__module__.startswith("PIL")}


def test_every_exception_of_the_driver_is_mapped() -> None:
    found = exceptions()
    known = tuple(pillow.error_table(SourceUnsupported))

    assert {"UnidentifiedImageError", "DecompressionBombError"} <= {each.__name__ for each in found}
    assert [] == [each for each in found if not issubclass(each, known)]


@pytest.mark.parametrize("kind", list(pillow.error_table(SourceUnsupported)), ids=lambda kind: kind.__name__)
def test_a_translated_exception_is_one_sentence_with_its_cause(kind: type[BaseException]) -> None:
    with (
        pytest.raises(CiteKitError, match=r"^The image a\.png .*\.$") as caught,
        pillow.translated_errors(Path("/tmp/a.png"), ExtractionFailed),
    ):
        raise kind("first line\nsecond line")

    assert isinstance(caught.value.__cause__, kind)


def test_settings_of_pillow_are_not_named() -> None:
    with (
        pytest.raises(ExtractionFailed, match=r"has more text metadata than the limit allows\.$"),
        pillow.translated_errors(Path("/tmp/a.png"), ExtractionFailed),
    ):
        raise ValueError("Decompressed data too large for PngImagePlugin.MAX_TEXT_CHUNK")


def test_only_listed_formats_are_tried(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    Image.new("RGB", (4, 4)).save(path, format="PCX")

    with pytest.raises(SourceUnsupported), pillow.open_image(path):
        pass


def test_a_folder_and_a_missing_file_are_unreadable(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing.png"):
        with pytest.raises(SourceUnreadable), pillow.open_image(path):
            pass


@pytest.mark.long
def test_large_pictures_give_no_warnings_and_pillow_settings_stay_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "large.png"
    Image.new("1", (10_000, 10_000)).save(path)
    program = (
        "import sys; from pathlib import Path; from citekit.adapters.libraries import pillow\n"
        "with pillow.open_image(Path(sys.argv[1])) as picture: print(picture.size)\n"
        "from PIL import Image; print(Image.MAX_IMAGE_PIXELS)"
    )

    done = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True)

    assert ("(10000, 10000)\n89478485\n", "") == (done.stdout, done.stderr)


def test_the_driver_is_not_imported_before_it_is_used() -> None:
    program = "import sys; import citekit.adapters.libraries.pillow; print('PIL' in sys.modules)"

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert "False\n" == done.stdout


@pytest.mark.parametrize("orientation", range(1, 9))
def test_the_upright_size_is_the_visible_size(orientation: int, tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[pillow.ORIENTATION] = orientation
    expected = (20, 10) if orientation < 5 else (10, 20)

    for name in ("a.jpg", "a.png", "a.tif", "a.webp"):
        Image.new("RGB", (20, 10)).save(tmp_path / name, exif=exif)
        with pillow.open_image(tmp_path / name) as picture:
            assert expected == pillow.upright_size(picture), name


def test_an_invalid_orientation_is_ignored(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[pillow.ORIENTATION] = 77
    Image.new("RGB", (20, 10)).save(tmp_path / "a.jpg", exif=exif)

    with pillow.open_image(tmp_path / "a.jpg") as picture:
        assert 1 == pillow.orientation(picture)


def test_a_heic_picture_needs_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make("heic", tmp_path)
    with pillow.open_image(path) as picture:
        assert ("HEIF", (96, 64)) == (picture.format, picture.size)
    monkeypatch.setitem(sys.modules, "pillow_heif", None)

    missing = pytest.raises(
        DriverMissing,
        match=r"Reading small.heic, a HEIC picture, needs the extra 'heic'. To install it, run: pip install",
    )
    with missing, pillow.open_image(path):
        pass
