"""Shows progress bars on standard error, and cancels work on Ctrl-C."""

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
"""The time in seconds that threads have to stop after Ctrl-C."""

DELETION = 40.0
"""The additional time in seconds for deleting uploaded files."""

IMPATIENCE = 5
"""The number of presses of Ctrl-C after which the process exits without deleting uploaded files."""

REMAINING = (
    "The model service may still store these files: {names}. The next command that uses this home with the same "
    "service and API key deletes them. To see what is left, run: citekit doctor{home}"
)


class NoBar:
    """A progress bar that shows nothing."""

    def show(self, done: float, total: float | None, message: str) -> None:
        """Show the progress, with the title if `message` is empty. `total` is None if unknown."""

    def aside(self) -> AbstractContextManager[None]:
        """Return a context manager that allows other lines to be printed."""
        return nullcontext()


class RichBar(NoBar):
    """A progress bar on standard error, drawn by Rich."""

    def __init__(self, progress: Progress, title: str) -> None:
        self._progress = progress
        self._title = title
        self._task = progress.add_task(self._label(""), total=None)

    def show(self, done: float, total: float | None, message: str) -> None:
        """See `NoBar.show`."""
        self._progress.update(self._task, completed=done, total=total, description=self._label(message))

    @contextmanager
    def aside(self) -> Iterator[None]:
        """See `NoBar.aside`."""
        self._progress.stop()
        try:
            yield
        finally:
            self._progress.start()

    def _label(self, message: str) -> str:
        from rich.markup import escape

        return escape(printable(message or self._title)[:60])


class Watch:
    """A progress callback that updates a bar. After Ctrl-C, it raises `Cancelled`."""

    def __init__(self, bar: NoBar, session: Session, remaining: Callable[[], Sequence[str]] = tuple) -> None:
        """Create a callback that updates `bar`.

        `remaining` returns the names of uploaded files that a model service may still store.
        """
        self._bar = bar
        self._session = session
        self._remaining = remaining
        self._stop = threading.Event()
        self._pressed = 0

    def __call__(self, done: float, total: float | None = None, message: str = "") -> None:
        """Show the progress in the bar. Raise `Cancelled` after Ctrl-C."""
        self.check(done, total, message)
        self._bar.show(done, total, message)

    def check(self, done: float, total: float | None = None, message: str = "") -> None:  # noqa: ARG002
        """Raise `Cancelled` after Ctrl-C, without updating the bar, which several files share."""
        if self._stop.is_set():
            raise Cancelled(INTERRUPTION)

    def aside(self) -> AbstractContextManager[None]:
        """Return a context manager that hides the bar for other output."""
        return self._bar.aside()

    def interrupt(self, _signal: int, _frame: FrameType | None) -> None:
        """Handle Ctrl-C: raise `KeyboardInterrupt`, and `Cancelled` in the threads that report progress.

        The process exits at the next Ctrl-C or after `GRACE` seconds. While uploaded files are being deleted, it exits
        only after `IMPATIENCE` presses or `DELETION` additional seconds.
        """
        self._pressed += 1
        if self._stop.is_set():
            if self._pressed < IMPATIENCE and self._remaining():
                echo(["Deleting uploaded files. This can take up to a minute."], sys.stderr)
                return
            self._leave()
        self._stop.set()
        self._leave_after(GRACE, DELETION)
        raise KeyboardInterrupt

    def _leave_after(self, seconds: float, more: float) -> None:
        """Exit the process after `seconds`, or `more` additional seconds if uploaded files are still being deleted."""

        def due() -> None:
            if more and self._remaining():
                self._leave_after(more, 0)
            else:
                self._leave()

        timer = threading.Timer(seconds, due)
        timer.daemon = True
        timer.start()

    def _leave(self) -> None:
        """Report the interruption and exit immediately, which is safe, because the stores write atomically."""
        left = self._remaining()
        message = (
            f"{INTERRUPTION} {REMAINING.format(names=', '.join(left), home=self._session.home_words())}"
            if left
            else INTERRUPTION
        )
        self._session.answer({"error": {"type": "InterruptError", "message": message}}, ())
        echo([f"Error: {message}"], sys.stderr)
        os._exit(INTERRUPTED)


@contextmanager
def watching(session: Session, title: str, remaining: Callable[[], Sequence[str]] = tuple) -> Iterator[Watch]:
    """Provide a progress callback in a `with` block, and handle Ctrl-C.

    A bar is shown if standard error is a terminal and no JSON is requested. `remaining` is that of `Watch`.
    """
    with _bar(title, shown=sys.stderr.isatty() and not session.as_json) as bar:
        watch = Watch(bar, session, remaining)
        with _handling(watch):
            yield watch


@contextmanager
def _handling(watch: Watch) -> Iterator[None]:
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler:  # ignored, or handled by other code: leave it unchanged
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

    console = Console(file=bare(sys.stderr))  # the guard would escape the bar's cursor movements
    with Progress(console=console, transient=True, redirect_stdout=False, redirect_stderr=False) as progress:
        yield RichBar(progress, title)
