"""Creates thumbnails of video frames, and measures how much two of them differ."""

from __future__ import annotations

from operator import mul
from typing import TYPE_CHECKING, Any

from attrs import define, field

if TYPE_CHECKING:
    from PIL.Image import Image

WIDTH, HEIGHT = 64, 36
"""Pixels of the brightness plane of a thumbnail. Each of the two color planes has half as many in each direction."""

_PLANAR = {"yuv420p", "yuvj420p", "yuv422p", "yuvj422p", "yuv444p", "yuvj444p"}
_ROWS = 72
_GRAYS = range(256)


@define
class ThumbnailMaker:
    """Creates thumbnails of video frames: gray images with the brightness plane above the two color planes."""

    _scaler: Any = field(default=None)

    def thumbnail(self, frame: Any) -> Image:
        """Return the thumbnail of a decoded frame. It is `WIDTH` pixels wide and `HEIGHT` * 3 / 2 pixels high."""
        from PIL import Image

        if frame.format.name not in _PLANAR:
            frame = self._to_planar(frame)
        thumbnail = Image.new("L", (WIDTH, HEIGHT * 3 // 2))
        boxes = (
            (0, 0, WIDTH, HEIGHT),
            (0, HEIGHT, WIDTH // 2, HEIGHT // 2),
            (WIDTH // 2, HEIGHT, WIDTH // 2, HEIGHT // 2),
        )
        for plane, (left, top, width, height) in zip(frame.planes, boxes, strict=False):
            step = max(1, plane.height * 36 // (height * _ROWS))
            rows = (plane.width, plane.height // step)
            sparse = Image.frombuffer("L", rows, plane, "raw", "L", plane.line_size * step, 1)
            thumbnail.paste(sparse.resize((width, height), Image.Resampling.BOX), (left, top))
        return thumbnail

    def _to_planar(self, frame: Any) -> Any:
        if self._scaler is None:
            from av.video.reformatter import VideoReformatter

            self._scaler = VideoReformatter()
        return self._scaler.reformat(frame, 4 * WIDTH, 4 * HEIGHT, "yuv420p", interpolation="FAST_BILINEAR")


def difference(one: Image, other: Image) -> float:
    """Return the mean difference between the pixels of two thumbnails in gray levels, from 0 to 255."""
    from PIL import ImageChops

    counts = ImageChops.difference(one, other).histogram()
    total: int = sum(map(mul, counts, _GRAYS))
    return total / (one.width * one.height)


def blend_error(before: Image, middle: Image, after: Image) -> float:
    """Return the mean difference, in gray levels, between `middle` and an even blend of `before` and `after`."""
    from PIL import Image

    return difference(Image.blend(before, after, 0.5), middle)


def brightness_correlation(one: Image, other: Image) -> float:
    """Return the correlation of the brightness of two thumbnails, from -1 to 1.

    It is 1 if only the lighting changes, and 0 if a thumbnail has uniform brightness.
    """
    left, right = (thumbnail.crop((0, 0, WIDTH, HEIGHT)).tobytes() for thumbnail in (one, other))
    size, a, b = len(left), sum(left), sum(right)
    across = size * sum(map(mul, left, right)) - a * b
    within = (size * sum(map(mul, left, left)) - a * a) * (size * sum(map(mul, right, right)) - b * b)
    return across / within**0.5 if within > 0 else 0.0


def brightness_statistics(thumbnail: Image) -> tuple[float, float]:
    """Return the mean and the standard deviation of the brightness of a thumbnail."""
    counts = thumbnail.crop((0, 0, WIDTH, HEIGHT)).histogram()
    size = WIDTH * HEIGHT
    mean = sum(map(mul, counts, _GRAYS)) / size
    square = sum(count * gray * gray for gray, count in enumerate(counts) if count) / size
    return mean, max(square - mean * mean, 0.0) ** 0.5


def color_histogram(thumbnail: Image) -> list[int]:
    """Return 16 counts for each plane of a thumbnail (brightness and two color planes): its pixels by value."""
    counts: list[int] = []
    for box in (
        (0, 0, WIDTH, HEIGHT),
        (0, HEIGHT, WIDTH // 2, HEIGHT * 3 // 2),
        (WIDTH // 2, HEIGHT, WIDTH, HEIGHT * 3 // 2),
    ):
        fine = thumbnail.crop(box).histogram()
        counts += [sum(fine[low : low + 16]) for low in range(0, 256, 16)]
    return counts


def color_difference(one: list[int], other: list[int]) -> float:
    """Return how much two color histograms differ, from 0 (equal) to 1 (no color in common)."""
    return sum(abs(a - b) for a, b in zip(one, other, strict=True)) / max(sum(one) + sum(other), 1)
