from __future__ import annotations

import importlib
import inspect
import logging
import pkgutil
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from PIL import Image, ImageDraw

from citekit.adapters.formats.shared.ocr import OcrLine, RapidOcrReader
from citekit.adapters.libraries import rapidocr
from citekit.adapters.libraries.rapidocr import RapidOcr
from citekit.domain.errors import MapperUnavailable

pytestmark = pytest.mark.skipif(not rapidocr.installed(), reason="needs the extra 'ocr'")

OTHER_ENGINES = ("openvino", "paddle", "pytorch", "tensorrt", "mnn", "coreml")
"""Engines that the reader never chooses; their modules need packages that are not there."""


@pytest.fixture(scope="module")
def reader() -> RapidOcrReader:
    return RapidOcrReader()


def notice() -> Image.Image:
    picture = Image.new("RGB", (420, 120), "white")
    draw = ImageDraw.Draw(picture)
    draw.text((20, 15), "Harbour notice", fill="black", font_size=32)
    draw.text((20, 75), "All boats return by seven", fill="black", font_size=20)
    return picture


@pytest.fixture(scope="module")
def read(reader: RapidOcrReader) -> list[OcrLine]:
    """The lines of the notice, read without a network."""
    with pytest.MonkeyPatch.context() as patch:

        def refuse(*_: Any, **__: Any) -> None:
            raise AssertionError("the network was used")

        patch.setattr(socket, "socket", refuse)
        patch.setattr(socket, "getaddrinfo", refuse)
        return list(reader.lines(notice()))


def test_lines_are_recognized_at_their_positions(read: list[OcrLine]) -> None:
    assert ["Harbour notice", "All boats return by seven"] == [line.text for line in read]
    assert all(line.score > 0.9 for line in read)
    assert read[0].box.y2 <= read[1].box.y1 + 0.02
    assert 0.02 < read[0].box.x1 < 0.08
    assert 0.45 < read[0].box.x2 < 0.7


def test_the_same_picture_gives_the_same_lines_from_any_thread(reader: RapidOcrReader) -> None:
    half = notice().crop((0, 0, 420, 60))

    with ThreadPoolExecutor(2) as threads:
        one, other = threads.map(reader.lines, [half, half])

    assert list(one) == list(other)
    assert ["Harbour notice"] == [line.text for line in one]


def test_reading_is_silent(reader: RapidOcrReader, read: list[OcrLine], capfd: pytest.CaptureFixture[str]) -> None:
    reader.lines(Image.new("RGB", (70, 70), "white"))
    logging.getLogger("RapidOCR").error("something")

    assert ("", "") == tuple(capfd.readouterr())


@pytest.mark.parametrize("size", [(1, 1), (1, 300), (300, 1)])
def test_pictures_without_text_have_no_lines_at_any_size(reader: RapidOcrReader, size: tuple[int, int]) -> None:
    assert [] == reader.lines(Image.new("L", size, 255))


def test_the_size_for_recognition_is_limited() -> None:
    for size in ((20_000, 3), (3, 20_000), (2500, 2000), (10, 10)):
        canvas, inner = rapidocr._prepare(Image.new("L", size))

        assert max(canvas.size) <= rapidocr.SIDE_LIMIT
        assert inner[0] <= canvas.width
        assert inner[1] <= canvas.height


def test_every_exception_of_the_driver_is_mapped() -> None:
    package = importlib.import_module("rapidocr")
    found: set[type[BaseException]] = set()
    for module in pkgutil.walk_packages(package.__path__, "rapidocr."):
        if any(engine in module.name for engine in OTHER_ENGINES):
            continue
        members = vars(importlib.import_module(module.name)).values()
        found |= {each for each in members if inspect.isclass(each) and issubclass(each, BaseException)}
    own = {each for each in found if each.__module__.startswith("rapidocr")}

    assert {"RapidOCRError", "ONNXRuntimeError"} <= {each.__name__ for each in own}
    assert own <= set(rapidocr.error_table())


@pytest.mark.parametrize("kind", [RuntimeError, MemoryError, OSError, ValueError])
def test_a_failure_of_the_engine_is_one_clear_error(kind: type[Exception]) -> None:
    engine = RapidOcr()

    def fail(pixels: object) -> None:
        raise kind("first line\nlast line")

    engine._engine.make = lambda: fail

    with pytest.raises(MapperUnavailable, match=r"^Text recognition \(RapidOCR\) .*last line\.$") as caught:
        engine.read(notice())
    assert isinstance(caught.value.__cause__, kind)


def test_installed_imports_nothing() -> None:
    program = (
        "import sys; from citekit.adapters.formats.shared.ocr import RapidOcrReader\n"
        "print(RapidOcrReader.installed(), [m for m in ('rapidocr', 'onnxruntime', 'cv2', 'numpy', 'PIL') if m in sys.modules])"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert "True []\n" == done.stdout
