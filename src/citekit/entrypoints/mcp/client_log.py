"""Sends log messages to a client that asked with `logging/setLevel` (protocol versions up to 2025-11-25)."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp_types import (
    EmptyResult,
    LoggingLevel,
    LoggingMessageNotification,
    LoggingMessageNotificationParams,
    SetLevelRequestParams,
)

from citekit.entrypoints.mcp.answers import told
from citekit.entrypoints.mcp.path_redaction import Discretion

SET_LEVEL = "logging/setLevel"

LEVELS: dict[LoggingLevel, int] = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "notice": logging.INFO + 5,
    "warning": logging.WARNING,
    "error": logging.ERROR,
    "critical": logging.CRITICAL,
    "alert": logging.CRITICAL + 5,
    "emergency": logging.CRITICAL + 10,
}


class ClientLog(logging.Handler):
    """Forwards log messages of CiteKit to the client, without tracebacks and forbidden paths, once the client has set a
    level.
    """

    def __init__(self, discreet: Discretion) -> None:
        """Create a handler. `discreet` removes paths from messages."""
        super().__init__()
        self._discreet = discreet
        self._session: ServerSession | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._sending: set[asyncio.Task[None]] = set()

    async def set_level(self, context: ServerRequestContext[Any, Any], params: SetLevelRequestParams) -> EmptyResult:
        """Set the level of the least severe messages that are forwarded."""
        self._session, self._loop = context.session, asyncio.get_running_loop()
        level = LEVELS[params.level]
        self.setLevel(level)
        log = logging.getLogger("citekit")
        log.setLevel(min(level, logging.WARNING))
        log.addHandler(self)
        return EmptyResult()

    def emit(self, record: logging.LogRecord) -> None:
        """Forward a message. Called in any thread."""
        if self._loop is not None:
            text = told(self._discreet(record.getMessage()))
            with suppress(RuntimeError):  # the event loop is closed
                self._loop.call_soon_threadsafe(self._start, _level_of(record.levelno), record.name, text)

    def _start(self, level: LoggingLevel, name: str, text: str) -> None:
        task = asyncio.ensure_future(self._send(level, name, text))
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)

    async def _send(self, level: LoggingLevel, name: str, text: str) -> None:
        if self._session is not None:
            params = LoggingMessageNotificationParams(level=level, logger=name, data=text)
            await self._session.send_notification(LoggingMessageNotification(params=params))


def _level_of(number: int) -> LoggingLevel:
    """Return the highest level of the protocol that is not above `number`."""
    return max((name for name, least in LEVELS.items() if least <= number), key=LEVELS.__getitem__, default="debug")
