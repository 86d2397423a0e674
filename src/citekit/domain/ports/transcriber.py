"""Defines the port that recognizes the words that are spoken in a recording."""

from __future__ import annotations

from typing import Protocol

from citekit.domain.progress import Progress, silent
from citekit.domain.source import Source
from citekit.domain.speech import Speech


class Transcriber(Protocol):
    """Recognizes the words in the sound of video and audio files. Thread-safe."""

    @property
    def name(self) -> str:
        """The software and the model, such as `faster-whisper 1.2.1 (base)`."""

    @property
    def version(self) -> str:
        """A text that changes when the same recording may result in other words."""

    def transcribe(self, source: Source, progress: Progress = silent) -> Speech:
        """Return the words that are spoken, with times inside the recording; no words if nothing is said.

        Passages and words are in chronological order and do not overlap. Interrupted work continues where it ended.

        Raise `SourceUnsupported` if the sound cannot be decoded, `SourceUnreadable` if the file cannot be read,
        `MapperUnavailable` if the model or service is missing or fails, `HomeUnwritable` if the answers of a service
        cannot be stored, `DriverMissing`, or `Cancelled`.
        """
