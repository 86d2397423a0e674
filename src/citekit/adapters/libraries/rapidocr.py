"""Recognizes text in images with RapidOCR on ONNX Runtime, using the models in the RapidOCR wheel.

Nothing is downloaded, because RapidOCR gets the paths of these models. Threads share one engine under a lock, because
the engine changes its state during recognition.
"""

from __future__ import annotations

import importlib.util
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import define, field, frozen

from citekit.adapters.libraries import pillow
from citekit.adapters.libraries.model_files import imported, package_folder
from citekit.adapters.libraries.onnxruntime import cores
from citekit.adapters.libraries.onnxruntime import table as runtime_table
from citekit.adapters.system.lazy import Once
from citekit.domain.errors import CiteKitError, MapperUnavailable

if TYPE_CHECKING:
    from PIL.Image import Image

FEATURE, EXTRA = "Recognizing text in images", "ocr"
SIDE_LIMIT = 1920
"""Maximum length of the longer side in pixels; larger images are scaled down. An A4 page at 150 dpi fits."""

_ENLARGE_BELOW = 960
"""Length of the shorter side, in pixels, below which an image is enlarged, for small print."""

_MIN_SIDE = 64
_THREADS = 4
_MODELS = {"Det": "*_det_*.onnx", "Cls": "*_cls_*.onnx", "Rec": "*_rec_*.onnx"}


@frozen
class RecognizedLine:
    """A line of text that the engine recognized, with the confidence `score` from 0 to 1.

    `corners` are (left, top, right, bottom) as fractions of the image size.
    """

    text: str
    corners: tuple[float, float, float, float]
    score: float


def installed() -> bool:
    """Return whether the packages for text recognition are installed, without importing them."""
    return all(importlib.util.find_spec(name) is not None for name in ("rapidocr", "onnxruntime"))


def error_table() -> dict[type[BaseException], str]:
    """Map each exception of RapidOCR and its dependencies to a description of the failure.

    Raise `DriverMissing` if RapidOCR is not installed.
    """
    package: Any = imported("rapidocr.main", FEATURE, EXTRA)
    sizes: Any = imported("rapidocr.utils.process_img", FEATURE, EXTRA)
    detection: Any = imported("rapidocr.ch_ppocr_det.utils", FEATURE, EXTRA)
    session: Any = imported("rapidocr.inference_engine.onnxruntime.main", FEATURE, EXTRA)
    loading: Any = imported("rapidocr.utils.load_image", FEATURE, EXTRA)
    fetching: Any = imported("rapidocr.utils.download_file", FEATURE, EXTRA)
    vision: Any = imported("cv2", FEATURE, EXTRA)
    failed = "failed"
    return {
        package.RapidOCRError: failed,
        sizes.ResizeImgError: failed,
        detection.ResizeImgError: failed,
        session.ONNXRuntimeError: failed,
        loading.LoadImageError: failed,
        fetching.DownloadFileException: "found no models in the package",
        vision.error: failed,
        **dict.fromkeys(runtime_table(), failed),
        MemoryError: "needs more memory than is available",
        OSError: "could not read its models",
        **dict.fromkeys((ArithmeticError, LookupError, AttributeError, AssertionError), failed),
    }


