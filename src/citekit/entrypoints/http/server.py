"""Runs the HTTP server, in one process or several."""

from __future__ import annotations

import logging
import ssl
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from socket import AF_INET, AF_INET6, SO_REUSEADDR, SOCK_STREAM, SOL_SOCKET, socket

import anyio
import uvicorn
from attrs import evolve, frozen
from starlette.applications import Starlette
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.supervisors import Multiprocess

from citekit.application.admit_subject import AdmitSubject
from citekit.container import Container, bootstrap
from citekit.container.http_access import AUDIT, audit_of, container_of, issuer_of, link_key, subjects_of
from citekit.domain.errors import RequestRefused
from citekit.domain.subject import SCOPES, Subject
from citekit.domain.unicode_controls import printable
from citekit.entrypoints.http.gate import BODY_LIMIT, Gate
from citekit.entrypoints.http.limits import Limits
from citekit.entrypoints.http.links import EvidenceLinks
from citekit.entrypoints.http.options import HttpOptions, options_for_tokens
from citekit.entrypoints.http.subject_servers import SubjectServers

CONNECTIONS = 900
"""The maximum number of connections of a process. Others are answered with 503."""

REQUEST_SECONDS = 15.0
"""The time in seconds in which the headers of a request must arrive."""

LOCAL = "local"
"""The name of the subject on a server without tokens."""


class TimedProtocol(H11Protocol):
    """Closes connections on which no request arrives in time."""

    def connection_made(self, transport: object) -> None:
        """Begin a connection, and close it later if it stays idle."""
        super().connection_made(transport)  # type: ignore[arg-type]
        self._idle_before = False
        self._watch()

    def _watch(self) -> None:
        self._watching = self.loop.call_later(REQUEST_SECONDS, self._check)

    def _check(self) -> None:
        if self.transport.is_closing():
            return
        is_idle = self.cycle is None or self.cycle.response_complete
        if is_idle and (self._idle_before or self.cycle is None):
            self.transport.close()
            return
        self._idle_before = is_idle
        self._watch()


@frozen
class Application:
    """Makes the ASGI application in each worker process."""

    options: HttpOptions
    viewer: Callable[[], ASGIApp] | None = None

    def __call__(self) -> ASGIApp:
        """Return the ASGI application."""
        logging.getLogger("mcp").setLevel(logging.ERROR)  # its messages name requests of subjects
        options = evolve(self.options, settings=evolve(self.options.settings))  # registers the secrets
        app = bootstrap(options.settings)
        audit = audit_of(options.settings, options.audit_file)
        links = EvidenceLinks(options.public_url, link_key(options.settings))
        servers = SubjectServers(lambda subject: container_of(options.settings, subject), links.to, audit, BODY_LIMIT)
        limits = Limits(max(1.0, options.rate / options.workers), options.concurrent)
        settings = options.settings
        local = Subject(
            name=LOCAL, home=settings.home, roots=settings.roots, scopes=frozenset(SCOPES), store=settings.store
        )
        gate = Gate(
            options,
            servers,
            links,
            limits,
            audit,
            _admission(app, options),
            local,
            None if self.viewer is None else self.viewer(),
        )
        return _with_lifespan(gate, servers)


def _admission(app: Container, options: HttpOptions) -> AdmitSubject | None:
    if not options.with_tokens:
        return None
    issuer = None
    if options.issuer is not None and options.audience is not None:
        issuer = issuer_of(options.issuer, options.audience, options.jwks)
    return AdmitSubject(subjects_of(app, options.token_file), issuer)


def _with_lifespan(gate: Gate, servers: SubjectServers) -> ASGIApp:
    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with anyio.create_task_group() as tasks:
            await tasks.start(servers.run)
            yield
            tasks.cancel_scope.cancel()

    inner = Starlette(lifespan=lifespan)

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        await (inner if scope["type"] != "http" else gate)(scope, receive, send)

    return application


