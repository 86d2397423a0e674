"""Serves the homes that the user has viewed, each below its own address."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from attrs import define, field
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount
from starlette.types import Receive, Scope, Send

from citekit.container import Container, bootstrap
from citekit.domain.errors import CiteKitError, MapCorrupt, RequestRefused
from citekit.entrypoints.web.adding import AddingRoutes
from citekit.entrypoints.web.checking import CheckingRoutes
from citekit.entrypoints.web.library import LibraryRoutes
from citekit.entrypoints.web.links import home_key
from citekit.entrypoints.web.reading import ReadingRoutes
from citekit.entrypoints.web.requests import Asked, failed, plain, reading
from citekit.settings.places import is_home

OPEN = 8
"""The maximum number of other homes that are open. The least recently used one is closed first."""


@define
class Homes:
    """The home `first`, for which the server was started, and the other homes that the user has viewed. Thread-safe.

    The others are opened on request. `shell` contains the routes of the page in each home.
    """

    first: Container
    shell: Sequence[BaseRoute]
    open_home: Callable[[Path], Container] = lambda path: bootstrap(home=path)
    _apps: OrderedDict[str, tuple[Container, Starlette]] = field(factory=OrderedDict, init=False)
    _lock: threading.Lock = field(factory=threading.Lock, init=False)

    def routes(self) -> Sequence[BaseRoute]:
        """Return the routes for the list of homes and for the content of each home."""
        return [reading("/api/homes", self.listed), Mount("/h/{home}", app=self._serve)]

    def listed(self, asked: Asked) -> Response:
        """Return the homes that exist; with `id`, only those that have a map of this resource."""
        name = asked.text("id", "")
        homes = [(key, path) for key, path in self._known().items() if is_home(str(path))]
        if name:
            homes = [(key, path) for key, path in homes if self._has(key, name)]
        return plain([{"key": key, "home": str(path), "name": path.name or str(path)} for key, path in homes])

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            app: Starlette | Response = await run_in_threadpool(self._application, scope["path_params"]["home"])
        except (CiteKitError, OSError) as error:
            app = failed(error)
        await app(scope, receive, send)

    def _known(self) -> Mapping[str, Path]:
        return {home_key(home): home for home in (self.first.settings.home, *self.first.viewed_homes())}

    def _application(self, key: str) -> Starlette:
        return self._opened(key)[1]

    def _opened(self, key: str) -> tuple[Container, Starlette]:
        """Return the container and the application of a home, which is opened first if necessary.

        Raise `RequestRefused` if it was not viewed or is no longer a home, and the errors of `open_home`.
        """
        with self._lock:
            if key not in self._apps:
                path = self._known().get(key)
                if path is None or (path != self.first.settings.home and not is_home(str(path))):
                    what = "This home is unknown." if path is None else f"There are no maps in {path} anymore."
                    raise RequestRefused(f"{what} To show a home here, run: citekit view --home DIR")
                app = self.first if path == self.first.settings.home else self.open_home(path)
                self._apps[key] = app, _application(app, self.shell)
                self._close_unused()
            self._apps.move_to_end(key)
            return self._apps[key]

    def _has(self, key: str, resource_id: str) -> bool:
        """Return whether a home can be opened and has a map of this resource, even a damaged one."""
        try:
            self._opened(key)[0].maps.card(resource_id)
        except MapCorrupt:
            return True
        except (CiteKitError, OSError):
            return False
        return True

    def _close_unused(self) -> None:
        others = [key for key, (app, _) in self._apps.items() if app is not self.first]
        for key in others[:-OPEN]:
            closed, _ = self._apps.pop(key)
            if closed.workers is not None:
                closed.workers.close()


def _application(app: Container, shell: Sequence[BaseRoute]) -> Starlette:
    parts = (LibraryRoutes(app), AddingRoutes(app), ReadingRoutes(app), CheckingRoutes(app))
    return Starlette(routes=[*(route for part in parts for route in part.routes()), *shell])
