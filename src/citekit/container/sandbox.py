"""Creates the pool of worker processes of a home, with their limits and what they may access."""

from __future__ import annotations

import logging
import os
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from shlex import quote
from typing import TYPE_CHECKING

from citekit.container.names import INDEX
from citekit.domain.errors import DriverMissing

if TYPE_CHECKING:
    from citekit.adapters.libraries.sqlite.key_value_cache import Index
    from citekit.adapters.sandbox.worker_pool import WorkerPool
    from citekit.domain.ports.transcriber import Transcriber
    from citekit.settings import Settings

_CODE = "from citekit.container.worker_main import main; main()"
_LEAST_OUTPUT = 1_000_000_000

_log = logging.getLogger(__name__)


def is_possible() -> bool:
    """Return whether this process can start workers. If not, log a warning.

    Windows, frozen programs (such as those made by PyInstaller), and embedded interpreters are not supported.
    """
    if os.name == "posix" and sys.executable and not getattr(sys, "frozen", False):
        return True
    _log.warning(
        "Files are parsed in the main process, without a sandbox. A sandbox is not available on Windows, in programs made by "
        "PyInstaller and similar tools, or in embedded interpreters."
    )
    return False


def worker_pool_of(
    settings: Settings,
    index: Index,
    *,
    run_ffmpeg: bool = False,
    asked_transcriber: Callable[[], Transcriber | None] = lambda: None,
) -> WorkerPool:
    """Return the worker pool of a home, without starting a worker.

    With `run_ffmpeg`, workers may run ffmpeg. `index` stores which files exceeded their resource limits.
    `asked_transcriber` returns the transcriber that asks a service, or None.
    """
    from citekit.adapters.sandbox.budget import Allowance
    from citekit.adapters.sandbox.refusals import Refusals
    from citekit.adapters.sandbox.worker_pool import Limits, WorkerPool
    from citekit.adapters.system.child_process import python

    limits = Limits(
        seconds=settings.parser_timeout,
        output=max(settings.cache_limit, _LEAST_OUTPUT),
        allowance=Allowance(settings.parser_cpu, settings.parser_file_memory, settings.parser_memory),
    )
    return WorkerPool(
        lambda: python(_CODE),
        lambda: _said_to(settings, _ffmpeg() if run_ffmpeg else [], asked_transcriber()),
        limits,
        state=lambda: [_which(folder) for folder in _writable(settings)],
        refusals=Refusals(index, home_option=f" --home {quote(str(settings.home.absolute()))}"),
    )


def _writable(settings: Settings) -> list[str]:
    return [str(settings.cache_folder), tempfile.gettempdir()]


def _which(folder: str) -> tuple[int, int] | None:
    """Return the device and inode numbers that identify a folder, even if another one takes its name; None if they
    cannot be read.
    """
    try:
        status = os.stat(folder)  # noqa: PTH116 - looked at for every request
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _said_to(settings: Settings, programs: Sequence[str], asked: Transcriber | None) -> Mapping[str, object]:
    """Return the keyword arguments for `worker_main._serve_parent`, after creating the cache folder if necessary.

    `asked` is the transcriber of this process that asks a service, or None.
    """
    from citekit.adapters.system.home_files import make_folder

    cache = settings.cache_folder
    with suppress(OSError):  # a folder that cannot be written is reported when evidence is stored
        make_folder(cache)
    return {
        "index_folder": str(cache / INDEX),
        "password": settings.password,
        "ocr": settings.ocr,
        "speech": None
        if not settings.speech
        else {
            "model": settings.speech_model,
            "language": settings.speech_language,
            "folder": str(settings.models_folder),
            "speakers": "on" if settings.speakers else "",
            **({} if asked is None else {"name": asked.name, "version": asked.version}),
        },
        "memory": settings.parser_memory,
        "writable": _writable(settings),
        "programs": list(programs),
    }


def _ffmpeg() -> list[str]:
    from citekit.adapters.libraries.ffmpeg import program

    try:
        return [program()]
    except DriverMissing:
        return []
