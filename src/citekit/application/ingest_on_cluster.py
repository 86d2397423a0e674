"""Maps many files on the workers of a cluster."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

from attrs import evolve, frozen

from citekit.application.ingest import Ingested
from citekit.application.ingest_many import Outcome, in_lines
from citekit.domain.errors import CiteKitError, HomeUnwritable, StoreUnavailable
from citekit.domain.jobs import IngestJob, JobResult
from citekit.domain.ports.cluster import Cluster
from citekit.domain.ports.map_store import MapStore
from citekit.domain.progress import Progress, silent

AHEAD = 4
"""The maximum number of unfinished jobs per worker. It limits the memory of the process that submits them."""

RETRIES = 2
"""The maximum number of times that a job is repeated after a temporary error, such as a full disk."""

TEMPORARY = (HomeUnwritable, StoreUnavailable)
"""Errors that may disappear when the job is repeated, perhaps by another worker."""

HEARTBEAT = 0.25
"""Seconds between checks whether the user canceled."""


@frozen
class IngestOnCluster:
    """Maps files on a cluster. If one file fails, the others are still mapped.

    `error_of` makes an error from its plain data. `set_aside` returns the error for an unchanged file whose workers
    died in an earlier run. Unless the maps are in a shared store (`is_shared`), each map is looked up: a worker on
    another machine may have another home at the same path.
    """

    cluster: Cluster
    maps: MapStore
    error_of: Callable[[Mapping[str, object]], CiteKitError]
    set_aside: Callable[[Path], CiteKitError | None] = lambda _: None
    is_shared: bool = False

    def __call__(self, paths: Iterable[Path], example: IngestJob, progress: Progress = silent) -> Iterator[Outcome]:
        """Yield an outcome for every file, in the order of completion.

        `example` is the job whose path is replaced. Files whose names give the same ID are mapped one after the other.
        `progress` cancels by raising `Cancelled`.
        """
        tried: list[Path] = []
        for path in paths:
            reason = None if example.force else self.set_aside(path)
            if reason is None:
                tried.append(path)
            else:
                yield Outcome(path, error=reason)
        lines = in_lines(tried)
        ready = deque(lines.values())
        running: dict[str, tuple[Path, deque[Path]]] = {}
        attempts: dict[str, int] = {}
        while ready or running:
            while ready and len(running) < AHEAD * self.cluster.workers:
                line = ready.popleft()
                path = line.popleft()
                job = evolve(example, path=os.path.abspath(path))  # noqa: PTH100 - links are kept
                running[job.path] = path, line
                self.cluster.submit(job)
            progress(0, None, "")
            done = self.cluster.finished(HEARTBEAT)
            if done is None:
                continue
            job, result = done
            outcome = self._outcome(running[job.path][0], result)
            attempts[job.path] = attempts.get(job.path, 0) + 1
            if isinstance(outcome.error, TEMPORARY) and attempts[job.path] <= RETRIES:
                self.cluster.submit(job)
                continue
            del attempts[job.path]
            _, line = running.pop(job.path)
            if line:
                ready.append(line)
            yield outcome

    def _outcome(self, path: Path, result: JobResult | CiteKitError) -> Outcome:
        if isinstance(result, CiteKitError):
            return Outcome(path, error=result)
        card = result.card
        if card is None:
            return Outcome(path, error=self.error_of(result.error or {}))
        name = card.resource_id
        try:
            card = card if self.is_shared else self.maps.card(name)
        except CiteKitError as error:
            return Outcome(path, error=error)
        return Outcome(path, Ingested(card, result.mapped_now, partial(self.maps.get, name)))
