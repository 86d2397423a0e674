"""Defines the port for guardians (voices for answers) and patterns (forms of answers)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from citekit.domain.library.personas import Guardian, Pattern


class Personas(Protocol):
    """Reads guardians and patterns. IDs are unique. A file or pattern that is not valid is skipped with a warning in
    the log. Every method raises `DriverMissing` if the required extra is not installed.
    """

    def guardians(self) -> Sequence[Guardian]:
        """Return all guardians: the default guardian first, then the others sorted by ID."""

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
