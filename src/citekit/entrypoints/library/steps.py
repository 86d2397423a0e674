"""The report of a tool about its work, step by step, with a progress bar."""

from __future__ import annotations

from typing import Any

from attrs import define, field

STEPS = 6
"""Steps of an ingest, and boxes of the bar."""


def bar(done: int) -> str:
    """The bar after `done` of `STEPS` steps: `[███░░░] 50%`."""
    done = max(0, min(done, STEPS))
    return f"[{'█' * done}{'░' * (STEPS - done)}] {done * 100 // STEPS}%"


class Halted(Exception):  # noqa: N818 - it says what happened; nobody but this package sees it
    """The work ends here, with this text as its error; `line`, if any, stands for the step that did not succeed."""

    def __init__(self, error: str, line: str | None = None, **facts: Any) -> None:
        self.error, self.line, self.facts = error, line, facts
        super().__init__(error)


@define
class StepReport:
    """The lines of the steps so far: each is reported when it begins, and again when it is done. `facts` are known
    by then."""

    facts: dict[str, Any] = field(factory=dict)
    lines: list[str] = field(factory=list)
    reached: int = 0

    def begin(self, line: str, number: int) -> None:
        """Step `number` begins."""
        self.lines.append(line)
        self.reached = number

    def done(self, line: str) -> None:
        """The step that began last is done, or did not succeed."""
        self.lines[-1:] = [line]

    def success(self, **facts: Any) -> dict[str, Any]:
        """The answer of work that succeeded."""
        return {"success": True, **self.facts, **facts, "progress": bar(STEPS), "steps": self.lines, "error": None}

    def failure(self, error: str, reached: int | None = None, **facts: Any) -> dict[str, Any]:
        """The answer of work that did not, with all that is known so far."""
        shown = bar(self.reached if reached is None else reached)
        return {"success": False, **self.facts, **facts, "progress": shown, "steps": self.lines, "error": error}
