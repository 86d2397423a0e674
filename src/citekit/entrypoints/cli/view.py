"""Implements the command `citekit view`."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import click
from attrs import frozen

from citekit.domain.errors import HomeUnwritable
from citekit.domain.unicode_controls import printable
from citekit.entrypoints.cli.command import Command, password_option, roots_option
from citekit.entrypoints.cli.session import Session, pass_session
from citekit.entrypoints.web.links import home_path, place_named, resource_place

if TYPE_CHECKING:
    from citekit.container import Container


@click.command("view", cls=Command, answers=False)
@click.argument("target", nargs=-1, metavar="[RESOURCE | ADDRESS | WORDS...]")
@click.option("--no-open", is_flag=True, help="Print the link, and do not open the browser.")
@click.option(
    "--port", type=click.IntRange(1, 65_535), help="The port (default: the first free port from 8640 to 8659)."
)
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
    it, with the link that is printed. One viewer shows all homes in which you have run citekit view; it runs until you
    press Ctrl-C.
    """
    app = session.app_with(password=password)
    path, fragment = _path_of(app, " ".join(target))
    show(
        session, app, path, fragment, Showing(no_open, port, tuple(Path(root) for root in roots), password is not None)
    )


@frozen
class Showing:
    """The options with which the viewer is started.

    `port` is None for the first free port. Moved sources are searched for in `roots`. `has_password` says whether a
    password was given.
    """

    no_open: bool = False
    port: int | None = None
    roots: tuple[Path, ...] = ()
    has_password: bool = False


def show(session: Session, app: Container, path: str, fragment: str = "", how: Showing | None = None) -> None:
    """Open a path of this home in the browser, and record the home as viewed.

    If no viewer of the user is running, or `how` has a port, roots, or a password, start one and serve until Ctrl-C.
    """
    from citekit.entrypoints.web.server import link_to, open_browser, running_viewer, viewer_of

    how = how or Showing()
    app.show.roots = how.roots
    path = home_path(app.settings.home) + path
    with suppress(HomeUnwritable):  # only this process will know this home
        app.viewed_homes.add(app.settings.home)
    is_usual = how.port is None and not how.roots and not how.has_password
    running = running_viewer(app) if is_usual else None
    if running is not None:
        session.say([link_to(running, path, fragment)])
        if not how.no_open:
            open_browser(running, path, fragment)
        return
    viewer = viewer_of(app, how.port)

    def ready() -> None:
        session.say([link_to(viewer.keys, path, fragment)])
        session.note(f"Showing {printable(str(app.settings.home))}. Press Ctrl-C to stop.")
        if not how.no_open:
            open_browser(viewer.keys, path, fragment)

    viewer.run(ready)


def _path_of(app: Container, target: str) -> tuple[str, str]:
    """Return the path and the fragment in the viewer for `target`. Raise the errors of `place_named`."""
    if not target:
        return "/", ""
    if "://" in target:
        return place_named(app, target)
    if target in app.maps.ids():
        return resource_place(target), ""
    return search_for(target), ""


def search_for(words: str, tag: str | None = None, resource_id: str = "") -> str:
    """Return the path of a search in the viewer: in one resource, in those with a tag, or in everything mapped."""
    place = resource_place(resource_id) if resource_id else "/"
    return f"{place}?{urlencode({'q': words} | ({} if tag is None else {'tag': tag}))}"
