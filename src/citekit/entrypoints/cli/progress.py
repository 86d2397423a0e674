"""Long work on a terminal: a bar on standard error, and Ctrl-C that stops it cleanly."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import FrameType
from typing import TYPE_CHECKING

from citekit.domain.errors import Cancelled
from citekit.domain.unicode_controls import printable
from citekit.entrypoints.cli.errors import INTERRUPTION
from citekit.entrypoints.cli.terminal import bare, echo
from citekit.entrypoints.failures import INTERRUPTED

if TYPE_CHECKING:
    from rich.progress import Progress

    from citekit.entrypoints.cli.session import Session


GRACE = 3.0
"""Seconds that threads have to stop after Ctrl-C; a call to a service may take longer."""

DELETION = 40.0
"""Seconds that the deletion of uploaded files may take after that."""

IMPATIENCE = 5
"""How often Ctrl-C is pressed by somebody who does not want to wait for that."""

REMAINING = (
    "Some files are still stored by the model service: {names}. The next run with the same key deletes "
    "them. To list them, run: citekit doctor"
)


class NoBar:
    """Shows nothing."""

    def show(self, done: float, total: float | None, message: str) -> None:
        """Say that `done` of `total` (None where unknown) is done; an empty message keeps the title."""

    def aside(self) -> AbstractContextManager[None]:
        """The time in which other lines may be printed."""
        return nullcontext()


class RichBar(NoBar):
    """Shows a bar on standard error."""

    def __init__(self, progress: Progress, title: str) -> None:
        self._progress = progress
        self._title = title
        self._task = progress.add_task(self._label(""), total=None)

    def show(self, done: float, total: float | None, message: str) -> None:
        """Move the bar."""
        self._progress.update(self._task, completed=done, total=total, description=self._label(message))

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Hide the bar while the block runs."""
        self._progress.stop()
        try:
            yield
        finally:
            self._progress.start()

    def _label(self, message: str) -> str:
        from rich.markup import escape

        return escape(printable(message or self._title)[:60])


class Watch:
    """A `Progress` that moves a bar, and raises `Cancelled` in every thread once Ctrl-C was pressed."""

    def __init__(self, bar: NoBar, session: Session, remaining: Callable[[], Sequence[str]] = tuple) -> None:
        """`remaining` names the files that may still be at a model's service."""
        self._bar = bar
        self._session = session
        self._remaining = remaining
        self._stop = threading.Event()
        self._pressed = 0

    def __call__(self, done: float, total: float | None = None, message: str = "") -> None:
        """Say how far the work is."""
        self.check(done, total, message)
        self._bar.show(done, total, message)

    def check(self, done: float, total: float | None = None, message: str = "") -> None:  # noqa: ARG002
        """A `Progress` that only stops work: for one of many files, whose own steps no bar shows."""
        if self._stop.is_set():
            raise Cancelled(INTERRUPTION)

    def aside(self) -> AbstractContextManager[None]:
        """The time in which other lines may be printed."""
        return self._bar.aside()

    def interrupt(self, _signal: int, _frame: FrameType | None) -> None:
        """Handle Ctrl-C: ask all threads to stop; the second time, or if they do not within `GRACE`, leave at once.

        While uploaded files are being deleted, only `IMPATIENCE` presses, or `DELETION` seconds, end the process.
        """
        self._pressed += 1
        if self._stop.is_set():
            if self._pressed < IMPATIENCE and self._remaining():
                echo(["Deleting uploaded files. This takes a few seconds."], sys.stderr)
                return
            self._leave()
        self._stop.set()
        self._leave_after(GRACE, DELETION)
        raise KeyboardInterrupt

    def _leave_after(self, seconds: float, more: float) -> None:
        """Leave after so many seconds; after `more` if uploaded files are still being deleted then."""

        def due() -> None:
            if more and self._remaining():
                self._leave_after(more, 0)
            else:
                self._leave()

        timer = threading.Timer(seconds, due)
        timer.daemon = True
        timer.start()

    def _leave(self) -> None:
        """End the process as it is, which the stores survive: what they hold is whole at any time."""
        left = self._remaining()
        message = f"{INTERRUPTION} {REMAINING.format(names=', '.join(left))}" if left else INTERRUPTION
        self._session.answer({"error": {"type": "InterruptError", "message": message}}, ())
        echo([f"Error: {message}"], sys.stderr)
        os._exit(INTERRUPTED)


@contextmanager
def watching(session: Session, title: str, remaining: Callable[[], Sequence[str]] = tuple) -> Iterator[Watch]:
    """A watch over long work called `title`; its bar is shown only where standard error is a terminal.

    `remaining` names the files that may still be at a model's service.
    """
    with _bar(title, shown=sys.stderr.isatty() and not session.as_json) as bar:
        watch = Watch(bar, session, remaining)
        with _handling(watch):
            yield watch


@contextmanager
def _handling(watch: Watch) -> Iterator[None]:
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler:  # ignored, or somebody else's: it stays so
        yield
        return
    signal.signal(signal.SIGINT, watch.interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _bar(title: str, *, shown: bool) -> Iterator[NoBar]:
    if not shown:
        yield NoBar()
        return
    from rich.console import Console
    from rich.progress import Progress

    console = Console(file=bare(sys.stderr))  # it moves the cursor; its labels are printable
    with Progress(console=console, transient=True, redirect_stdout=False, redirect_stderr=False) as progress:
        yield RichBar(progress, title)
