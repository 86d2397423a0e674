"""What text stands in which region of a picture."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from citekit.adapters.mapping.local.ocr import OcrLine
from citekit.domain.locations import Box

SURE = 0.6
"""Score from which a line is taken for text; below it, drawings are often read as letters."""


@frozen
class Reading:
    """The lines that were read in a picture, in reading order."""

    lines: Sequence[OcrLine] = ()

    @classmethod
    def of(cls, lines: Sequence[OcrLine]) -> Reading:
        """Those that are sure enough and hold a letter or a digit."""
        return cls([line for line in lines if line.score >= SURE and any(map(str.isalnum, line.text))])

    def within(self, box: Box) -> Sequence[OcrLine]:
        """The lines whose centre lies in `box`."""
        return [line for line in self.lines if _holds(box, line.box)]

    def text(self) -> str:
        """All of it on one line, after a space; empty where there is none."""
        return "".join(f" {line.text}" for line in self.lines)

    def title(self) -> str | None:
        """The heading, else the first line; None where nothing was read."""
        return self.heading() or (self.lines[0].text if self.lines else None)

    def heading(self) -> str | None:
        """The tallest line, and those after it that are as tall; None where none is clearly taller than the usual one."""
        heights = sorted(_height(line) for line in self.lines)
        if not heights or heights[-1] < 1.25 * heights[len(heights) // 2]:
            return None
        tallest = heights[-1]
        first = next(n for n, line in enumerate(self.lines) if _height(line) >= 0.9 * tallest)
        taken = [self.lines[first].text]
        for line in self.lines[first + 1 : first + 3]:
            if _height(line) < 0.85 * tallest:
                break
            taken.append(line.text)
        return " ".join(taken)


def _height(line: OcrLine) -> float:
    return line.box.y2 - line.box.y1


def _holds(box: Box, line: Box) -> bool:
    x, y = (line.x1 + line.x2) / 2, (line.y1 + line.y2) / 2
    return box.x1 <= x <= box.x2 and box.y1 <= y <= box.y2
