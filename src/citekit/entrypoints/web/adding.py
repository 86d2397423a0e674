"""Receives files that are added in the viewer, and maps them."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path, PurePath
from urllib.parse import unquote

from attrs import define, field, frozen
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from citekit.container import Container
from citekit.domain.errors import Cancelled, CiteKitError, RequestRefused
from citekit.entrypoints.web.requests import Asked, acting, failed, plain, reading

UPLOAD_LIMIT = 2 * 2**30
"""The maximum size of an added file in bytes."""

NAME_LIMIT = 100
"""The maximum number of characters of the name of a job."""


@define
class _Job:
    """The mapping of one file: keeps the last progress, and stops if it is canceled."""

    done: float = 0
    total: float | None = None
    message: str = ""
    is_cancelled: bool = False

    def __call__(self, done: float, total: float | None = None, message: str = "") -> None:
        self.done, self.total, self.message = done, total, message or self.message
        if self.is_cancelled:
            raise Cancelled


@frozen
class AddingRoutes:
    """The routes for requests that add files."""

    app: Container
    _jobs: dict[str, _Job] = field(factory=dict, init=False)

    def routes(self) -> Sequence[BaseRoute]:
        """Return the routes, relative to the path of a home."""
        return [
            Route("/api/add", self.add, methods=["POST"]),
            reading("/api/progress", self.progress),
            acting("/api/cancel", self.cancel),
        ]

    async def add(self, request: Request) -> Response:
        """Store the body of the request as a file in the home, and map it.

        The header `x-name` has the percent-encoded file name, and `x-job` a name for `progress` and `cancel`. A new
        file that cannot be mapped is deleted.
        """
        name = request.headers.get("x-job", "")[:NAME_LIMIT]
        job = self._jobs[name] = _Job()
        try:
            path, is_new = await self._stored(request)
            done = await run_in_threadpool(self._map, path, is_new, job)
        except (CiteKitError, OSError) as error:
            return failed(error)
        finally:
            if self._jobs.get(name) is job:
                del self._jobs[name]
        return plain(done)

    def progress(self, asked: Asked) -> Response:
        """Return [done, total or null, message] of a running job, or null."""
        job = self._jobs.get(asked.text("job"))
        return plain(None if job is None else [job.done, job.total, job.message])

    def cancel(self, asked: Asked) -> Response:
        """Cancel a job if it is running, and return whether it was."""
        job = self._jobs.get(asked.text("job"))
        if job is not None:
            job.is_cancelled = True
        return plain(job is not None)

    def _map(self, path: Path, is_new: bool, job: _Job) -> dict[str, object]:
        try:
            done = self.app.ingest(path, progress=job)
        except CiteKitError:
            if is_new:
                path.unlink(missing_ok=True)
            raise
        return {"id": done.resource_map.resource_id, "title": done.resource_map.title}

    async def _stored(self, request: Request) -> tuple[Path, bool]:
        name = PurePath(unquote(request.headers.get("x-name", "")).replace("\\", "/")).name
        if not name or name.startswith(".") or any(ord(each) < 32 for each in name):
            raise RequestRefused(
                "The name of the file must not be empty, begin with a period, or contain control characters."
            )
        command = f"citekit ingest FILE --home {shlex.quote(str(self.app.settings.home.absolute()))}"
        if not self.app.is_known_name(name):
            raise RequestRefused(
                f"{name} does not have the suffix of a known file type. You can still map it with a command ({command})."
            )
        size = 0
        with self.app.uploads.receiving() as upload:
            async for piece in request.stream():
                size += len(piece)
                if size > UPLOAD_LIMIT:
                    raise RequestRefused(f"{name} is larger than {UPLOAD_LIMIT >> 30} GB. To map it, run: {command}")
                await run_in_threadpool(upload.stream.write, piece)
            return await run_in_threadpool(self.app.uploads.keep, upload, name)
