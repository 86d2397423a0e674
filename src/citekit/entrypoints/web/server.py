"""Runs the server of the viewer, on this computer only."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import re
import secrets
import shlex
import socket
import threading
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from html import escape
from http.client import HTTPConnection, HTTPException
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import uvicorn
from attrs import frozen
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from citekit.domain.errors import RequestRefused
from citekit.entrypoints.web.access import HELLO, TOKEN, Access
from citekit.entrypoints.web.admission import CODE, Codes, Keys
from citekit.entrypoints.web.homes import Homes
from citekit.entrypoints.web.requests import FOREVER

if TYPE_CHECKING:
    from citekit.container import Container

ADDRESS = "127.0.0.1"
PORTS = range(8640, 8660)
"""The ports that are tried in this order, so that links stay valid after a restart."""


@frozen
class ViewerServer:
    """The viewer of all homes, started for that of `app`. `token` admits a browser."""

    app: Container
    token: str
    listening: socket.socket

    @property
    def keys(self) -> Keys:
        """The keys of this server."""
        return Keys(self.token, self.listening.getsockname()[1])

    def run(self, ready: Callable[[], None] = lambda: None) -> None:
        """Serve until the process is interrupted. `ready` is called when requests are accepted."""
        config = uvicorn.Config(
            application(self), log_level="warning", access_log=False, lifespan="off", timeout_graceful_shutdown=2
        )
        server = uvicorn.Server(config)
        threading.Thread(target=_when_started, args=(server, ready), daemon=True).start()
        with contextlib.suppress(KeyboardInterrupt):
            server.run(sockets=[self.listening])


def viewer_of(app: Container, port: int | None = None) -> ViewerServer:
    """Return a new viewer. Raise `RequestRefused` if the port or, if it is None, all of `PORTS` cannot be used."""
    return ViewerServer(app, app.view_token, _listening(app.settings.home, [port] if port is not None else PORTS))


def running_viewer(app: Container, ports: Sequence[int] = PORTS) -> Keys | None:
    """Return the keys of the user's running viewer, or None. The user's token is not sent."""
    for port in ports:
        keys, nonce = Keys(app.view_token, port), secrets.token_hex(16)
        connection = HTTPConnection(ADDRESS, port, timeout=1)
        try:
            connection.request("GET", f"{HELLO}?nonce={nonce}")
            proof = connection.getresponse().read(200).decode("latin-1")
        except (OSError, HTTPException):
            continue
        finally:
            connection.close()
        if keys.proves(proof, nonce):
            return keys
    return None


def cookie_of(port: int) -> str:
    """Return the name of the cookie of the server on `port`. Cookies are shared between ports."""
    return f"citekit-{port}"


def link_to(keys: Keys, path: str = "/", fragment: str = "") -> str:
    """Return a link to a page of the viewer. It admits any browser, so others must not see it."""
    return _link(keys, path, TOKEN, keys.token, fragment)


def open_browser(keys: Keys, path: str = "/", fragment: str = "") -> None:
    """Open a page of the viewer in the user's browser, if there is one, with a link that works once."""
    with contextlib.suppress(webbrowser.Error):
        webbrowser.open(_link(keys, path, CODE, keys.code(), fragment))


def _link(keys: Keys, path: str, name: str, value: str, fragment: str) -> str:
    mark = "&" if "?" in path else "?"
    return f"http://{ADDRESS}:{keys.port}{path}{mark}{name}={value}{fragment and f'#{fragment}'}"


def application(viewer: ViewerServer) -> Starlette:
    """Return the ASGI application of the viewer."""
    static = Path(str(files("citekit.entrypoints.web").joinpath("static")))
    version = _version(static)
    shell = _shell(static).replace("/static/", f"/static/{version}/")
    port = viewer.listening.getsockname()[1]
    pages = list(_shells(shell, ("/", "/r/{resource:path}")))
    routes: list[BaseRoute] = [
        *Homes(viewer.app, pages).routes(),
        Mount(f"/static/{version}", _KeptFiles(directory=static)),
        *pages,
    ]
    hosts = {f"{name}:{port}" for name in (ADDRESS, "localhost")}
    access = Middleware(Access, token=viewer.token, codes=Codes(viewer.keys), hosts=hosts, cookie=cookie_of(port))
    return Starlette(routes=routes, middleware=[access])


def _shell(static: Path) -> str:
    """Return the HTML of the page, with the texts of `strings.js` that are seen without a script."""
    html = (static / "index.html").read_text("utf-8")
    texts = (static / "strings.js").read_text("utf-8")
    for name in ("skip", "noScript"):
        (text,) = re.findall(rf'^  {name}: "(.*)",$', texts, re.MULTILINE)
        html = html.replace(f"{{{name}}}", escape(text))
    return html


class _KeptFiles(StaticFiles):
    """Files that the browser may cache permanently, because their URL contains a version."""

    def file_response(self, *arguments: Any, **named: Any) -> Response:
        response = super().file_response(*arguments, **named)
        response.headers["cache-control"] = FOREVER
        return response


def _version(static: Path) -> str:
    """Return a text that changes when any file of the viewer changes."""
    digest = hashlib.sha256()
    for path in sorted(static.rglob("*.*")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _shells(html: str, paths: Sequence[str]) -> Iterator[Route]:
    """Yield routes to the same page, whose script shows the content for the URL."""

    async def shell(_: Request) -> Response:
        return Response(html, media_type="text/html; charset=utf-8")

    for path in paths:
        yield Route(path, shell, methods=["GET"])


def _listening(home: Path, ports: Sequence[int]) -> socket.socket:
    reasons = set[str]()
    for port in ports:
        taken = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            taken.bind((ADDRESS, port))
            taken.listen(128)
        except OSError as error:
            taken.close()
            reasons.add("in use" if error.errno == errno.EADDRINUSE else f"not usable ({error.strerror})")
            continue
        return taken
    said = f"Port {ports[0]} is" if len(ports) == 1 else f"The ports {ports[0]} to {ports[-1]} are"
    option = f"--home {shlex.quote(str(home.absolute()))}"
    raise RequestRefused(
        f"{said} {' or '.join(sorted(reasons))}. To use another port, run: citekit view --port PORT {option}"
    )


def _when_started(server: uvicorn.Server, ready: Callable[[], None]) -> None:
    while not server.started:
        if server.should_exit:
            return
        threading.Event().wait(0.02)
    ready()
