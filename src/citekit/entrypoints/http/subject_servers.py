"""Holds an MCP server with its own container for each subject."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping

import anyio
from anyio.abc import TaskGroup, TaskStatus
from attrs import define, field
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import Receive, Scope, Send

from citekit.container import Container
from citekit.domain.digest import Digest
from citekit.domain.subject import INGEST, Subject
from citekit.entrypoints.mcp.handlers import build_server
from citekit.entrypoints.mcp.map_changes import MapChanges
from citekit.entrypoints.mcp.remote import ClientPaths, Remote

OPEN = 32
"""The number of open servers above which idle ones are closed, the least recently used first."""


@define
class SubjectServer:
    """The MCP server of one subject, with the number of running requests, `using`."""

    app: Container
    manager: StreamableHTTPSessionManager
    changes: MapChanges
    using: int = 0
    ended: anyio.Event = field(factory=anyio.Event)


@define
class SubjectServers:
    """The open servers by subject. Used in one event loop.

    `open_home` returns the container of a subject, `link` a download link for evidence of the named subject, and
    `audit` records requests.
    """

    open_home: Callable[[Subject], Container]
    link: Callable[[str, Digest], str]
    audit: Callable[[Mapping[str, object]], None]
    body_limit: int
    _open: OrderedDict[object, SubjectServer] = field(factory=OrderedDict, init=False)
    _opening: anyio.Lock = field(factory=anyio.Lock, init=False)
    _tasks: TaskGroup | None = field(default=None, init=False)

    async def run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Keep servers open until the task is canceled."""
        async with anyio.create_task_group() as self._tasks:
            task_status.started()
            try:
                await anyio.sleep_forever()
            finally:
                for each in self._open.values():
                    _close(each)

    async def answer(self, subject: Subject, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer an MCP request of a subject."""
        server = await self.of(subject)
        server.using += 1
        try:
            await server.manager.handle_request(scope, receive, send)
        finally:
            server.using -= 1

    async def of(self, subject: Subject) -> SubjectServer:
        """Return the server of a subject, which is opened first if necessary. Raise `RuntimeError` if `run` has not
        begun.
        """
        key = subject.name, subject.home, subject.roots, subject.scopes, subject.store
        async with self._opening:
            if key not in self._open:
                if self._tasks is None:
                    raise RuntimeError("the server is not running")
                self._close_idle()
                self._open[key] = server = self._made(subject)
                await self._tasks.start(_hold, server)
            self._open.move_to_end(key)
            return self._open[key]

    def _made(self, subject: Subject) -> SubjectServer:
        app = self.open_home(subject)
        changes = MapChanges(lambda: app.maps)
        remote = Remote(
            ClientPaths(subject.home, subject.roots),
            lambda digest: self.link(subject.name, digest),
            lambda entry: self.audit({"subject": subject.name, **entry}),
            subject.may(INGEST),
        )
        server = build_server(app, changes=changes, remote=remote)
        manager = StreamableHTTPSessionManager(server, stateless=True, max_request_body_size=self.body_limit)
        return SubjectServer(app, manager, changes)

    def _close_idle(self) -> None:
        idle = [key for key, each in self._open.items() if not each.using]
        for key in idle[: max(0, len(self._open) + 1 - OPEN)]:
            _close(self._open.pop(key))


def _close(server: SubjectServer) -> None:
    server.ended.set()
    pool = server.app.made.get("workers")
    close = getattr(pool, "close", None)
    if close is not None:
        close()


async def _hold(server: SubjectServer, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
    async with anyio.create_task_group() as tasks, server.manager.run():
        tasks.start_soon(server.changes.watch)
        task_status.started()
        await server.ended.wait()
        server.changes.close()
        tasks.cancel_scope.cancel()
