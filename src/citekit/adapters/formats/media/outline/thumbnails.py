"""Small copies of pictures, and by how much two of them differ."""

from __future__ import annotations

from operator import mul
from typing import TYPE_CHECKING, Any

from attrs import define, field

if TYPE_CHECKING:
    from PIL.Image import Image

WIDTH, HEIGHT = 64, 36
"""Pixels of a small copy's brightness; each of its two colour differences has half of them across and down."""

_PLANAR = {"yuv420p", "yuvj420p", "yuv422p", "yuvj422p", "yuv444p", "yuvj444p"}
_ROWS = 72
_GRAYS = range(256)


@define
class ThumbnailMaker:
    """Makes small copies: brightness above, the two colour differences side by side below, all as one grey picture.

    Of a large picture only every so many rows are looked at: what tells scenes apart is coarse.
    """

    _scaler: Any = field(default=None)

    def thumbnail(self, frame: Any) -> Image:
        """The small copy of a decoded picture, `WIDTH` x `HEIGHT` * 3 / 2."""
        from PIL import Image

        if frame.format.name not in _PLANAR:
            frame = self._to_planar(frame)
        copy = Image.new("L", (WIDTH, HEIGHT * 3 // 2))
        places = (
            (0, 0, WIDTH, HEIGHT),
            (0, HEIGHT, WIDTH // 2, HEIGHT // 2),
            (WIDTH // 2, HEIGHT, WIDTH // 2, HEIGHT // 2),
        )
        for plane, (left, top, width, height) in zip(frame.planes, places, strict=False):
            step = max(1, plane.height * 36 // (height * _ROWS))
            rows = (plane.width, plane.height // step)
            sparse = Image.frombuffer("L", rows, plane, "raw", "L", plane.line_size * step, 1)
            copy.paste(sparse.resize((width, height), Image.Resampling.BOX), (left, top))
        return copy

    def _to_planar(self, frame: Any) -> Any:
        if self._scaler is None:
            from av.video.reformatter import VideoReformatter

            self._scaler = VideoReformatter()
        return self._scaler.reformat(frame, 4 * WIDTH, 4 * HEIGHT, "yuv420p", interpolation="FAST_BILINEAR")


def difference(one: Image, other: Image) -> float:
    """The mean difference of two small copies in grey levels, 0 to 255."""
    from PIL import ImageChops

    counts = ImageChops.difference(one, other).histogram()
    total: int = sum(map(mul, counts, _GRAYS))
    return total / (one.width * one.height)


def blend_error(before: Image, middle: Image, after: Image) -> float:
    """By how much `middle` differs from the two others mixed half and half, in grey levels."""
    from PIL import Image

    return difference(Image.blend(before, after, 0.5), middle)


def brightness_correlation(one: Image, other: Image) -> float:
    """The correlation of the brightness of two small copies, -1 to 1: a change of light alone leaves it at 1."""
    left, right = (copy.crop((0, 0, WIDTH, HEIGHT)).tobytes() for copy in (one, other))
    size, a, b = len(left), sum(left), sum(right)
    across = size * sum(map(mul, left, right)) - a * b
    within = (size * sum(map(mul, left, left)) - a * a) * (size * sum(map(mul, right, right)) - b * b)
    return across / within**0.5 if within > 0 else 0.0


def brightness_statistics(copy: Image) -> tuple[float, float]:
    """Mean and standard deviation of the brightness of a small copy."""
    counts = copy.crop((0, 0, WIDTH, HEIGHT)).histogram()
    size = WIDTH * HEIGHT
    mean = sum(map(mul, counts, _GRAYS)) / size
    square = sum(count * grey * grey for grey, count in enumerate(counts) if count) / size
    return mean, max(square - mean * mean, 0.0) ** 0.5


def color_histogram(copy: Image) -> list[int]:
    """How many pixels have each brightness and each colour difference, in steps of 16: where they lie does not matter."""
    counts: list[int] = []
    for box in (
        (0, 0, WIDTH, HEIGHT),
        (0, HEIGHT, WIDTH // 2, HEIGHT * 3 // 2),
        (WIDTH // 2, HEIGHT, WIDTH, HEIGHT * 3 // 2),
    ):
        fine = copy.crop(box).histogram()
        counts += [sum(fine[low : low + 16]) for low in range(0, 256, 16)]
    return counts


def color_difference(one: list[int], other: list[int]) -> float:
    """The share of pixels, 0 to 1, whose colours the other picture does not have."""
    return sum(abs(a - b) for a, b in zip(one, other, strict=True)) / max(sum(one) + sum(other), 1)
