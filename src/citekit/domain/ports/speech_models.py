"""Defines the port that lists and downloads models for speech recognition."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from citekit.domain.progress import Progress, silent
from citekit.domain.speech import SpeechModelFacts


class SpeechModels(Protocol):
    """Lists models, and downloads one when the user asks for it."""

    def known(self) -> Sequence[SpeechModelFacts]:
        """Return the models that can be downloaded, smallest first."""

    def facts(self, name: str) -> SpeechModelFacts:
        """Return the facts about one model. Raise `RequestRefused` if no model has that name."""

    def download(self, name: str, progress: Progress = silent) -> Path:
        """Download the model, unless it is complete, and return its folder.

        An interrupted download continues where it ended. Files whose digests differ from the published ones are
        deleted. Raise `RequestRefused` for an unknown name, `MapperUnavailable` if the download fails, `HomeUnwritable`
        if the folder cannot be written, or `Cancelled`.
        """
