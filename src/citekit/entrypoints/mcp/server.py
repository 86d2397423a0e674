"""Serves one home to one client over standard input and output, until the client leaves or a signal comes."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from typing import Any

import anyio
from mcp.server.lowlevel import Server

from citekit.bootstrap import App
from citekit.entrypoints.mcp.handlers import build_server
from citekit.entrypoints.mcp.stdio import Wire, claim, stdio
from citekit.entrypoints.mcp.workers import Workers

TURN = 0.001
"""Seconds after which a busy thread lets another one on: a look into a map does not wait the usual 5 ms for it."""

GRACE = 5.0
"""Seconds that an extraction has to notice that the server ends; then it ends without it. Nothing torn remains."""


def serve(app: App) -> None:
    """Speak MCP until the input ends, or SIGINT or SIGTERM comes. Standard output is the client's from here on."""
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="citekit: %(levelname)s: %(message)s")
    if sys.stdin is not None and sys.stdin.isatty():
        sys.stderr.write(
            "citekit speaks MCP on standard input and output; start it from an MCP client. Ctrl-C ends it.\n"
        )
    sys.setswitchinterval(TURN)
    # gc.freeze()  # what was imported stays until the end: no collection need look through it
    wire, workers = Wire(*claim()), Workers()
    anyio.run(_session, build_server(app, workers), wire)
    if workers.busy:
        _end_after(GRACE)


async def _session(server: Server[Any], wire: Wire) -> None:
    async with anyio.create_task_group() as tasks:
        if threading.current_thread() is threading.main_thread():
            tasks.start_soon(_end_on_signal, tasks.cancel_scope)
        async with stdio(wire) as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())
        tasks.cancel_scope.cancel()


async def _end_on_signal(scope: anyio.CancelScope) -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _ in signals:
            scope.cancel()
            return


def _end_after(seconds: float) -> None:
    timer = threading.Timer(seconds, os._exit, (0,))
    timer.daemon = True
    timer.start()
