"""The options of the HTTP server, and rules for them."""

from __future__ import annotations

import ipaddress
import shlex
from pathlib import Path
from urllib.parse import urlsplit

from attrs import field, frozen

from citekit.domain.errors import RequestRefused
from citekit.settings import Settings

PORT = 8650
MCP_PATH = "/mcp"


@frozen(kw_only=True)
class HttpOptions:
    """The options of `citekit serve --http`, which are sent to the worker processes.

    `public_url` is the URL for clients, without the path `/mcp`. `rate` is the number of requests of a subject per
    minute, and `concurrent` the number at the same time in each process. If `with_tokens` is True, requests need a
    token.
    """

    settings: Settings
    host: str
    port: int
    public_url: str
    workers: int = 1
    with_tokens: bool = False
    token_file: Path | None = None
    issuer: str | None = None
    audience: str | None = None
    jwks: str | None = None
    audit_file: Path | None = None
    origins: tuple[str, ...] = ()
    rate: int = 600
    concurrent: int = 32
    tls_cert: Path | None = None
    tls_key: Path | None = field(default=None, repr=False)
    view: bool = False

    @property
    def hosts(self) -> frozenset[str]:
        """The accepted values of the header `Host`, in lower case."""
        names = {f"{_bracketed(self.host)}:{self.port}", urlsplit(self.public_url).netloc}
        if is_loopback(self.host):
            names |= {f"{name}:{self.port}" for name in ("localhost", "127.0.0.1", "[::1]")}
        return frozenset(name.casefold() for name in names)

    @property
    def accepted_origins(self) -> frozenset[str]:
        """The accepted values of the header `Origin`, which browsers send."""
        scheme = "https" if self.tls_cert is not None else "http"
        parts = urlsplit(self.public_url)
        own = {f"{parts.scheme}://{parts.netloc}"}
        if is_loopback(self.host):
            own |= {f"{scheme}://{name}" for name in self.hosts}
        return frozenset((*own, *self.origins))


def options_for_tokens(home: Path, token_file: Path | None) -> str:
    """Return the options with which `citekit token` changes the subjects of a server with this home.

    There is a space before each option.
    """
    file = "" if token_file is None else f" --token-file {shlex.quote(str(token_file.absolute()))}"
    return f" --home {shlex.quote(str(home.absolute()))}{file}"


def address_of(text: str) -> tuple[str, int]:
    """Return the host and port in `HOST:PORT`, `HOST`, `:PORT`, a port alone, or an empty string.

    The defaults are 127.0.0.1 and `PORT`. Raise `RequestRefused` for other texts.
    """
    if text.isascii() and text.isdecimal():
        text = f":{text}"
    try:
        parts = urlsplit(f"//{text}")
        host, port = parts.hostname or "127.0.0.1", parts.port
    except ValueError:
        host, port = "", None
    if not host or (text and parts.netloc != text) or "@" in text:
        raise RequestRefused(f"{text!r} is not an address. Use HOST:PORT, such as 127.0.0.1:{PORT}.")
    return host, PORT if port is None else port


def url_of(host: str, port: int, *, with_tls: bool) -> str:
    """Return the URL of a server."""
    return f"{'https' if with_tls else 'http'}://{_bracketed(host)}:{port}"


def is_loopback(host: str) -> bool:
    """Return whether a host name or IP address is a loopback address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.casefold() == "localhost"


def check(options: HttpOptions) -> None:
    """Raise `RequestRefused` if the options would expose the server or its tokens, are invalid or contradictory, or
    name a missing TLS file.
    """
    parts = urlsplit(options.public_url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.path not in ("", "/"):
        raise RequestRefused(
            "--public-url must be an http or https URL without a path or query, such as https://HOST or https://HOST:PORT."
        )
    local = is_loopback(options.host)
    if not options.with_tokens and not local:
        raise RequestRefused(
            f"{options.host} is not a loopback address, so the server needs authorization. Name an issuer with --issuer "
            "and --audience, or add a token with this command: citekit token add NAME"
            f"{options_for_tokens(options.settings.home, options.token_file)}"
        )
    if not local and parts.hostname in ("0.0.0.0", "::"):  # noqa: S104 - refused
        raise RequestRefused(
            f"{parts.hostname} is not an address that clients can use. Name the address of the server with --public-url."
        )
    if options.tls_cert is not None and parts.scheme == "http":
        raise RequestRefused("With --tls-cert, the URL in --public-url must begin with https://")
    if options.with_tokens and parts.scheme == "http" and not is_loopback(parts.hostname):
        raise RequestRefused(
            "Tokens must not be sent without encryption. Give --tls-cert and --tls-key, or run the server behind a proxy "
            "with TLS and name its address with --public-url https://HOST."
        )
    if (options.tls_cert is None) != (options.tls_key is None):
        raise RequestRefused("--tls-cert and --tls-key must be given together.")
    if (options.issuer is None) != (options.audience is None):
        raise RequestRefused(
            "--issuer and --audience must be given together: tokens for other servers must not be accepted."
        )
    if options.jwks is not None and options.issuer is None:
        raise RequestRefused("--jwks needs --issuer and --audience.")
    if options.view and (not local or options.workers > 1 or options.tls_cert is not None):
        raise RequestRefused("--view is for this computer only. Use a loopback address, one worker, and no TLS.")
    for option, path in (("--tls-cert", options.tls_cert), ("--tls-key", options.tls_key)):
        if path is not None and not path.is_file():
            raise RequestRefused(f"{option}: There is no file {path}.")


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
