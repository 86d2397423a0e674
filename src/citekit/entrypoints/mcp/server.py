"""Serves one home to one client over standard input and output. Importing this costs nothing; serving imports the SDK."""

from __future__ import annotations

import gc
import logging
import os
import sys
import threading
from typing import TYPE_CHECKING, TextIO

from citekit.domain.unicode_controls import printable

if TYPE_CHECKING:
    from citekit.container import Container

TURN = 0.001
"""Seconds after which a busy thread lets another one on: a look into a map does not wait the usual 5 ms for it."""

GRACE = 5.0
"""Seconds that an extraction has to notice that the server ends; then it ends without it. Nothing torn remains."""


def serve(app: Container) -> None:
    """Speak MCP until the input ends, or SIGINT or SIGTERM comes. Standard output is the client's from here on."""
    _log_to(sys.stderr)
    if sys.stdin is not None and sys.stdin.isatty():
        sys.stderr.write(
            "citekit is serving MCP on standard input and output. Start it from an MCP client. Press Ctrl-C to stop.\n"
        )
    sys.setswitchinterval(TURN)
    gc.disable()  # the SDK is some 600 modules: collecting among them makes a sixth of the start, and half of the end
    from citekit.entrypoints.mcp.session import hold

    gc.freeze()
    gc.enable()
    if hold(app):
        _end_after(GRACE)


def _log_to(stream: TextIO) -> None:
    """Warnings and errors on `stream`: each message in one line, so that words of a file cannot pass for another."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(_OneLine("citekit: %(levelname)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])


class _OneLine(logging.Formatter):
    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the standard library's name
        return printable(super().formatMessage(record))


def _end_after(seconds: float) -> None:
    timer = threading.Timer(seconds, os._exit, (0,))
    timer.daemon = True
    timer.start()
