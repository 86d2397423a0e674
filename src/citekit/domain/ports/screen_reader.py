"""Defines the port that reads the text that a video shows."""

from __future__ import annotations

from typing import Protocol

from citekit.domain.progress import Progress, silent
from citekit.domain.screen_text import ScreenText
from citekit.domain.source import Source


class ScreenReader(Protocol):
    """Recognizes the text in pictures that a video shows for a while, such as slides. Thread-safe."""

    @property
    def name(self) -> str:
        """The software, such as `RapidOCR 3.10.0`."""

    @property
    def version(self) -> str:
        """A text that changes when the same video may result in another text."""

    def read(self, source: Source, progress: Progress = silent) -> ScreenText:
        """Return the text with times inside the video, if any.

        Raise `SourceUnsupported` if the video cannot be decoded, `SourceUnreadable` if the file cannot be read,
        `MapperUnavailable` if text recognition fails, `DriverMissing`, or `Cancelled`.
        """
