"""Admits only the user's browser, and keeps content of files from running."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from hmac import compare_digest
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl, urlencode

from attrs import frozen
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from citekit.entrypoints.web.admission import CODE, Codes

TOKEN = "token"  # noqa: S105 - the name of the parameter
"""The parameter of a link that admits a browser."""

HELLO = "/hello"
"""The path at which a server proves its authenticity."""

NONCE_LIMIT = 100

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; media-src 'self'; "
    "connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The content security policy (CSP, level 3) of the viewer: only its own scripts run, and nothing loads from other
servers.
"""

DOCUMENT_POLICY = (
    "default-src 'none'; img-src data:; media-src data:; font-src data:; style-src 'unsafe-inline'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'self'; sandbox allow-same-origin"
)
"""The policy for content of files: it runs no scripts and loads nothing, but the viewer may read it to mark quotes."""

_SECURITY = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}
_YEAR = 365 * 24 * 3600
_REFUSED = (
    "The viewer needs the link that citekit view or citekit serve printed. To get another link, run: citekit view\n"
)


@frozen
class Access:
    """An ASGI middleware that accepts only requests from an admitted browser and from the viewer itself.

    The `token` or one of the `codes` in a link admits a browser, which gets the token as a cookie. `/hello` answers any
    client with a proof that this is the genuine server. `hosts` are the accepted values of the header `Host`; other
    names could belong to a hostile site (DNS rebinding). Requests that change something need the server's own `Origin`.
    """

    app: ASGIApp
    token: str
    codes: Codes
    hosts: Collection[str]
    cookie: str

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on to `app`."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        response = self._own_response(scope)
        await (response or self.app)(scope, receive, _secured(send))

    def _own_response(self, scope: Scope) -> Response | None:
        """Return the response to a request that is not passed on to `app`, or None if it is passed on.

        It is a refusal, the proof for `/hello`, or the redirect that sets the cookie.
        """
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if host.casefold() not in self.hosts:
            return PlainTextResponse("This server accepts requests only at its own address on this computer.\n", 421)
        if scope["method"] not in ("GET", "HEAD") and headers.get("origin") != f"http://{host}":
            return PlainTextResponse(
                "This server accepts requests other than GET and HEAD only from its own pages.\n", 403
            )
        given = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if scope["path"] == HELLO:
            return PlainTextResponse(self.codes.keys.proof(dict(given).get("nonce", "")[:NONCE_LIMIT]))
        if any(self._admits(name, value) for name, value in given):
            return self._admitted(scope["path"], [(name, value) for name, value in given if name not in (TOKEN, CODE)])
        if any(_is_same(value, self.token) for value in _cookies(headers, self.cookie)):
            return None
        return PlainTextResponse(_REFUSED, 403)

    def _admits(self, name: str, value: str) -> bool:
        return (name == TOKEN and _is_same(value, self.token)) or (name == CODE and self.codes.accept(value))

    def _admitted(self, path: str, rest: Sequence[tuple[str, str]]) -> Response:
        """Return a response that sets the cookie and redirects to the page without token or code."""
        target = "/" + path.lstrip("/\\")
        answer = RedirectResponse(f"{target}?{urlencode(rest)}" if rest else target, 303)
        answer.set_cookie(self.cookie, self.token, max_age=_YEAR, httponly=True, samesite="lax")
        return answer


def _secured(send: Send) -> Send:
    async def secured(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _SECURITY.items():
                headers.setdefault(name, value)
            headers.setdefault("cache-control", "no-store")
        await send(message)

    return secured


def _is_same(one: str, other: str) -> bool:
    return compare_digest(one.encode("utf-8", "replace"), other.encode())


def _cookies(headers: Headers, name: str) -> list[str]:
    """Return the value of the cookie `name` in a list, or an empty list. Cookies of other servers may be malformed."""
    try:
        morsel = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return []
    return [] if morsel is None else [morsel.value]
