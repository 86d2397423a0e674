"""Implements the command `citekit serve`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from citekit.domain.errors import RequestRefused
from citekit.entrypoints.cli.command import Command
from citekit.entrypoints.cli.session import Session, pass_session

if TYPE_CHECKING:
    from citekit.container import Container
    from citekit.entrypoints.http.options import HttpOptions

_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command("serve", cls=Command, answers=False)
@click.option(
    "--tools",
    metavar="LIST",
    help="The tools to offer: citekit, alexandria, or both, separated by a comma (default: "
    "$CITEKIT_TOOLS, or citekit and, if there is a library, alexandria).",
)
@click.option(
    "--http",
    metavar="[HOST:PORT]",
    is_flag=False,
    flag_value="",
    help="Serve over HTTP instead, at /mcp (default: 127.0.0.1:8650). An address that other computers can reach "
    "requires tokens or an issuer.",
)
@click.option("--public-url", metavar="URL", help="The URL of the server for clients (default: from HOST:PORT).")
@click.option("--workers", type=click.IntRange(1, 64), default=1, show_default=True, help="The number of processes.")
@click.option(
    "--token-file",
    type=_FILE,
    metavar="FILE",
    help="The token file (default: .citekit_tokens.json in the home). To add a token, run: citekit token add NAME",
)
@click.option("--issuer", metavar="URL", help="Also accept JSON Web Tokens of this issuer. Needs --audience.")
@click.option("--audience", metavar="TEXT", help="The audience that tokens of the issuer must name.")
@click.option("--jwks", metavar="URL", help="The URL of the issuer's keys (default: from its metadata).")
@click.option("--tls-cert", type=_FILE, metavar="FILE", help="The certificate chain (PEM). Needs --tls-key.")
@click.option("--tls-key", type=_FILE, metavar="FILE", help="The private key of the certificate (PEM).")
@click.option(
    "--allow-origin",
    "origins",
    multiple=True,
    metavar="ORIGIN",
    help="Accept requests with this Origin header. Can be repeated.",
)
@click.option(
    "--rate",
    type=click.IntRange(1),
    default=600,
    show_default=True,
    help="The number of requests that a subject can send per minute, on average, and the "
    "maximum number at once. With several --workers, each enforces an equal share.",
)
@click.option(
    "--concurrent",
    type=click.IntRange(1),
    default=32,
    show_default=True,
    help="The maximum number of concurrent requests per subject, in each process.",
)
@click.option(
    "--audit-log", type=_FILE, metavar="FILE", help="The audit log (default: .citekit_audit.jsonl in the home)."
)
@click.option("--view", is_flag=True, help="Also serve the viewer, on this computer only.")
@pass_session
def command(session: Session, /, tools: str | None, http: str | None, **options: Any) -> None:
    """Serve agents over MCP on standard input and output, or over HTTP.

    Tools: listResources, findText, readText, getStructure, getNode, resolve, verifyQuote, and ingest. If a library is
    configured or a book was ingested, the library tools (alexandria_query and so on) are also available. Maps that are
    created or changed while the server runs are visible immediately. Over HTTP, there are also search and fetch, but not the
    library tools; every subject has its own home, unless its token names another one.
    """
    if http is not None:
        if tools not in (None, "citekit"):
            raise RequestRefused(
                "Over HTTP, only --tools citekit is possible, because users (subjects) cannot have separate libraries."
            )
        _serve_http(session, http, options)
        return
    _refuse_http_options()
    from citekit.entrypoints.mcp.server import serve

    app = session.app if tools is None else _offering(session.app, tools)
    home = app.settings.home
    if not home.is_dir() and app.settings.store is None:
        session.note(f"The folder {home} does not exist yet, so no files are mapped.")
    serve(app)


def _refuse_http_options() -> None:
    context = click.get_current_context()
    for each in context.command.params:
        name = each.name or ""
        given = context.get_parameter_source(name)
        if name not in ("tools", "http", "home") and given is click.core.ParameterSource.COMMANDLINE:
            raise RequestRefused(f"{each.opts[0]} needs --http.")


def _serve_http(session: Session, address: str, given: dict[str, Any]) -> None:
    from citekit.container.http_access import subjects_of
    from citekit.entrypoints.cli.token import note_strangers
    from citekit.entrypoints.http.options import check
    from citekit.entrypoints.http.server import serve_http

    options = _http_options(session.app, address, given)
    check(options)
    if options.with_tokens:
        note_strangers(session, subjects_of(session.app, options.token_file), options.token_file)
    serve_http(options)


def _http_options(app: Container, address: str, given: dict[str, Any]) -> HttpOptions:
    from citekit.container.http_access import TOKENS, subjects_of
    from citekit.entrypoints.http.options import HttpOptions, address_of, options_for_tokens, url_of

    host, port = address_of(address)
    token_file, public_url = given["token_file"], given.pop("public_url")
    path = token_file or app.settings.home / TOKENS
    if token_file is not None and not token_file.is_file():
        command = f"citekit token add NAME{options_for_tokens(app.settings.home, token_file)}"
        raise RequestRefused(f"There is no token file {token_file}. To create it, run: {command}")
    with_tokens = path.exists() or given["issuer"] is not None
    if with_tokens:
        subjects_of(app, path).entries()
    return HttpOptions(
        settings=app.settings,
        host=host,
        port=port,
        public_url=public_url or url_of(host, port, with_tls=given["tls_cert"] is not None),
        with_tokens=with_tokens,
        audit_file=given.pop("audit_log"),
        **given,
    )


def _offering(app: Container, tools: str) -> Container:
    """Return the use cases for the same home with the toolsets in the comma-separated list `tools`."""
    from attrs import evolve

    from citekit.container import bootstrap
    from citekit.settings import read_toolsets

    chosen = evolve(app.settings.library, tools=read_toolsets("--tools", tools))
    return bootstrap(evolve(app.settings, library=chosen))
