"""Serves the maps of one home folder to one MCP client over standard input and output.

Only `serve` imports the MCP SDK, which is slow.
"""

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
"""The thread switch interval in seconds. With the default of 5 ms, lookups would wait for busy threads."""

GRACE = 5.0
"""The time in seconds that running extractions have when the server ends. No file is left incomplete, because writing
is atomic.
"""


def serve(app: Container) -> None:
    """Serve MCP until the input ends or the process receives SIGINT or SIGTERM.

    Only protocol messages are written to standard output.
    """
    _log_to(sys.stderr)
    if sys.stdin is not None and sys.stdin.isatty():
        sys.stderr.write(
            "citekit is serving MCP on standard input and output. Start it from an MCP client. Press Ctrl-C to stop.\n"
        )
    sys.setswitchinterval(TURN)
    gc.disable()  # importing the SDK (600 modules) with the collector on adds a sixth to the start, and doubles the shutdown
    from citekit.entrypoints.mcp.session import hold

    gc.freeze()
    gc.enable()
    if hold(app):
        _end_after(GRACE)


def _log_to(stream: TextIO) -> None:
    """Log warnings and errors to `stream`, one line per message, including its traceback.

    Line ends are escaped, so that text from a file cannot imitate a message.
    """
    handler = logging.StreamHandler(stream)
    handler.setLevel(logging.WARNING)  # a client can ask for more, but only for itself
    handler.setFormatter(_OneLine("citekit: %(levelname)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])


class _OneLine(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return printable(super().format(record))


def _end_after(seconds: float) -> None:
    timer = threading.Timer(seconds, os._exit, (0,))
    timer.daemon = True
    timer.start()
