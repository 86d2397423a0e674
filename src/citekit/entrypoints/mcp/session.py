"""Runs an MCP session."""

from __future__ import annotations

import signal
import threading
from typing import Any

import anyio
from mcp.server.lowlevel import NotificationOptions, Server

from citekit.container import Container
from citekit.entrypoints.mcp.handlers import build_server
from citekit.entrypoints.mcp.map_changes import MapChanges
from citekit.entrypoints.mcp.stdio import Wire, claim, stdio
from citekit.entrypoints.mcp.workers import Workers


def hold(app: Container) -> bool:
    """Serve one client until the session ends.

    Return whether a canceled call or a blocked write is still running in a thread.
    """
    wire, workers, changes = Wire(*claim()), Workers(), MapChanges(lambda: app.maps)
    wire.at_end.append(changes.close)
    anyio.run(_session, build_server(app, workers, wire.parcels, changes), wire, changes)
    return workers.busy > 0 or wire.is_stuck


async def _session(server: Server[Any], wire: Wire, changes: MapChanges) -> None:
    async with anyio.create_task_group() as tasks:
        if threading.current_thread() is threading.main_thread():
            tasks.start_soon(_end_on_signal, tasks.cancel_scope)
        tasks.start_soon(changes.watch)
        async with stdio(wire) as (incoming, outgoing):
            announced = NotificationOptions(resources_changed=True)
            await server.run(incoming, outgoing, server.create_initialization_options(announced))
        tasks.cancel_scope.cancel()


async def _end_on_signal(scope: anyio.CancelScope) -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _ in signals:
            scope.cancel()
            return
