"""Defines the text that a video shows on the screen."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import field, frozen


@frozen
class ScreenLine:
    """A line of text that is shown from `start` to `end` seconds."""

    start: float
    end: float
    text: str


@frozen(kw_only=True)
class Slide:
    """A picture with text that a video shows from `start` to `end` seconds: a slide, or a window of a screencast.

    Its lines, in the order in which they appear, can be shown for a shorter time. `title` is the heading in the
    picture, or else its first line.
    """

    start: float
    end: float
    title: str
    lines: Sequence[ScreenLine] = field(converter=tuple[ScreenLine, ...])

    @property
    def text(self) -> str:
        """The lines as one text."""
        return "\n".join(line.text for line in self.lines)


@frozen(kw_only=True)
class ScreenText:
    """The text that could be read in the pictures of a video, in chronological order.

    `reader` names the software that recognized it, such as `RapidOCR 3.10.0`. If `is_incomplete`, only the first
    pictures were read.
    """

    slides: Sequence[Slide] = field(converter=tuple[Slide, ...])
    reader: str
    is_incomplete: bool = False

    def cues(self) -> list[tuple[float, float, str]]:
        """Return the text as (start, end, text) in seconds. Lines of a slide with the same times are one text."""
        found: list[tuple[float, float, str]] = []
        for slide in self.slides:
            for start, end in sorted({(line.start, line.end) for line in slide.lines}):
                lines = [line.text for line in slide.lines if (line.start, line.end) == (start, end)]
                found.append((start, end, "\n".join(lines)))
        return found
