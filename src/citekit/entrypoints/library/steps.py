"""The step-by-step report of a tool, with a progress bar."""

from __future__ import annotations

from typing import Any

from attrs import define, field

STEPS = 6
"""The number of steps of an ingest, and of boxes in the bar."""


def bar(done: int) -> str:
    """The bar after `done` of `STEPS` steps: `[███░░░] 50%`."""
    done = max(0, min(done, STEPS))
    return f"[{'█' * done}{'░' * (STEPS - done)}] {done * 100 // STEPS}%"


class Halted(Exception):  # noqa: N818 - it says what happened; nobody but this package sees it
    """Ends the work with an error text. `line`, if any, replaces the line of the step that failed."""

    def __init__(self, error: str, line: str | None = None, **facts: Any) -> None:
        self.error, self.line, self.facts = error, line, facts
        super().__init__(error)


@define
class StepReport:
    """The lines of the steps so far. A step's line is replaced when the step is done.

    `facts` are fields of the answer that are already known.
    """

    facts: dict[str, Any] = field(factory=dict)
    lines: list[str] = field(factory=list)
    reached: int = 0

    def begin(self, line: str, number: int) -> None:
        """Begin the step `number`."""
        self.lines.append(line)
        self.reached = number

    def done(self, line: str) -> None:
        """Replace the line of the current step with its outcome."""
        self.lines[-1:] = [line]

    def success(self, **facts: Any) -> dict[str, Any]:
        """The answer after success."""
        return {"success": True, **self.facts, **facts, "progress": bar(STEPS), "steps": self.lines, "error": None}

    def failure(self, error: str, reached: int | None = None, **facts: Any) -> dict[str, Any]:
        """The answer after a failure, with everything that is known so far."""
        shown = bar(self.reached if reached is None else reached)
        return {"success": False, **self.facts, **facts, "progress": shown, "steps": self.lines, "error": error}
