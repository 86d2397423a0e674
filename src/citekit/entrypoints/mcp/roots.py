"""Gets the folders (roots) that a client offers, with the MCP request `roots/list`.

It exists up to protocol version 2025-11-25; in version 2026-07-28, servers send no requests, and roots are deprecated
(SEP-2577). Without it, only the owner's settings decide which folders may be read.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit
from urllib.request import url2pathname

import anyio
from attrs import define, field
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import ClientCapabilities, ListRootsRequest, ListRootsResult, NotificationParams, RootsCapability

ROOTS_CHANGED = "notifications/roots/list_changed"

PATIENCE = 5.0
"""The timeout in seconds for the client's response."""

MOST = 100
"""The maximum number of folders that are accepted from a client."""

_Context = ServerRequestContext[Any, Any]
_log = logging.getLogger(__name__)


class _Offers(Protocol):
    def offer(self, folders: Sequence[Path]) -> None: ...


@define
class ClientRoots:
    """Asks the client for its roots before its first tool call, and again after it reports a change.

    Each object in `folders` gets the roots.
    """

    folders: Sequence[_Offers]
    _known: bool = field(default=False, init=False)
    _asking: anyio.Lock = field(factory=anyio.Lock, init=False)

    async def learn(self, context: _Context) -> None:
        """Ask the client for its roots if they are not known yet. Without an answer, it offers no folders."""
        if self._known:
            return
        async with self._asking:
            if not self._known:
                self._known = True
                self._offer(await _asked(context))

    async def changed(self, _: _Context, __: NotificationParams | None) -> None:
        """Discard the folders that the client offered, and ask again at the next call."""
        self._known = False
        self._offer(())

    def _offer(self, roots: Sequence[Path]) -> None:
        for each in self.folders:
            each.offer(roots)


async def _asked(context: _Context) -> Sequence[Path]:
    session = context.session
    offers = session.check_client_capability(ClientCapabilities(roots=RootsCapability()))
    if not offers or not session.can_send_request:
        return ()
    try:
        with anyio.fail_after(PATIENCE):
            answer = await session.send_request(ListRootsRequest(), ListRootsResult)
    except (MCPError, TimeoutError, ValueError) as error:
        reason = "no answer in time" if isinstance(error, TimeoutError) else error
        _log.warning("The client did not report its roots: %s", reason)
        return ()
    return list(_folders(answer))


def _folders(answer: ListRootsResult) -> Iterator[Path]:
    for root in answer.roots[:MOST]:
        path = folder_of(str(root.uri))
        if path is not None:
            yield path


def folder_of(uri: str) -> Path | None:
    """Return the local folder that a `file` URI (RFC 8089) names, or None."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    if parts.scheme != "file" or parts.netloc not in ("", "localhost") or parts.query or parts.fragment:
        return None
    path = Path(url2pathname(parts.path))
    if "\0" in str(path) or not path.is_absolute() or path.drive.startswith("\\\\") or str(path).startswith("//"):
        return None
    try:
        return path if os.path.isdir(path) else None  # noqa: PTH112 - never raises
    except ValueError:
        return None
