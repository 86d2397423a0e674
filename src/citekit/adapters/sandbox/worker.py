"""Runs in a worker process of the sandbox: reads requests, does the work, and sends answers."""

from __future__ import annotations

import errno
import math
import re
import signal
import traceback
from collections.abc import Callable, Iterator, Mapping
from time import monotonic
from typing import Any

from attrs import define, field

from citekit.adapters.sandbox.confinement import allow_memory, allow_processor_time, held_of_limit, limit_output
from citekit.adapters.system.child_process import MESSAGE_LIMIT, Line
from citekit.domain.errors import CiteKitError
from citekit.domain.progress import Progress
from citekit.wire.errors import to_plain_error
from citekit.wire.worker_protocol import as_message, message_from

IDLE = 600.0
"""Seconds without a request after which a worker exits to free its memory."""

WORN = 0.25
"""Fraction of the memory limit. A worker that still uses more after a request exits and is replaced."""

REPORT_EVERY = 0.05
"""Minimum interval between two progress reports, in seconds."""

FILE_MEMORY, CHILD_MEMORY = "file memory", "child memory"
"""The limit that a request exceeded: the memory for its file, or the memory of the worker."""

_LOADING = ("failed to map segment", "cannot map zero-fill pages", "allocate memory", "out of memory")
_ALLOCATION = re.compile(r"\b(?:m|c|re)alloc\b.*\bfailed\b")

Work = Callable[[Mapping[str, Any], Progress], Any]
"""A function that performs a request and returns plain data."""


def serve(line: Line, work: Work, longest: int = MESSAGE_LIMIT) -> None:
    """Answer the requests of the parent process one after another, with messages of at most `longest` bytes.

    Return when the parent process exits, when no request arrives for `IDLE` seconds, or when too much memory is still
    in use after a request.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C
    while (message := _next(line)) is not None:
        asked = message_from(message)
        limit_output(asked["output"])
        memory = FILE_MEMORY if allow_memory(asked.get("memory")) else CHILD_MEMORY
        allow_processor_time(asked.get("seconds", math.inf))
        line.send(_written(_answer(asked, work, Reports(line), memory), longest, memory))
        if held_of_limit() > WORN:
            return


def _next(line: Line) -> bytes | None:
    try:
        return line.receive(IDLE)
    except EOFError:
        return None


def _answer(asked: Mapping[str, Any], work: Work, progress: Progress, memory: str) -> dict[str, Any]:
    """Do the work that is requested and return the answer, or a description of the error.

    `memory` names the memory limit that applies.
    """
    try:
        return {"done": work(asked, progress)}
    except Exception as error:
        if any(_is_out_of_memory(each) for each in _causes(error)):
            return {"spent": memory}
        if any(getattr(each, "errno", None) == errno.EFBIG for each in _causes(error)):
            return {
                "short": f"the output would exceed {asked['output']} bytes (to allow more, increase CITEKIT_CACHE_LIMIT)"
            }
        if isinstance(error, CiteKitError):
            return {"failed": to_plain_error(error)}
        return {"broken": traceback.format_exc()}


def _written(answer: dict[str, Any], longest: int, memory: str) -> bytes:
    """Return the answer as a message, or an error if it is longer than `longest` bytes.

    `memory` names the memory limit that applies.
    """
    try:
        message = as_message(answer)
    except MemoryError:
        return as_message({"spent": memory})
    if len(message) > longest:
        return as_message({"short": f"its content exceeds the limit of {longest} bytes"})
    return message


def _is_out_of_memory(error: BaseException) -> bool:
    """Return whether `error` is due to a lack of memory.

    Libraries that could not be loaded for this reason are recognized by the messages of glibc and MuPDF.
    """
    if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
        return True
    if isinstance(error, ImportError):
        return any(words in str(error) for words in _LOADING)
    return _ALLOCATION.search(str(error)) is not None


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


@define
class Reports:
    """A progress callback that sends reports to the parent process at a limited rate."""

    _line: Line
    _due: float = field(default=0.0, init=False)

    def __call__(self, done: float, total: float | None = None, message: str = "") -> None:
        """See `Progress`."""
        now = monotonic()
        if now >= self._due:
            self._due = now + REPORT_EVERY
            self._line.send(as_message({"progress": [done, total, message]}))
