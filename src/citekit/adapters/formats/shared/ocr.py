"""Optical character recognition (OCR) of images.

In the modules that use it, a parameter `ocr` is None if OCR is off or the extra `ocr` is not installed. Maps then lack
the recognized text.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, Protocol

from attrs import field, frozen

from citekit.adapters.libraries import rapidocr
from citekit.adapters.system.installed_packages import version_of
from citekit.domain.locations import Box
from citekit.domain.page_view import PageWord

if TYPE_CHECKING:
    from PIL.Image import Image

    from citekit.adapters.libraries.sqlite.key_value_cache import Index


VERSION = "1"
"""Changes whenever CiteKit recognizes different lines on the same page with the same version of RapidOCR."""


@frozen
class OcrLine:
    """A line of text that OCR recognized, with its box in the upright image and its confidence `score` from 0 to 1."""

    text: str
    box: Box
    score: float


class OcrReader(Protocol):
    """A reader that recognizes the text in an image."""

    def lines(self, image: Image) -> Sequence[OcrLine]:
        """Return the lines of text in the upright `image`, in reading order; an empty sequence if there is no text.

        The method is thread-safe. Raise `MapperUnavailable` if recognition fails.
        """


@frozen
class RapidOcrReader:
    """An OCR reader for Latin, Chinese, and Japanese script that uses the models in the RapidOCR wheel."""

    engine: rapidocr.RapidOcr = field(factory=rapidocr.RapidOcr)

    @staticmethod
    def installed() -> bool:
        """Return whether the extra `ocr` is installed, without importing its packages."""
        return rapidocr.installed()

    def lines(self, image: Image) -> Sequence[OcrLine]:
        """See `OcrReader.lines`. Also raise `DriverMissing` if the extra `ocr` is not installed."""
        read = self.engine.read(image)
        return in_reading_order([OcrLine(each.text, Box(*each.corners), each.score) for each in read])


@frozen
class AnnouncedOcrReader:
    """An OCR reader that calls `before` ahead of each image, for example to give the image a time budget."""

    inner: OcrReader
    before: Callable[[], object]

    def lines(self, image: Image) -> Sequence[OcrLine]:
        """See `OcrReader.lines`."""
        self.before()
        return self.inner.lines(image)


def version_of_ocr() -> str:
    """Return the version of the recognition: `VERSION` and the version of RapidOCR."""
    return f"{VERSION}-{version_of('rapidocr')}"


def stored_lines(index: Index | None, image: Image) -> list[OcrLine] | None:
    """Return the lines that `store_lines` stored for `image`, or None if it stored nothing.

    The list is empty if OCR recognized no text in the image.
    """
    found = None if index is None else index.get(_key(image))
    return None if found is None else [OcrLine(text, Box(*corners), score) for text, corners, score in found["lines"]]


def store_lines(index: Index | None, image: Image, lines: Sequence[OcrLine]) -> None:
    """Store the lines that this version of OCR recognized in `image`. Without an `index`, do nothing."""
    if index is not None:
        index.put(_key(image), {"lines": [(line.text, line.box.corners, line.score) for line in lines]})


def _key(image: Image) -> str:
    digest = hashlib.sha256(f"{image.width}x{image.height} ".encode() + image.tobytes()).hexdigest()
    return f"ocr {version_of_ocr()} {digest}"


def recognized_words(lines: Sequence[OcrLine]) -> Iterator[PageWord]:
    """Yield the words of lines, with edges estimated from the numbers of characters."""
    for number, line in enumerate(lines):
        left, top, right, bottom = line.box.corners
        share = (right - left) / max(len(line.text), 1)
        start = 0
        for word in line.text.split():
            start = line.text.index(word, start)
            end = start + len(word)
            yield PageWord(word, (left + share * start, top, left + share * end, bottom), number)
            start = end


def in_reading_order(lines: Sequence[OcrLine]) -> list[OcrLine]:
    """Return the lines in reading order: down one column, then down the next.

    As in Breuel (High Performance Document Layout Analysis, 2003), a line precedes the lines below it that overlap it
    horizontally, and lines entirely to its right, unless a third line between the two overlaps both.
    """
    ranked = sorted(lines, key=lambda line: (line.box.y1 + line.box.y2, line.box.x1, line.text))
    successors, predecessors = _constraints(ranked)
    ready = [number for number, count in enumerate(predecessors) if not count]
    heapify(ready)
    ordered: list[int] = []
    while ready:
        number = heappop(ready)
        ordered.append(number)
        for other in successors[number]:
            predecessors[other] -= 1
            if not predecessors[other]:
                heappush(ready, other)
    cyclic = sorted(set(range(len(ranked))) - set(ordered))  # lines in a cycle: from top to bottom
    return [ranked[number] for number in [*ordered, *cyclic]]


def _constraints(ranked: Sequence[OcrLine]) -> tuple[list[list[int]], list[int]]:
    """Return the lines that must follow each line, and the number of lines that must precede it."""
    boxes = [line.box for line in ranked]
    overlaps = [sum(1 << n for n, other in enumerate(boxes) if _overlap_horizontally(box, other)) for box in boxes]
    successors: list[list[int]] = [[] for _ in boxes]
    predecessors = [0] * len(boxes)
    for first, one in enumerate(boxes):
        for second in range(first + 1, len(boxes)):
            earlier, later = _ordered(first, second, one, boxes[second], overlaps)
            successors[earlier].append(later)
            predecessors[later] += 1
    return successors, predecessors


def _ordered(first: int, second: int, one: Box, two: Box, overlaps: Sequence[int]) -> tuple[int, int]:
    """Return the line numbers `first` (the upper line) and `second` in reading order."""
    if overlaps[first] >> second & 1:
        return first, second
    between = ((1 << second) - 1) & ~((1 << (first + 1)) - 1)
    if overlaps[first] & overlaps[second] & between:
        return first, second
    return (first, second) if one.x1 < two.x1 else (second, first)


def _overlap_horizontally(one: Box, two: Box) -> bool:
    """Return whether two lines overlap horizontally by more than 10% of the narrower one."""
    overlap = min(one.x2, two.x2) - max(one.x1, two.x1)
    return overlap > 0.1 * min(one.x2 - one.x1, two.x2 - two.x1)