def serve_http(options: HttpOptions) -> None:
    """Serve until the process is interrupted.

    Raise `RequestRefused` if the address, the audit log, or the certificate cannot be used or no subject is admitted,
    and the errors of reading the token file.
    """
    _admission_works(options)
    try:
        audit_of(options.settings, options.audit_file)({"started": options.public_url})
    except OSError as error:
        path = options.audit_file or options.settings.home / AUDIT
        raise RequestRefused(
            f"The audit log {path} cannot be written: {error.strerror}. Choose another file with --audit-log."
        ) from error
    listening = _listening(options)
    viewer = _viewer(options, listening)
    config = uvicorn.Config(
        Application(options, viewer),
        factory=True,
        http=TimedProtocol,
        ws="none",
        loop="asyncio",
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        workers=options.workers,
        limit_concurrency=CONNECTIONS,
        backlog=1024,
        timeout_keep_alive=10,
        timeout_graceful_shutdown=3,
        h11_max_incomplete_event_size=32 * 1024,
        ssl_certfile=options.tls_cert,
        ssl_keyfile=options.tls_key,
    )
    _allow_connections()
    sys.stderr.write(f"citekit: serving MCP at {options.public_url.rstrip('/')}/mcp (press Ctrl-C to stop)\n")
    sys.stderr.flush()
    with suppress(KeyboardInterrupt):
        if options.workers > 1:
            Multiprocess(config, sockets=[listening]).run()
        else:
            uvicorn.Server(config).run(sockets=[listening])


def _admission_works(options: HttpOptions) -> None:
    """Raise `RequestRefused` if no subject is admitted, if none of the issuer's subjects is, or if the certificate
    cannot be used.
    """
    admission = _admission(bootstrap(options.settings), options)
    if admission is not None:
        entries = admission.subjects.entries()
        chosen = options_for_tokens(options.settings.home, options.token_file)
        if not any(each.issued for each in entries) and options.issuer is not None:
            raise RequestRefused(
                "No subject of the issuer is admitted. To add one (or all of them, with '*' as SUBJECT), run: citekit token "
                f"add NAME --subject SUBJECT{chosen}"
            )
        if not entries:
            raise RequestRefused(f"No subject is admitted. To add one, run: citekit token add NAME{chosen}")
    if options.tls_cert is not None and options.tls_key is not None:
        try:
            ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(options.tls_cert, options.tls_key)
        except (ssl.SSLError, ValueError) as error:
            raise RequestRefused(
                f"The certificate {options.tls_cert} and the key {options.tls_key} cannot be used. Check that both are PEM "
                "files and that the key belongs to the certificate."
            ) from error
        except OSError as error:
            raise RequestRefused(
                f"The certificate {options.tls_cert} or the key {options.tls_key} cannot be read: {error.strerror}."
            ) from error


def _viewer(options: HttpOptions, listening: socket) -> Callable[[], ASGIApp] | None:
    if not options.view:
        return None
    from citekit.entrypoints.web.server import ViewerServer, application, link_to

    app = bootstrap(options.settings)
    viewer = ViewerServer(app, app.view_token, listening)
    sys.stderr.write(f"citekit: the viewer is at {link_to(viewer.keys)}\n")
    return lambda: application(viewer)


def _listening(options: HttpOptions) -> socket:
    family = AF_INET6 if ":" in options.host else AF_INET
    taken = socket(family, SOCK_STREAM)
    try:
        taken.setsockopt(SOL_SOCKET, SO_REUSEADDR, 1)
        taken.bind((options.host, options.port))
        taken.listen(1024)
        taken.set_inheritable(True)
    except (OSError, OverflowError) as error:
        taken.close()
        reason = printable(getattr(error, "strerror", None) or str(error))
        raise RequestRefused(
            f"Cannot listen on {options.host}:{options.port}: {reason}. Choose another address with --http."
        ) from error
    return taken


def _allow_connections() -> None:
    """Raise the limit of open files to the permitted maximum, but at most 65,536: each connection counts as one."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = 65_536 if hard == resource.RLIM_INFINITY else min(hard, 65_536)
        if resource.RLIM_INFINITY != soft < wanted:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
