"""Implements the stdio transport: one JSON-RPC message per line on standard input and output.

The SDK's own transport reads in a thread that a signal cannot interrupt. Here, the reader is a daemon thread, which
does not keep the process alive.
"""

from __future__ import annotations

import json
import logging
import os
import re
import select
import sys
import threading
from array import array
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from itertools import islice

import anyio
from anyio import from_thread, to_thread
from anyio.lowlevel import EventLoopToken, current_token
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from attrs import define, field, frozen
from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    jsonrpc_message_adapter,
)

from citekit.entrypoints.mcp.response_bypass import Parcels

MESSAGE_LIMIT = 16 * 1024 * 1024
"""The maximum size of a message in bytes. A larger one ends the session."""

AT_ONCE = 4096
"""The number of bytes that a ready pipe accepts without blocking (`PIPE_BUF`, 4096 on Linux)."""

PIPE_SIZE = 1024 * 1024
"""The requested size of the output pipe in bytes, which Linux permits without privileges. Most answers fit in it."""

LAST_ANSWERS = 10.0
"""The time in seconds that calls have after the input has ended."""

Incoming = MemoryObjectReceiveStream[SessionMessage | Exception]
Outgoing = MemoryObjectSendStream[SessionMessage]

_log = logging.getLogger(__name__)

NESTING_LIMIT = 200
"""The maximum nesting depth that the SDK's parser (`jiter`) accepts."""

TOKEN_LIMIT = 500_000
"""The maximum number of tokens that are read in an invalid line, in about a second."""

_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|"|[\[{]+|[\]}]+|[:,]|[^\s"\[\]{}:,]+', re.DOTALL)
"""A token of JSON. A run of brackets is one token, so that a line of brackets is read quickly."""


def claim() -> tuple[int, int]:
    """Take over standard input and output, and return private file descriptors (input, output) for them.

    Descriptor 0 becomes the null device, and descriptor 1 standard error, so that output of libraries does not reach
    the client.
    """
    wire = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:
        os.dup2(nothing, 1)
    os.close(nothing)
    _widen(wire[1])
    if sys.stdout is not None:
        sys.stdout.flush()
    return wire


@define
class Wire:
    """The connection of a session, with the requests that await a response."""

    source: int
    sink: int
    parcels: Parcels = field(factory=Parcels)
    at_end: list[Callable[[], None]] = field(factory=list)
    """Functions that are called in the event loop when the input has ended, to end open requests."""
    _owed: set[str | int] = field(factory=set, init=False)
    _settled: anyio.Event = field(factory=anyio.Event, init=False)
    _failed: bool = field(default=False, init=False)
    is_stuck: bool = field(default=False, init=False)
    """Whether a thread is blocked because the client does not read."""

    def lines(self) -> Iterator[bytes]:
        """Yield the lines of the input without their line ends, up to its end or a line of more than `MESSAGE_LIMIT`
        bytes.
        """
        held = bytearray()
        while chunk := os.read(self.source, 1 << 16):
            *whole, rest = chunk.split(b"\n")
            for line in whole:
                held += line
                yield bytes(held)
                held.clear()
            held += rest
            if len(held) > MESSAGE_LIMIT:
                _log.error("A message is larger than the limit of %d bytes, so the session is closed", MESSAGE_LIMIT)
                return
        if held:
            yield bytes(held)

    async def write(self, message: SessionMessage) -> None:
        """Write a message. Raise `OSError` if the client has closed the connection."""
        ours = isinstance(message.message, JSONRPCRequest)  # its id is the server's own, not that of a client's request
        answered = None if ours else getattr(message.message, "id", None)
        data = message.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
        if answered is not None:
            data = self.parcels.filled(answered, data)
        try:
            if len(data) <= _room(self.sink):
                os.write(self.sink, data)
            else:
                await to_thread.run_sync(self._write_all, data, abandon_on_cancel=True)
        except OSError:
            self._failed = True
            raise
        finally:
            self.settle(answered)

    def _write_all(self, data: bytes) -> None:
        self.is_stuck = True
        try:
            _write_all(self.sink, data)
        finally:
            self.is_stuck = False

    def owe(self, request: str | int) -> None:
        """Record that a request was read and must be answered."""
        self._owed.add(request)
        self.parcels.expect(request)

    def settle(self, request: str | int | None) -> None:
        """Record that the request with this ID was answered or canceled."""
        if request is not None:
            self._owed.discard(request)
            self.parcels.drop(request)
        self._settled.set()
        self._settled = anyio.Event()

    async def until_settled(self) -> None:
        """Wait until all requests are answered or the client closes the connection, but at most `LAST_ANSWERS` seconds."""
        with anyio.move_on_after(LAST_ANSWERS):
            while self._owed and not self._failed and not _hung_up(self.sink):
                with anyio.move_on_after(0.1):
                    await self._settled.wait()


@asynccontextmanager
async def stdio(wire: Wire) -> AsyncIterator[tuple[Incoming, Outgoing]]:
    """Provide the incoming and outgoing message streams of a session in an `async with` block.

    The block is canceled if the client no longer reads.
    """
    to_server, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, to_client = anyio.create_memory_object_stream[SessionMessage](0)
    token = current_token()
    threading.Thread(target=_read, args=(wire, to_server, outgoing.clone(), token), name="wire", daemon=True).start()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_writer, wire, to_client, tasks.cancel_scope)
        yield incoming, outgoing
        tasks.cancel_scope.cancel()


