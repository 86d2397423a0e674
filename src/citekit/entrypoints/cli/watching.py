"""Long work on a terminal: a bar on standard error, and Ctrl-C that stops it cleanly."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import FrameType
from typing import TYPE_CHECKING

from citekit.domain.errors import Cancelled
from citekit.entrypoints.cli.failing import INTERRUPTION
from citekit.entrypoints.cli.terminal import bare, echo
from citekit.entrypoints.failures import INTERRUPTED
from citekit.entrypoints.invisible import printable

if TYPE_CHECKING:
    from rich.progress import Progress

    from citekit.entrypoints.cli.session import Session


GRACE = 3.0
"""Seconds that threads have to stop after Ctrl-C; a call to a service may take longer."""


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
        """Take the bar away meanwhile."""
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

    def __init__(self, bar: NoBar, session: Session) -> None:
        self._bar = bar
        self._session = session
        self._stop = threading.Event()

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
        """Handle Ctrl-C: ask all threads to stop; the second time, or where they do not within `GRACE`, leave at once."""
        if self._stop.is_set():
            self._leave()
        self._stop.set()
        timer = threading.Timer(GRACE, self._leave)
        timer.daemon = True
        timer.start()
        raise KeyboardInterrupt

    def _leave(self) -> None:
        """End the process as it is, which the stores survive: what they hold is whole at any time."""
        self._session.answer({"error": {"type": "InterruptError", "message": INTERRUPTION}}, ())
        echo([f"Error: {INTERRUPTION}"], sys.stderr)
        os._exit(INTERRUPTED)


@contextmanager
def watching(session: Session, title: str) -> Iterator[Watch]:
    """A watch over long work called `title`; its bar is shown only where standard error is a terminal."""
    with _bar(title, shown=sys.stderr.isatty() and not session.as_json) as bar:
        watch = Watch(bar, session)
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
