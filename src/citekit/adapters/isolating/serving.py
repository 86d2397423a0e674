"""The child's side: reads a request, does it, answers; dies alone where a file makes it die."""

from __future__ import annotations

import errno
import signal
import traceback
from collections.abc import Callable, Iterator, Mapping
from time import monotonic
from typing import Any

from attrs import define, field

from citekit.adapters.drivers.child_process import MESSAGE_LIMIT, Line
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

_MEMORY = "it takes more memory than is allowed (CITEKIT_PARSER_MEMORY allows more)"
_LOADING = ("failed to map segment", "cannot map zero-fill pages", "allocate memory", "out of memory")

Work = Callable[[Mapping[str, Any], Progress], Any]
"""Does what a request asks; gives plain data."""


def serve(line: Line, work: Work, longest: int = MESSAGE_LIMIT) -> None:
    """Answer requests, in at most `longest` bytes each.

    Until the parent ends, none came for `IDLE` seconds, or files have left too much behind in memory.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for who asked, and decides what becomes of the work
    while (message := _next(line)) is not None:
        asked = message_from(message)
        limit_output(asked["output"])
        line.send(_written(_answer(asked, work, Reports(line)), longest))
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
    except (CiteKitError, MemoryError, OSError, ImportError) as error:
        short = _shortage(error, asked["output"])
        if short is not None:
            return {"short": short}
        if isinstance(error, CiteKitError):
            return {"failed": to_plain_error(error)}
        return {"broken": traceback.format_exc()}
    except Exception:
        return {"broken": traceback.format_exc()}


def _written(answer: dict[str, Any], longest: int) -> bytes:
    """The message; one that is longer than is read gives way to the reason."""
    try:
        message = as_message(answer)
    except MemoryError:
        return as_message({"short": _MEMORY})
    if len(message) > longest:
        return as_message({"short": f"what is in it takes more than {longest} bytes"})
    return message


def _shortage(error: BaseException, output: int) -> str | None:
    """What of the limits made the work fail, as a part of a sentence, or None."""
    causes = list(_causes(error))
    if any(isinstance(each, MemoryError) or _is_unloaded(each) for each in causes):
        return _MEMORY
    if any(getattr(each, "errno", None) == errno.EFBIG for each in causes):
        return f"it would make a file of more than {output} bytes (CITEKIT_CACHE_LIMIT allows more)"
    return None


def _is_unloaded(error: BaseException) -> bool:
    """Whether a library could not be loaded for want of memory, as glibc says that."""
    return isinstance(error, ImportError) and any(words in str(error) for words in _LOADING)


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