@define(eq=False)
class RapidOcr:
    """The text recognition engine. It is created on first use and shared by all threads."""

    _engine: Once[Any] = field(init=False)
    _lock: threading.Lock = field(factory=threading.Lock, init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        self._engine = Once(_new_engine)

    def read(self, image: Image) -> list[RecognizedLine]:
        """Return the lines of an upright image in the engine's order.

        Raise `DriverMissing` if RapidOCR is not installed, or `MapperUnavailable` if the engine fails.
        """
        array: Any = imported("numpy", FEATURE, EXTRA)
        with _translated_errors():
            canvas, size = _prepare(image)
            pixels = array.ascontiguousarray(array.asarray(canvas)[:, :, ::-1])
            engine = self._engine()
            with self._lock:
                result = engine(pixels)
            return list(_recognized_lines(result, size))


def _new_engine() -> Any:
    package: Any = imported("rapidocr", FEATURE, EXTRA)
    _silence()
    paths = {f"{part}.model_path": str(_model_path(pattern)) for part, pattern in _MODELS.items()}
    threads = min(_THREADS, cores())
    engine = package.RapidOCR(
        params={
            **paths,
            "Global.log_level": "critical",
            "Global.use_cls": False,  # the classifier rotates some upright lines (1 of 8 words lost)
            "Det.limit_type": "max",  # never scales up: `_prepare` does that within a limit
            "Det.limit_side_len": 2 * SIDE_LIMIT,
            "EngineConfig.onnxruntime.intra_op_num_threads": threads,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        }
    )
    _silence()
    return engine


def _silence() -> None:
    log = logging.getLogger("RapidOCR")
    log.disabled = True
    log.handlers[:] = [logging.NullHandler()]


def _model_path(pattern: str) -> Path:
    """Return the path of the model file in the RapidOCR wheel that matches `pattern`.

    Raise `MapperUnavailable` if there is no such file.
    """
    folder = package_folder("rapidocr", FEATURE, EXTRA) / "models"
    found = sorted(folder.glob(pattern))
    if not found:
        raise MapperUnavailable(
            f"There is no RapidOCR model {pattern} in {folder}; reinstall the package "
            "(pip install --force-reinstall rapidocr)."
        )
    return found[0]


@contextmanager
def _translated_errors() -> Iterator[None]:
    try:
        yield
    except CiteKitError:
        raise
    except Exception as error:
        raise translate_error(error) from error


def translate_error(error: BaseException) -> MapperUnavailable:
    """Return the CiteKit error for an exception of the engine."""
    reason = next((text for kind, text in error_table().items() if isinstance(error, kind)), "failed")
    detail = (str(error).strip().splitlines() or [""])[-1].strip(" .")[:160] or type(error).__name__
    return MapperUnavailable(f"Text recognition (RapidOCR) {reason}: {detail}.")


def _prepare(image: Image) -> tuple[Image, tuple[int, int]]:
    """Return the image in RGB, scaled and padded for recognition, and its (width, height) without the padding."""
    width, height = image.size
    scale = min(SIDE_LIMIT / max(width, height), max(1.0, min(2.0, _ENLARGE_BELOW / min(width, height))))
    size = max(1, round(width * scale)), max(1, round(height * scale))
    library = pillow.library()
    picture: Image = image.convert("RGB")
    if size != picture.size:
        picture = picture.resize(size, library.Resampling.BICUBIC if scale > 1 else library.Resampling.LANCZOS)
    if min(size) >= _MIN_SIDE:
        return picture, size
    canvas: Image = library.new("RGB", (max(size[0], _MIN_SIDE), max(size[1], _MIN_SIDE)), "white")
    canvas.paste(picture, (0, 0))
    return canvas, size


def _recognized_lines(result: Any, size: tuple[int, int]) -> Iterator[RecognizedLine]:
    if result.boxes is None or result.txts is None:
        return
    for corners, text, score in zip(result.boxes, result.txts, result.scores, strict=True):
        xs, ys = [float(x) / size[0] for x, _ in corners], [float(y) / size[1] for _, y in corners]
        left, right = _fraction(min(xs)), _fraction(max(xs))
        top, bottom = _fraction(min(ys)), _fraction(max(ys))
        if left < right and top < bottom and text.strip():
            yield RecognizedLine(" ".join(text.split()), (left, top, right, bottom), round(float(score), 3))


def _fraction(value: float) -> float:
    """Clamp `value` to 0 to 1 and round it to four decimals; further decimals differ between processors."""
    return round(min(1.0, max(0.0, value)), 4)
