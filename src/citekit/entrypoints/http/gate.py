"""An ASGI application in front of the MCP servers, which admits known subjects."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import AsyncIterator, Callable, Mapping

import anyio
from anyio import to_thread
from attrs import define, field
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from citekit.application.admit_subject import AdmitSubject
from citekit.application.evidence_content import EvidenceContent
from citekit.domain.errors import CiteKitError, IssuerUnavailable, ReceiptMissing, TokenInvalid
from citekit.domain.evidence import Receipt
from citekit.domain.phrases import counted
from citekit.domain.subject import READ, SCOPES, Subject
from citekit.entrypoints.http.limits import Budget, Limits
from citekit.entrypoints.http.links import PATH, EvidenceLinks
from citekit.entrypoints.http.options import MCP_PATH, HttpOptions
from citekit.entrypoints.http.subject_servers import SubjectServers

BODY_LIMIT = 4 * 2**20
"""The maximum size of a request in bytes."""

BODY_SECONDS = 30.0
"""The time in seconds in which the body of a request must arrive."""

REFUSALS = 60.0
"""The maximum number of refused tokens recorded per minute, so that unknown clients cannot fill the disk."""

RECHECK = 5.0
"""The time in seconds between two checks of the subject of a long request."""

LINK_SECONDS = 300
"""The time in seconds for which a link to the shared store is valid; it cannot be revoked."""

METADATA = "/.well-known/oauth-protected-resource"
CHUNK = 2**20

_SECURITY = [
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'; sandbox"),
    (b"referrer-policy", b"no-referrer"),
]
_ALLOWED = "authorization, content-type, mcp-protocol-version, mcp-method, mcp-name, last-event-id, range, if-range"
_READABLE = b"www-authenticate, retry-after, content-range, accept-ranges, content-disposition, etag"
"""The response headers that pages of allowed origins may read. `_ALLOWED` are the request headers that they send."""
_VARY = (b"vary", b"Origin")

_WRONG_HOST = (
    "This server does not accept requests with this Host header. Its operator sets the URL for clients with the option "
    "--public-url of citekit serve."
)
_WRONG_ORIGIN = (
    "Requests from pages of this origin are refused. The operator of the server can allow the origin with the option "
    "--allow-origin of citekit serve."
)
_UNRECORDED = (
    "The request could not be recorded in the audit log, so it is refused. Tell the operator of the server: its log says "
    "why."
)
_log = logging.getLogger(__name__)

_RANGE = re.compile(r"bytes=\s*(\d{0,18})-(\d{0,18})\s*", re.ASCII | re.IGNORECASE)


@define
class Gate:
    """Answers requests to the MCP server, to evidence, and to the metadata of the protected resource.

    If `admit` is None, requests need no token and belong to the subject `local`. `others` answers requests for other
    paths.
    """

    options: HttpOptions
    servers: SubjectServers
    links: EvidenceLinks
    limits: Limits
    audit: Callable[[Mapping[str, object]], None]
    admit: AdmitSubject | None = None
    local: Subject | None = None
    others: ASGIApp | None = None
    _hosts: frozenset[str] = field(init=False)
    _origins: frozenset[str] = field(init=False)
    _of_issuer: anyio.CapacityLimiter = field(factory=lambda: anyio.CapacityLimiter(4), init=False)
    """Limits the threads that wait for the issuer, so that a slow issuer does not delay other requests."""
    _refusals: Budget = field(factory=lambda: Budget(REFUSALS), init=False)

    @_hosts.default
    def _accepted_hosts(self) -> frozenset[str]:
        return self.options.hosts

    @_origins.default
    def _accepted_origins(self) -> frozenset[str]:
        return self.options.accepted_origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        headers, path = Headers(scope=scope), scope["path"]
        if headers.get("host", "").casefold() not in self._hosts:
            await _plain(_WRONG_HOST, 421)(scope, receive, send)
            return
        if self.others is not None and not _is_ours(path):
            await self.others(scope, receive, send)
            return
        origin = headers.get("origin")
        if origin is not None and origin not in self._origins:
            await _plain(_WRONG_ORIGIN, 403)(scope, receive, send)
            return
        send = _secured(send)
        if origin in self.options.origins:
            if scope["method"] == "OPTIONS" and "access-control-request-method" in headers:
                await _preflight(origin)(scope, receive, send)
                return
            send = _shared(send, origin)
        await self._routed(scope, receive, send, headers, path)

    async def _routed(self, scope: Scope, receive: Receive, send: Send, headers: Headers, path: str) -> None:
        if path == "/health":
            await _plain("ok", 200)(scope, receive, send)
        elif path in (METADATA, METADATA + MCP_PATH) and self.options.issuer is not None:
            await JSONResponse(self._metadata())(scope, receive, send)
        elif path.startswith(PATH):
            await (await self._evidence(scope, path.removeprefix(PATH), headers))(scope, receive, send)
        elif path == MCP_PATH:
            await self._mcp(scope, receive, send, headers)
        else:
            await _plain("There is nothing at this path. The MCP server is at /mcp.", 404)(scope, receive, send)

    async def _mcp(self, scope: Scope, receive: Receive, send: Send, headers: Headers) -> None:
        token = _bearer(headers)
        subject = await self._admitted(scope, token)
        if isinstance(subject, Response):
            await subject(scope, receive, send)
            return
        wait = self.limits.enter(subject.name)
        if wait:
            refused = _failed("rate_limited", "Too many requests. Try again later.", 429)
            refused.headers["retry-after"] = str(int(wait) + 1)
            await refused(scope, receive, send)
            return
        try:
            await self._passed(subject, token, scope, receive, send, headers)
        finally:
            self.limits.leave(subject.name)

    async def _passed(
        self, subject: Subject, token: str, scope: Scope, receive: Receive, send: Send, headers: Headers
    ) -> None:
        if scope["method"] != "POST":
            refused = _failed("method_not_allowed", "This server has no sessions: send requests with POST.", 405)
            refused.headers["allow"] = "POST"
            await refused(scope, receive, send)
            return
        body = await _body(receive, headers)
        if isinstance(body, Response):
            await body(scope, receive, send)
            return
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._watch, token, tasks.cancel_scope)
            await self.servers.answer(subject, scope, _replayed(body, receive), send)
            tasks.cancel_scope.cancel()

    async def _watch(self, token: str, scope: anyio.CancelScope) -> None:
        """End a request whose token is no longer valid."""
        while self.admit is not None:
            await anyio.sleep(RECHECK)
            try:
                await to_thread.run_sync(self.admit, token, limiter=self._limiter(token))
            except IssuerUnavailable:
                continue
            except CiteKitError:
                scope.cancel()

    def _limiter(self, token: str) -> anyio.CapacityLimiter | None:
        """Return the limiter for a token that may be from the issuer; None for the tokens of `citekit token`."""
        return self._of_issuer if token.count(".") == 2 else None

    async def _admitted(self, scope: Scope, token: str) -> Subject | Response:
        if self.admit is None:
            return self.local or _failed("invalid_token", "The request has no subject.", 401)
        if not token:
            return self._challenge("", "A token is required. Send exactly one header Authorization: Bearer TOKEN.", 401)
        try:
            subject = await to_thread.run_sync(self.admit, token, limiter=self._limiter(token))
        except TokenInvalid as error:
            self._record_refusal(scope, str(error))
            return self._challenge("invalid_token", str(error), 401)
        except IssuerUnavailable as error:
            _log.error("%s", error)
            refused = _failed(
                "temporarily_unavailable", "Tokens cannot be checked at the moment. Try again later.", 503
            )
            refused.headers["retry-after"] = "30"
            return refused
        except CiteKitError as error:
            _log.error("%s", error)
            return _failed(
                "server_error", "The server cannot check tokens. For the reason, see the log of the server.", 503
            )
        if not subject.may(READ):
            return self._challenge("insufficient_scope", "The token does not have the scope 'read'.", 403)
        return subject

    def _record_refusal(self, scope: Scope, reason: str) -> None:
        if self._refusals.take():
            return
        client = scope.get("client")
        try:
            self.audit({"refused": reason, "client": client[0] if client else None})
        except OSError as error:
            _log.error("The audit log cannot be written: %s", error)

    def _challenge(self, code: str, text: str, status: int) -> Response:
        """Return a refusal with the challenge of RFC 6750 and, if there is an issuer, the metadata's URL (RFC 9728)."""
        refused = _failed(code or "unauthorized", text, status)
        parts = [f'error="{code}"', f'error_description="{text}"'] if code else []
        if code == "insufficient_scope":
            parts.append('scope="read"')
        if self.options.issuer is not None:
            parts.append(f'resource_metadata="{self.options.public_url.rstrip("/")}{METADATA}{MCP_PATH}"')
        refused.headers["www-authenticate"] = "Bearer " + ", ".join(parts) if parts else "Bearer"
        return refused

    def _metadata(self) -> Mapping[str, object]:
        return {
            "resource": self.options.public_url.rstrip("/") + MCP_PATH,
            "authorization_servers": [self.options.issuer],
            "scopes_supported": list(SCOPES),
            "bearer_methods_supported": ["header"],
            "resource_name": "CiteKit",
        }

    async def _evidence(self, scope: Scope, name: str, headers: Headers) -> Response:
        """Return the evidence or a part of it, a redirect, or a refusal."""
        if scope["method"] not in ("GET", "HEAD"):
            return PlainTextResponse("Links accept only GET and HEAD.\n", 405, headers={"allow": "GET, HEAD"})
        found = self.links.read(name)
        try:
            subject = None if found is None else await to_thread.run_sync(self._named, found[0])
        except CiteKitError as error:
            _log.error("%s", error)
            return _plain("The server cannot check this link. For the reason, see the log of the server.", 503)
        if found is None or subject is None:
            return _plain("This link has expired or is not valid. Call resolve again for a new one.", 403)
        wait = self.limits.enter(subject.name)
        if wait:
            return _plain("Too many requests. Try again later.", 429)
        try:
            app = (await self.servers.of(subject)).app
            content = app.evidence_content
            receipt = await to_thread.run_sync(content.permitted, found[1])
            link = await to_thread.run_sync(self._link, content, receipt) if scope["method"] == "GET" else None
            if link is None:
                receipt = await to_thread.run_sync(content.receipt, found[1])
            entry = {"subject": subject.name, "downloaded": found[1].hex, "address": str(receipt.address)}
            try:
                self.audit(entry if link is None else {**entry, "redirected": True})
            except OSError as error:
                _log.error("The audit log cannot be written: %s", error)
                return _plain(_UNRECORDED, 503)
        except ReceiptMissing:
            return _plain("The evidence is no longer in the cache. Call resolve again.", 404)
        except (CiteKitError, OSError) as error:
            _log.error("The evidence cannot be read: %s", error)
            return _plain("The evidence cannot be read now. Try again later, or call resolve again.", 503)
        finally:
            self.limits.leave(subject.name)
        if link is not None:
            return RedirectResponse(link, 307)

        size, tag = receipt.evidence_size, f'"{receipt.evidence_digest.hex}"'
        partial = scope["method"] == "GET" and headers.get("if-range", tag) == tag
        wanted = wanted_range(headers.get("range"), size) if partial else None
        if wanted is not None and not wanted:
            refused = _plain(f"The requested range is outside the evidence, which has {counted(size, 'byte')}.", 416)
            refused.headers["content-range"] = f"bytes */{size}"
            return refused
        sent = range(size) if wanted is None else wanted

        async def pieces() -> AsyncIterator[bytes]:
            for start in range(sent.start, sent.stop, CHUNK):
                yield await to_thread.run_sync(content.read, receipt, start, min(start + CHUNK, sent.stop))

        described = {
            "content-length": str(len(sent)),
            "content-disposition": _attachment(receipt),
            "accept-ranges": "bytes",
            "etag": tag,
        }
        if wanted is not None:
            described["content-range"] = f"bytes {sent.start}-{sent.stop - 1}/{size}"
        status = 200 if wanted is None else 206
        return StreamingResponse(pieces(), status, media_type=receipt.media_type, headers=described)

    def _link(self, content: EvidenceContent, receipt: Receipt) -> str | None:
        """Return a link to evidence in the shared store, or None if this server must send the bytes.

        A server that is reached over HTTPS does not redirect to a link without encryption.
        """
        if not self.options.settings.store_links:
            return None
        link = content.link(receipt, LINK_SECONDS)
        is_safe = link is not None and (link.startswith("https:") or self.options.public_url.startswith("http:"))
        return link if is_safe else None

    def _named(self, name: str) -> Subject | None:
        return self.local if self.admit is None else self.admit.named(name)


