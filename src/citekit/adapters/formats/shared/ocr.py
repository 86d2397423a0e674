"""Reading the text of pictures, where somebody who can is there.

Scanned pages and pictures share this seam. Whoever wants text from pixels takes `ocr: OcrReader | None`: None says that
the extra `ocr` is not installed (or was not wanted), and the map is then made without that text; it is no error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, Protocol

from attrs import field, frozen

from citekit.adapters.libraries import rapidocr
from citekit.domain.locations import Box

if TYPE_CHECKING:
    from PIL.Image import Image


@frozen
class OcrLine:
    """One line of text that was read: its `text`, where it stands, and how sure the reader is, from 0 to 1.

    `box` holds fractions of the upright picture, origin top left.
    """

    text: str
    box: Box
    score: float


class OcrReader(Protocol):
    """Reads the text of a picture."""

    def lines(self, image: Image) -> Sequence[OcrLine]:
        """The lines of text in `image`, which stands upright, in reading order; the same picture gives the same lines.

        Empty where there is no text. May be called from several threads at once. Raises `MapperUnavailable` where the
        reader itself fails.
        """


@frozen
class RapidOcrReader:
    """Reads Latin and Chinese, Japanese script with RapidOCR's own models, which lie in its wheel; one for all threads."""

    engine: rapidocr.RapidOcr = field(factory=rapidocr.RapidOcr)

    @staticmethod
    def installed() -> bool:
        """Whether the extra `ocr` is there; nothing is imported for it."""
        return rapidocr.installed()

    def lines(self, image: Image) -> Sequence[OcrLine]:
        """See `OcrReader.lines`. Raises `DriverMissing` without the extra."""
        read = self.engine.read(image)
        return in_reading_order([OcrLine(each.text, Box(*each.corners), each.score) for each in read])


@frozen
class AnnouncedOcrReader:
    """Reads as `inner` does, and calls `before` each time: the work on a picture begins, which has a budget of its own."""

    inner: OcrReader
    before: Callable[[], object]

    def lines(self, image: Image) -> Sequence[OcrLine]:
        """See `OcrReader.lines`."""
        self.before()
        return self.inner.lines(image)


def in_reading_order(lines: Sequence[OcrLine]) -> list[OcrLine]:
    """The lines as a reader takes them: down a column, then the next column.

    The order of Breuel (High Performance Document Layout Analysis, 2003): a line comes before those below it that it
    overlaps across, and before those wholly to its right unless a line between them, from above to below, spans both.
    """
    ranked = sorted(lines, key=lambda line: (line.box.y1 + line.box.y2, line.box.x1, line.text))
    after, waiting = _constraints(ranked)
    ready = [number for number, count in enumerate(waiting) if not count]
    heapify(ready)
    ordered: list[int] = []
    while ready:
        number = heappop(ready)
        ordered.append(number)
        for other in after[number]:
            waiting[other] -= 1
            if not waiting[other]:
                heappush(ready, other)
    left_over = sorted(set(range(len(ranked))) - set(ordered))  # lines that wait for one another: as they stand, down
    return [ranked[number] for number in [*ordered, *left_over]]


def _constraints(ranked: Sequence[OcrLine]) -> tuple[list[list[int]], list[int]]:
    """For each line, which lines come after it, and how many come before it. Sets of lines are bits of whole numbers."""
    boxes = [line.box for line in ranked]
    shares = [sum(1 << n for n, other in enumerate(boxes) if _overlap_horizontally(box, other)) for box in boxes]
    after: list[list[int]] = [[] for _ in boxes]
    waiting = [0] * len(boxes)
    for first, one in enumerate(boxes):
        for second in range(first + 1, len(boxes)):
            pair = _ordered(first, second, one, boxes[second], shares)
            if pair is not None:
                after[pair[0]].append(pair[1])
                waiting[pair[1]] += 1
    return after, waiting


def _ordered(first: int, second: int, one: Box, two: Box, shares: Sequence[int]) -> tuple[int, int] | None:
    """Which of two lines comes first, `first` being the upper one; None where neither has to."""
    if shares[first] >> second & 1:
        return first, second
    between = ((1 << second) - 1) & ~((1 << (first + 1)) - 1)
    if shares[first] & shares[second] & between:
        return first, second
    return (first, second) if one.x1 < two.x1 else (second, first)


def _overlap_horizontally(one: Box, two: Box) -> bool:
    """Whether two lines overlap across by more than the ragged edge of a box."""
    overlap = min(one.x2, two.x2) - max(one.x1, two.x1)
    return overlap > 0.1 * min(one.x2 - one.x1, two.x2 - two.x1)
