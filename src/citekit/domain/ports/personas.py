"""Defines the port for guardians (voices for answers) and patterns (forms of answers)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from citekit.domain.library.personas import Guardian, Pattern


class Personas(Protocol):
    """Reads guardians and patterns. Invalid ones are skipped with a warning in the log. The methods raise
    `DriverMissing` if the required extra is not installed.
    """

    def guardians(self) -> Sequence[Guardian]:
        """Return the guardians: the default guardian first, then the others sorted by ID."""

    def guardian(self, guardian_id: str) -> Guardian:
        """Return the guardian with the given ID.

        Raise `PersonaUnknown` with the text `Unknown guardian: X` if no guardian has that ID.
        """

    def patterns(self) -> Sequence[Pattern]:
        """Return all patterns, grouped by category, in the order of the files."""

    def pattern(self, name: str) -> Pattern:
        """Return the first pattern of the category `name`, or else the pattern with that ID.

        Raise `PersonaUnknown` with the text `Unknown pattern: X` if `name` matches neither.
        """