def _is_ours(path: str) -> bool:
    return path in (MCP_PATH, "/health") or path.startswith((PATH, METADATA))


def _bearer(headers: Headers) -> str:
    """Return the bearer token of the request, or an empty text, also if there are several `Authorization` headers."""
    given = headers.getlist("authorization")
    scheme, _, token = (given[0] if len(given) == 1 else "").partition(" ")
    return token.strip() if scheme.casefold() == "bearer" else ""


async def _body(receive: Receive, headers: Headers) -> bytes | Response:
    too_large = _failed("too_large", f"A request can have at most {BODY_LIMIT >> 20} MB.", 413)
    declared = headers.get("content-length", "0")
    if declared.isascii() and declared.isdecimal() and int(declared[:20]) > BODY_LIMIT:
        return too_large
    body = bytearray()
    with anyio.move_on_after(BODY_SECONDS):
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return _failed("disconnected", "The client disconnected.", 400)
            body += message.get("body", b"")
            if len(body) > BODY_LIMIT:
                return too_large
            if not message.get("more_body", False):
                return bytes(body)
    return _failed("timeout", f"The request did not arrive within {BODY_SECONDS:.0f} seconds.", 408)


def _replayed(body: bytes, receive: Receive) -> Receive:
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed() -> Message:
        return messages.pop() if messages else await receive()

    return replayed


