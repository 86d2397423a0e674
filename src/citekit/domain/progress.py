"""How long work reports how far it is, and learns that nobody wants it any more."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Called now and then by long work. May raise `Cancelled`; the work then stops and leaves nothing half-made."""

    def __call__(self, done: float, total: float | None = None, message: str = "") -> None:
        """`done` of `total` (same unit, total None where unknown); `message` is what is being done."""


def silent(done: float, total: float | None = None, message: str = "") -> None:
    """A progress that nobody watches."""


def within(progress: Progress, at: float) -> Progress:
    """A progress for a part of work that counts to 100, which stands at `at`: the part counts in units of its own, so that it
    only shows that it is alive, and learns that nobody wants it any more.
    """

    def inside(done: float, total: float | None = None, message: str = "") -> None:  # noqa: ARG001
        progress(at, 100, "")

    return inside
