"""Pictures: the whole, and the parts that empty bands separate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from attrs import frozen

from citekit.adapters.drivers import pillow
from citekit.adapters.mapping.local.image_regions import WORKING_SIZE, Rectangle, Region, kind_of, regions
from citekit.adapters.mapping.local.outline import Draft, Outline
from citekit.domain.bounds import Bounds
from citekit.domain.locations import Box
from citekit.domain.progress import Progress
from citekit.domain.source import Source

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageFile import ImageFile

_MARGIN = 1
_GRID_FROM = 64
"""Pixels of the shorter side from which a picture without structure is worth quartering."""

_GRID_NOTE = "Nothing separates parts of this picture, so it is divided into quarters."
_ROWS, _COLUMNS = ("Top", "Middle", "Bottom"), ("left", "centre", "right")
_WORDS = {"text_region": "text", "picture": "picture", "region": "region"}


class ImageOutliner:
    """One node for the whole picture; below it its regions, else its quarters."""

    def outline(self, source: Source, progress: Progress) -> Outline:
        """The structure of `source`. Raises as `Mapper.map` does; a picture that cannot be decoded is refused."""
        with pillow.opened(source.path) as picture:
            size = pillow.upright_size(picture)
            kind, facts = picture.format or "Unknown", _facts(picture, size)
            progress(0, 1, "decoding the picture")
            grey = _small_grey(picture)
        found = regions(grey)
        canvas = _Canvas(grey, size)
        quarters = not found and min(size) >= _GRID_FROM
        whole = Draft(
            title="Whole picture",
            type="picture",
            location=Box(0, 0, 1, 1),
            summary=_summary(kind, facts, len(found)),
            children=canvas.quarters() if quarters else canvas.drafts(found, Box(0, 0, 1, 1)),
        )
        notes = (_GRID_NOTE,) if quarters else ()
        return Outline(title=None, bounds=Bounds(size=size), drafts=(whole,), facts=facts, notes=notes)


def _facts(picture: ImageFile, size: tuple[int, int]) -> dict[str, Any]:
    frames = pillow.frame_count(picture)
    facts: dict[str, Any] = {"dimensions": list(size), "mode": picture.mode}
    return {**facts, "frames": frames} if frames > 1 else facts


def _small_grey(picture: ImageFile) -> Image:
    """A grey, upright copy, at most `WORKING_SIZE` on its longer side; what is transparent is white."""
    turn = pillow.orientation(picture)
    picture.draft("L", (WORKING_SIZE, WORKING_SIZE))
    picture.load()
    scale = max(1, *(side // (2 * WORKING_SIZE) for side in picture.size))
    small: Image = picture.reduce(scale) if picture.mode in ("L", "RGB", "RGBA", "CMYK") and scale > 1 else picture
    small = _opaque_grey(small)
    small.thumbnail((WORKING_SIZE, WORKING_SIZE))
    return pillow.turned(small, turn)


def _opaque_grey(picture: Image) -> Image:
    if picture.mode.startswith(("I", "F")):
        low, high = picture.getextrema()
        low, high = float(low), float(high)  # type: ignore[arg-type]
        scale = 255 / (high - low) if high > low else 0.0
        floating = picture.convert("F")
        return floating.point(lambda value: value * scale + (-low * scale)).convert("L")
    if picture.has_transparency_data:
        picture = picture.convert("RGBA")
        white = pillow.library().new("RGBA", picture.size, "white")
        picture = pillow.library().alpha_composite(white, picture)
    return picture.convert("L")


def _summary(kind: str, facts: dict[str, Any], parts: int) -> str:
    width, height = facts["dimensions"]
    frames = f", {facts['frames']} frames" if "frames" in facts else ""
    count = f"; {parts} separate regions" if parts > 1 else ""
    return f"{kind} picture, {width} x {height} pixels{frames}{count}."


@frozen
class _Canvas:
    """Turns rectangles of the small copy into drafts."""

    grey: Image
    size: tuple[int, int]

    def drafts(self, found: Sequence[Region], parent: Box) -> list[Draft]:
        drafts = []
        for each in found:
            box = self._box(each.box, parent)
            kind = kind_of(self.grey, each.box)
            title = f"{_position(box)} {_WORDS[kind]}"
            parts = self.drafts(each.parts, box)
            drafts.append(Draft(title=title, type=kind, location=box, summary=self._summary(box), children=parts))
        return drafts

    def quarters(self) -> list[Draft]:
        boxes = [Box(x, y, x + 0.5, y + 0.5) for y in (0, 0.5) for x in (0, 0.5)]
        return [
            Draft(title=f"{_position(box)} quarter", type="region", location=box, summary=self._summary(box))
            for box in boxes
        ]

    def _box(self, rectangle: Rectangle, parent: Box) -> Box:
        """The box with a margin, in thousandths, inside its parent."""
        left, top, right, bottom = rectangle
        width, height = self.grey.size
        return Box(
            max(parent.x1, _thousandth((left - _MARGIN) / width)),
            max(parent.y1, _thousandth((top - _MARGIN) / height)),
            min(parent.x2, _thousandth((right + _MARGIN) / width)),
            min(parent.y2, _thousandth((bottom + _MARGIN) / height)),
        )

    def _summary(self, box: Box) -> str:
        left, top, right, bottom = box.pixels(*self.size)
        share = (box.x2 - box.x1) * (box.y2 - box.y1)
        return f"{max(1, round(share * 100))} % of the picture, {right - left} x {bottom - top} pixels."


def _thousandth(value: float) -> float:
    return round(min(1.0, max(0.0, value)), 3)


def _position(box: Box) -> str:
    column = min(2, int((box.x1 + box.x2) / 2 * 3))
    row = min(2, int((box.y1 + box.y2) / 2 * 3))
    if (row, column) == (1, 1):
        return "Centre"
    return f"{_ROWS[row]} {_COLUMNS[column]}"
