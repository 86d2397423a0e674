"""Defines the port that cuts a recording into windows with speech, for a service that recognizes the words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from citekit.domain.progress import Progress, silent
from citekit.domain.source import Source
from citekit.domain.speech import SpeechWindow


class SpeechWindows(Protocol):
    """Cuts recordings at pauses."""

    def write(self, source: Source, target: Path, progress: Progress = silent) -> Sequence[SpeechWindow]:
        """Write the sound of all windows to the existing file `target`, one after another, and return the windows.

        The sound is mono, with 16,000 little-endian samples of 16 bits per second. Raise the errors of
        `Transcriber.transcribe`.
        """
