"""Implements the command `citekit view`, which shows mapped files in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

import click

from citekit.domain.address import parse_address
from citekit.domain.unicode_controls import printable
from citekit.entrypoints.cli.command import Command, password_option, roots_option
from citekit.entrypoints.cli.session import Session, pass_session

if TYPE_CHECKING:
    from citekit.container import Container


@click.command("view", cls=Command, answers=False)
@click.argument("target", nargs=-1, metavar="[RESOURCE | ADDRESS | WORDS...]")
@click.option("--no-open", is_flag=True, help="Print the link, and do not open the browser.")
@click.option("--port", type=click.IntRange(1, 65_535), help="The port (default: the first free one from 8640).")
@roots_option()
@password_option("a source PDF")
@pass_session
def command(
    session: Session,
    target: tuple[str, ...],
    no_open: bool,
    port: int | None,
    roots: tuple[str, ...],
    password: str | None,
) -> None:
    """Show mapped files in the browser, and mark evidence in them.

    Opens the list of everything mapped, a resource, the part that an address names, or a search for words. The viewer
    lets you search, read, check quotes and answers, and download evidence. Only your browser on this computer can open
    it, with the link that is printed. It runs until you press Ctrl-C.
    """
    from citekit.entrypoints.web.server import link_to, open_browser, running_viewer, viewer_of

    app = session.app_with(password=password)
    app.show.roots = tuple(Path(root) for root in roots)
    path, fragment = _path_of(app, " ".join(target))
    running = running_viewer(app) if port is None and not roots and password is None else None
    if running is not None:
        link = link_to(running, app.view_token, path, fragment)
        session.say([link])
        if not no_open:
            open_browser(link)
        return
    viewer = viewer_of(app, port)
    link = viewer.link(path, fragment)

    def ready() -> None:
        session.say([link])
        session.note(f"Showing {printable(str(app.settings.home))}. Press Ctrl-C to stop.")
        if not no_open:
            open_browser(link)

    viewer.run(ready)


def _path_of(app: Container, target: str) -> tuple[str, str]:
    """Return the path and the fragment in the viewer that show `target`. Raise the errors of addresses and maps."""
    if not target:
        return "/", ""
    if "://" in target:
        address = parse_address(target)
        app.resolve(address, virtual=True)
        return f"/r/{quote(address.resource_id, safe='')}", str(address).partition("#")[2]
    if target in app.maps.ids():
        return f"/r/{quote(target, safe='')}", ""
    return f"/?{urlencode({'q': target})}", ""