async def _writer(wire: Wire, messages: MemoryObjectReceiveStream[SessionMessage], scope: anyio.CancelScope) -> None:
    try:
        async with messages:
            async for message in messages:
                await wire.write(message)
    except OSError as error:
        _log.info("The client no longer reads the output: %s", error)
        scope.cancel()


def _read(
    wire: Wire, to_server: MemoryObjectSendStream[SessionMessage | Exception], back: Outgoing, token: EventLoopToken
) -> None:
    """Pass the input lines to the server until the input or the server ends. Runs in a separate thread."""
    try:
        for line in wire.lines():
            if line.strip():
                from_thread.run(_deliver, wire, line, to_server, back, token=token)
        from_thread.run(_end, wire, to_server, back, token=token)
    except (anyio.BrokenResourceError, anyio.ClosedResourceError, RuntimeError):
        return  # the server has ended first
    except OSError as error:
        _log.warning("Cannot read the input: %s", error)


async def _deliver(
    wire: Wire, line: bytes, to_server: MemoryObjectSendStream[SessionMessage | Exception], back: Outgoing
) -> None:
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        await back.send(SessionMessage(await _refusal(wire, line)))
        return
    match message:
        case JSONRPCRequest(id=request):
            wire.owe(request)
        case JSONRPCNotification(method="notifications/cancelled", params={"requestId": str() | int() as request}):
            wire.settle(request)
    await to_server.send(SessionMessage(message))


async def _refusal(wire: Wire, line: bytes) -> JSONRPCError:
    """Return the error response to an invalid line, with the ID of the request, if any."""
    refused = await to_thread.run_sync(
        refused_request,
        line,
        # in a thread, because a line can have 16 MB, and other calls must not wait
    )
    if refused is None:
        error = ErrorData(code=PARSE_ERROR, message="This line is not a valid JSON-RPC message.")
        return JSONRPCError(jsonrpc="2.0", id=None, error=error)
    wire.owe(refused.id)  # the client may have reused an id: the answer to the earlier request must stay expected
    error = ErrorData(code=INVALID_REQUEST, message=refused.reason)
    return JSONRPCError(jsonrpc="2.0", id=refused.id, error=error)


async def _end(wire: Wire, to_server: MemoryObjectSendStream[SessionMessage | Exception], back: Outgoing) -> None:
    back.close()
    for end in wire.at_end:
        end()
    await wire.until_settled()
    to_server.close()


def _room(sink: int) -> int:
    """Return the number of bytes that can be written to `sink` without blocking, or 0."""
    if not hasattr(select, "poll") or not _poll(sink, select.POLLOUT) & select.POLLOUT:
        return 0
    try:
        import fcntl
        import termios

        waiting = array("i", [0])
        fcntl.ioctl(sink, termios.FIONREAD, waiting)
        return AT_ONCE if waiting[0] else max(AT_ONCE, fcntl.fcntl(sink, fcntl.F_GETPIPE_SZ))
    except (ImportError, AttributeError, OSError):  # no pipe, or not on Linux
        return AT_ONCE


def _widen(sink: int) -> None:
    with suppress(ImportError, AttributeError, OSError):
        import fcntl

        fcntl.fcntl(sink, fcntl.F_SETPIPE_SZ, PIPE_SIZE)


def _hung_up(sink: int) -> bool:
    return hasattr(select, "poll") and bool(_poll(sink, 0) & (select.POLLERR | select.POLLNVAL))


def _poll(descriptor: int, events: int) -> int:
    poll = select.poll()
    poll.register(descriptor, events)
    return next((found for _, found in poll.poll(0)), 0)


def _write_all(sink: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(sink, left) :]


@frozen
class RefusedRequest:
    """A request that the parser rejected, with its JSON-RPC ID."""

    id: str | int
    is_nested_too_deeply: bool

    @property
    def reason(self) -> str:
        """The reason for the rejection, as a sentence for the client."""
        if self.is_nested_too_deeply:
            return f"The request is nested too deeply. Objects and arrays can have at most {NESTING_LIMIT} levels."
        return "The request is not a valid JSON-RPC request."


def refused_request(line: bytes) -> RefusedRequest | None:
    """Return the request in a line that the parser rejected, or None if it has no request with an ID.

    The search is not recursive, so deep nesting cannot overflow the stack.
    """
    members: dict[str | int | None, str | int | None] = {}
    depth = deepest = 0
    key: bytes | None = None
    value: bytes | None = None
    tokens = _TOKEN.finditer(line)
    for match in islice(tokens, TOKEN_LIMIT):
        token = match[0]
        match token[:1]:
            case b"{" | b"[":
                depth += len(token)
                deepest = max(deepest, depth)
            case b"}" | b"]":
                depth -= len(token)
            case b":" if depth == 1:
                key, value = value, None
            case b"," if depth == 1:
                members[_plain(key)] = _plain(value)
                key = value = None
            case _ if depth == 1:
                value = token
        if depth < 1:
            members[_plain(key)] = _plain(value)
            break
    else:
        if next(tokens, None) is None:
            return None  # the line ends inside of the object
    request = members.get("id")
    if depth < 0 or request is None or not isinstance(members.get("method"), str):
        return None
    return RefusedRequest(request, deepest > NESTING_LIMIT)


def _plain(token: bytes | None) -> str | int | None:
    """Return the value of a JSON token that is a string or an integer, or None."""
    try:
        value = None if token is None else json.loads(token)
    except ValueError:
        return None
    return value if isinstance(value, str) or type(value) is int else None
