"""Defines progress reports and cancellation for long operations."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """A callback to which a long operation reports its progress. If it raises `Cancelled`, the operation stops."""

    def __call__(self, done: float, total: float | None = None, message: str = "") -> None:
        """Report that `done` of `total` units of work are finished. `total` is None if it is unknown.

        `message` describes the current step.
        """


def silent(done: float, total: float | None = None, message: str = "") -> None:
    """Do nothing, for operations without progress reports."""


def within(progress: Progress, at: float) -> Progress:
    """Return a progress callback for one step of a larger operation, whose progress is now `at` of 100.

    The step counts in its own units, so the callback reports only that the operation is still running, which also
    allows `progress` to cancel the step.
    """

    def inside(done: float, total: float | None = None, message: str = "") -> None:  # noqa: ARG001
        progress(at, 100, "")

    return inside
