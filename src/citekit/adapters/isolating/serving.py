"""The child's side: reads a request, does it, answers; dies alone where a file makes it die."""

from __future__ import annotations

import errno
import signal
import traceback
from collections.abc import Callable, Iterator, Mapping
from time import monotonic
from typing import Any

from attrs import define, field

from citekit.adapters.drivers.child_process import Line
from citekit.adapters.drivers.confinement import held_of_limit, limit_output
from citekit.domain.errors import CiteKitError
from citekit.domain.progress import Progress
from citekit.wire.failures import to_plain_error
from citekit.wire.parsed import as_message, message_from

IDLE = 600.0
"""Seconds without work after which a child ends, and its memory is free."""

WORN = 0.25
"""Of the memory that a child may hold: one that still holds more after its work makes room for a fresh one."""

REPORT_EVERY = 0.05
"""Seconds between two reports of progress, at least."""

Work = Callable[[Mapping[str, Any], Progress], Any]
"""Does what a request asks; gives plain data."""


def serve(line: Line, work: Work) -> None:
    """Answer requests until the parent ends, none came for `IDLE` seconds, or files have left too much behind in memory."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for who asked, and decides what becomes of the work
    while (message := _next(line)) is not None:
        asked = message_from(message)
        limit_output(asked["output"])
        line.send(as_message(_answer(asked, work, Reports(line))))
        if held_of_limit() > WORN:
            return


def _next(line: Line) -> bytes | None:
    try:
        return line.receive(IDLE)
    except EOFError:
        return None


def _answer(asked: Mapping[str, Any], work: Work, progress: Progress) -> dict[str, Any]:
    try:
        return {"done": work(asked, progress)}
    except (CiteKitError, MemoryError, OSError) as error:
        short = _shortage(error, asked["output"])
        if short is not None:
            return {"short": short}
        if isinstance(error, CiteKitError):
            return {"failed": to_plain_error(error)}
        return {"broken": traceback.format_exc()}
    except Exception:
        return {"broken": traceback.format_exc()}


def _shortage(error: BaseException, output: int) -> str | None:
    """What of the limits made the work fail, as a part of a sentence, or None."""
    causes = list(_causes(error))
    if any(isinstance(each, MemoryError) for each in causes):
        return "it takes more memory than is allowed (CITEKIT_PARSER_MEMORY allows more)"
    if any(getattr(each, "errno", None) == errno.EFBIG for each in causes):
        return f"it would make a file of more than {output} bytes (CITEKIT_CACHE_LIMIT allows more)"
    return None


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


@define
class Reports:
    """A `Progress` that tells the parent, not too often."""

    _line: Line
    _due: float = field(default=0.0, init=False)

    def __call__(self, done: float, total: float | None = None, message: str = "") -> None:
        """See `Progress`."""
        now = monotonic()
        if now >= self._due:
            self._due = now + REPORT_EVERY
            self._line.send(as_message({"progress": [done, total, message]}))
