"""Progress reports and cancellation of long operations."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """A callback of long operations. If it raises `Cancelled`, the operation stops and leaves no partial results."""

    def __call__(self, done: float, total: float | None = None, message: str = "") -> None:
        """Report `done` of `total` (in the same unit; None if unknown). `message` describes the current step."""


def silent(done: float, total: float | None = None, message: str = "") -> None:
    """A progress callback that does nothing."""


def within(progress: Progress, at: float) -> Progress:
    """Return a progress callback for one step of an operation that counts to 100 and is now at `at`.

    The step counts in its own units, so its numbers are not passed on. The callback only shows that the operation is
    running, and cancels the step.
    """

    def inside(done: float, total: float | None = None, message: str = "") -> None:  # noqa: ARG001
        progress(at, 100, "")

    return inside
