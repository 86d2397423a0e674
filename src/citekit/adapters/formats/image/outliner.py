"""Outlines images: the whole image, and its regions, which are separated by empty bands and can be titled by OCR."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from attrs import frozen

from citekit.adapters.formats.image.animation import animation_duration
from citekit.adapters.formats.image.detail import Rectangle
from citekit.adapters.formats.image.region_kinds import TEXT, is_photo
from citekit.adapters.formats.image.regions import GROUP, HEADING, WORKING_SIZE, Region, find_regions
from citekit.adapters.formats.shared.ocr import OcrLine, OcrReader
from citekit.adapters.formats.shared.outline import SUMMARY_LIMIT, TITLE_LIMIT, Outline, OutlineItem, one_line
from citekit.adapters.libraries import pillow
from citekit.domain.distribution import install_command
from citekit.domain.extent import Extent
from citekit.domain.locations import Box
from citekit.domain.progress import Progress
from citekit.domain.source import Source

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageFile import ImageFile

MIN_SCORE = 0.6
"""The lowest OCR score of a line that counts as text. With lower scores, drawings are often read as letters."""

OCR_SIZE = 1920
"""The longer side, in pixels, of the copy in which text is recognized."""

_MARGIN = 1
_TITLE_LIMIT = 80
_ROWS, _COLUMNS = ("Top", "Middle", "Bottom"), ("left", "center", "right")
_KIND_NAMES = {TEXT: "text", HEADING: "heading", "picture": "picture", GROUP: "region"}
_NO_OCR_NOTE = (
    "This picture seems to contain text, which was not read, because OCR is off (--no-ocr or CITEKIT_OCR=off) or the "
    f"extra 'ocr' is not installed ({install_command('ocr')})."
)

_DESCRIPTION, _MAKER, _MODEL, _CHANGED = 0x010E, 0x010F, 0x0110, 0x0132
_EXIF_IFD, _TAKEN = 0x8769, 0x9003
"""Tags of EXIF 2.3: the Exif IFD, and DateTimeOriginal in it."""

_TIME = re.compile(r"\A(\d{4}):(\d\d):(\d\d) (\d\d:\d\d:\d\d)\Z")


@frozen
class RecognizedText:
    """The lines of text recognized in an image, in reading order."""

    lines: Sequence[OcrLine] = ()

    @classmethod
    def from_lines(cls, lines: Sequence[OcrLine]) -> RecognizedText:
        """Return the recognized text without lines that have a low score or neither letters nor digits."""
        return cls([line for line in lines if line.score >= MIN_SCORE and any(map(str.isalnum, line.text))])

    def within(self, box: Box) -> Sequence[OcrLine]:
        """Return the lines of text whose center is in `box`."""
        return [line for line in self.lines if _contains_center(box, line.box)]

    def text(self) -> str:
        """Return all text on one line, with a space before each recognized line."""
        return "".join(f" {line.text}" for line in self.lines)

    def title(self) -> str | None:
        """Return the heading, or else the first line, or None if there is no text."""
        return self.heading() or (self.lines[0].text if self.lines else None)

    def heading(self) -> str | None:
        """Return the first of the tallest lines, joined with up to two lines after it that are about as tall.

        Return None if no line is at least 25% taller than the median.
        """
        heights = sorted(_height(line) for line in self.lines)
        if not heights or heights[-1] < 1.25 * heights[len(heights) // 2]:
            return None
        tallest = heights[-1]
        first = next(n for n, line in enumerate(self.lines) if _height(line) >= 0.9 * tallest)
        texts = [self.lines[first].text]
        for line in self.lines[first + 1 : first + 3]:
            if _height(line) < 0.85 * tallest:
                break
            texts.append(line.text)
        return " ".join(texts)


def _height(line: OcrLine) -> float:
    return line.box.y2 - line.box.y1


def _contains_center(box: Box, line: Box) -> bool:
    x, y = (line.x1 + line.x2) / 2, (line.y1 + line.y2) / 2
    return box.x1 <= x <= box.x2 and box.y1 <= y <= box.y2


@frozen
class ImageOutliner:
    """Outlines images as one item, with its regions as children.

    Without `ocr`, the outline contains no text of the image.
    """

    ocr: OcrReader | None = None

    def outline(self, source: Source, progress: Progress) -> Outline:
        """See `Outliner.outline`."""
        with pillow.open_image(source.path) as picture:
            size = pillow.upright_size(picture)
            kind, facts, properties = picture.format or "Unknown", _metadata(picture, source), read_metadata(picture)
            progress(0, 2, "decoding the picture")
            copy = pillow.reduced_copy(picture, *((OCR_SIZE, "RGB") if self.ocr else (WORKING_SIZE, "L")))
        gray = copy.convert("L")
        gray.thumbnail((WORKING_SIZE, WORKING_SIZE))
        regions = find_regions(gray)
        if self.ocr is not None:
            progress(1, 2, "reading the text of the picture")
        recognized = read_text(self.ocr, copy)
        builder = _ItemBuilder(gray, size, recognized or RecognizedText())
        facts = {"dimensions": list(size), **facts, **properties}
        whole = OutlineItem(
            title=builder.recognized.heading() or "Whole picture",
            type="picture",
            location=Box(0, 0, 1, 1),
            summary=_summary(kind, facts, len(regions)) + builder.recognized.text(),
            children=builder.items(regions, Box(0, 0, 1, 1)),
            name="Whole picture",
        )
        return Outline(
            title=properties.get("title") or builder.recognized.heading(),
            extent=Extent(size=size),
            items=(whole,),
            facts=facts if recognized is None else {**facts, "text_lines": len(recognized.lines)},
            notes=[*_frames_note(kind, facts), *([_NO_OCR_NOTE] if recognized is None and _has_text(regions) else [])],
        )


def read_text(ocr: OcrReader | None, copy: Image) -> RecognizedText | None:
    """Return the text in a reduced copy of an image, or None without `ocr` or for a photograph, because OCR takes
    seconds.
    """
    if ocr is None:
        return None
    gray = copy.convert("L")
    gray.thumbnail((WORKING_SIZE, WORKING_SIZE))
    return None if is_photo(gray) else RecognizedText.from_lines(ocr.lines(copy))


def _has_text(regions: Sequence[Region]) -> bool:
    return any(leaf.kind in (TEXT, HEADING) for region in regions for leaf in region.leaves())


def _metadata(picture: ImageFile, source: Source) -> dict[str, Any]:
    facts: dict[str, Any] = {"mode": picture.mode}
    frames = pillow.frame_count(picture)
    if frames > 1:
        facts["frames"] = frames
        length = animation_duration(source.path, picture.format or "")
        facts |= {"animation_seconds": length} if length else {}
    return facts


def _frames_note(kind: str, facts: dict[str, Any]) -> list[str]:
    if "frames" not in facts:
        return []
    unit = "pages" if kind == "TIFF" else "frames"
    return [f"This picture has {facts['frames']} {unit}; the map shows the first one."]


def _summary(kind: str, facts: dict[str, Any], parts: int) -> str:
    width, height = facts["dimensions"]
    frames = f", {facts['frames']} {'pages' if kind == 'TIFF' else 'frames'}" if "frames" in facts else ""
    count = f"; {parts} separate regions" if parts > 1 else ""
    description = f" {facts['description']}" if "description" in facts else ""
    return f"{kind} picture, {width} x {height} pixels{frames}{count}.{description}"


@frozen
class _ItemBuilder:
    """Converts rectangles of `gray`, the reduced copy of the image, to outline items."""

    gray: Image
    size: tuple[int, int]
    recognized: RecognizedText

    def items(self, regions: Sequence[Region], parent: Box) -> list[OutlineItem]:
        return [self._outline_item(each, self._box(each.box, parent)) for each in regions]

    def _outline_item(self, region: Region, box: Box) -> OutlineItem:
        position = f"{_position(box)} {_KIND_NAMES[region.kind]}"
        recognized = RecognizedText(self.recognized.within(box))
        text = " ".join(line.text for line in recognized.lines)
        title = _shorten(recognized.title() if region.parts else text)
        return OutlineItem(
            title=title or position,
            type=region.kind,
            location=box,
            summary=text or self._summary(box),
            children=self.items(region.parts, box),
        )

    def _box(self, rectangle: Rectangle, parent: Box) -> Box:
        """Return `rectangle` as a box in fractions of the image size, with a margin, limited to `parent`."""
        left, top, right, bottom = rectangle
        width, height = self.gray.size
        return Box(
            max(parent.x1, _thousandth((left - _MARGIN) / width)),
            max(parent.y1, _thousandth((top - _MARGIN) / height)),
            min(parent.x2, _thousandth((right + _MARGIN) / width)),
            min(parent.y2, _thousandth((bottom + _MARGIN) / height)),
        )

    def _summary(self, box: Box) -> str:
        left, top, right, bottom = box.pixels(*self.size)
        share = (box.x2 - box.x1) * (box.y2 - box.y1)
        return f"{max(1, round(share * 100))}% of the picture, {right - left} x {bottom - top} pixels."


def _shorten(text: str | None) -> str:
    """Return the text cut at a word boundary if it is too long for a title."""
    if not text or len(text) <= _TITLE_LIMIT:
        return text or ""
    return f"{text[: _TITLE_LIMIT - 3].rsplit(' ', 1)[0]}..."


def _thousandth(value: float) -> float:
    return round(min(1.0, max(0.0, value)), 3)


def _position(box: Box) -> str:
    column = min(2, int((box.x1 + box.x2) / 2 * 3))
    row = min(2, int((box.y1 + box.y2) / 2 * 3))
    if (row, column) == (1, 1):
        return "Center"
    return f"{_ROWS[row]} {_COLUMNS[column]}"


def read_metadata(picture: ImageFile) -> dict[str, str]:
    """Return the `title`, `description`, `taken`, and `camera` of an image, if the file has them.

    `taken` is the local time in ISO 8601 format. The GPS position is omitted, because people who share a map do not
    expect it there.
    """
    found: dict[str, str] = {}
    for name in ("Title", "Description"):  # keywords of PNG 3, 11.3.3.2
        text = picture.info.get(name)
        found[name.lower()] = str(text) if isinstance(text, str) else ""
    with suppress(Exception):  # a damaged EXIF block can raise almost any exception
        found |= {name: text for name, text in _exif(picture).items() if text}
    limits = {"title": TITLE_LIMIT, "camera": TITLE_LIMIT}
    shortened = {name: one_line(text, limits.get(name, SUMMARY_LIMIT)) for name, text in found.items()}
    return {name: text for name, text in shortened.items() if text}


def _exif(picture: ImageFile) -> dict[str, str]:
    tags = picture.getexif()
    time = tags.get_ifd(_EXIF_IFD).get(_TAKEN) or tags.get(_CHANGED)
    maker, model = _text(tags.get(_MAKER)), _text(tags.get(_MODEL))
    camera = model if maker and model.lower().startswith(maker.lower().split()[0]) else f"{maker} {model}"
    return {"description": _text(tags.get(_DESCRIPTION)), "taken": _iso_time(_text(time)), "camera": camera.strip()}


def _text(value: object) -> str:
    return value.replace("\0", " ").strip() if isinstance(value, str) else ""


def _iso_time(text: str) -> str:
    match = _TIME.match(text)
    return f"{match[1]}-{match[2]}-{match[3]}T{match[4]}" if match and match[1] != "0000" else ""
