"""Builds the report of a library tool, with a progress bar of characters."""

from __future__ import annotations

from typing import Any

from attrs import define, field

STEPS = 6
"""The number of boxes in the progress bar. An ingest fills one box for each step, and all when it succeeds."""


def bar(done: int) -> str:
    """Return a progress bar of `STEPS` boxes, such as `[███░░░] 50%`."""
    done = max(0, min(done, STEPS))
    return f"[{'█' * done}{'░' * (STEPS - done)}] {done * 100 // STEPS}%"


class Halted(Exception):  # noqa: N818 - it says what happened; nobody but this package sees it
    """Raised to end an ingest with an error text.

    `line`, if any, replaces the line of the failed step. `facts` are additional fields of the result.
    """

    def __init__(self, error: str, line: str | None = None, **facts: Any) -> None:
        self.error, self.line, self.facts = error, line, facts
        super().__init__(error)


@define
class StepReport:
    """The report of an operation: a line for each step so far.

    `facts` are fields of the result that are already known, and `reached` is the number of the current step.
    """

    facts: dict[str, Any] = field(factory=dict)
    lines: list[str] = field(factory=list)
    reached: int = 0

    def begin(self, line: str, number: int) -> None:
        """Begin the step `number` and add its line to the report."""
        self.lines.append(line)
        self.reached = number

    def done(self, line: str) -> None:
        """Replace the line of the current step with its outcome."""
        self.lines[-1:] = [line]

    def success(self, **facts: Any) -> dict[str, Any]:
        """Return the result of a successful operation."""
        return {"success": True, **self.facts, **facts, "progress": bar(STEPS), "steps": self.lines, "error": None}

    def failure(self, error: str, reached: int | None = None, **facts: Any) -> dict[str, Any]:
        """Return the result of a failed operation, with a progress bar of `reached` steps (default: the current one)."""
        shown = bar(self.reached if reached is None else reached)
        return {"success": False, **self.facts, **facts, "progress": shown, "steps": self.lines, "error": error}
