"""Guardians and patterns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from citekit.domain.library.personas import Guardian, Pattern


class Personas(Protocol):
    """Ids are unique. A bad file is passed over with a warning in the log, and never hides the others."""

    def guardians(self) -> Sequence[Guardian]:
        """All guardians, the default first, then by id."""

    def guardian(self, guardian_id: str) -> Guardian:
        """That one. Raises `PersonaUnknown`, with the text `Unknown guardian: X`."""

    def patterns(self) -> Sequence[Pattern]:
        """All patterns, by category in the order of the files."""

    def pattern(self, name: str) -> Pattern:
        """The first of the category `name`, else the one with that id. Raises `PersonaUnknown`: `Unknown pattern: X`."""
