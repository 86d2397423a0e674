"""The port for guardians and patterns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from citekit.domain.library.personas import Guardian, Pattern


class Personas(Protocol):
    """Reads guardians and patterns. IDs are unique. A file that is not valid is skipped with a warning in the log."""

    def guardians(self) -> Sequence[Guardian]:
        """Return all guardians: the default first, then by ID."""

    def guardian(self, guardian_id: str) -> Guardian:
        """Return a guardian. Raises `PersonaUnknown` with the text `Unknown guardian: X`."""

    def patterns(self) -> Sequence[Pattern]:
        """Return all patterns by category, in the order of the files."""

    def pattern(self, name: str) -> Pattern:
        """Return the first pattern of the category `name`, or else the one with that ID. Raises `PersonaUnknown`:
        `Unknown pattern: X`.
        """