def _secured(send: Send) -> Send:
    async def secured(message: Message) -> None:
        if message["type"] == "http.response.start":
            present = {name for name, _ in message["headers"]}
            message["headers"] = [*message["headers"], *(each for each in _SECURITY if each[0] not in present)]
        await send(message)

    return secured


def _preflight(origin: str) -> Response:
    """Return the permission that a browser asks for before a request from an allowed origin (CORS)."""
    return Response(
        status_code=204,
        headers={
            "access-control-allow-origin": origin,
            "access-control-allow-methods": "GET, HEAD, POST",
            "access-control-allow-headers": _ALLOWED,
            "access-control-max-age": "600",
            "vary": "Origin",
        },
    )


def _shared(send: Send, origin: str) -> Send:
    """Return `send` with headers that let allowed origins read the answer."""

    async def shared(message: Message) -> None:
        if message["type"] == "http.response.start":
            named = (b"access-control-allow-origin", origin.encode("latin-1", "replace"))
            message["headers"] = [*message["headers"], named, (b"access-control-expose-headers", _READABLE), _VARY]
        await send(message)

    return shared


def _failed(code: str, text: str, status: int) -> Response:
    data = json.dumps({"error": code, "error_description": text})
    headers = {"connection": "close"} if status in (408, 413) else None
    return Response(data, status, headers=headers, media_type="application/json")


def _plain(text: str, status: int) -> Response:
    return PlainTextResponse(text + "\n", status)


def _attachment(receipt: Receipt) -> str:
    _, _, kind = receipt.media_type.partition(";")[0].partition("/")
    ending = "".join(letter for letter in kind if letter.isalnum())[:10] or "bin"
    return f'attachment; filename="{receipt.evidence_digest.hex[:16]}.{ending}"'


def wanted_range(header: str | None, size: int) -> range | None:
    """Return the bytes that the header `Range` (RFC 9110, section 14) requests, or None for the whole file.

    The range is empty if no byte of the file is in it. Invalid ranges, several ranges, and units other than bytes are
    ignored.
    """
    found = _RANGE.fullmatch(header or "")
    if found is None or not (found[1] or found[2]):
        return None
    if not found[1]:
        return range(max(0, size - int(found[2])), size)
    first, last = int(found[1]), int(found[2]) if found[2] else size - 1
    if found[2] and last < first:
        return None  # not a valid range
    return range(first, min(last + 1, size))
