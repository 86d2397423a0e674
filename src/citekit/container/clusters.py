"""Chooses the cluster for mapping many files, and what its workers run."""

from __future__ import annotations

import os
import sys
import threading
from collections import OrderedDict
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from attrs import evolve

from citekit.adapters.clusters import dask
from citekit.adapters.storage.ingest_runs import stamp_of
from citekit.application.ingest_on_cluster import IngestOnCluster
from citekit.container import bootstrap
from citekit.container.container import Container
from citekit.domain.distribution import DISTRIBUTION
from citekit.domain.errors import CiteKitError, MapperUnavailable, RequestRefused, SourceSetAside
from citekit.domain.jobs import IngestJob, JobResult
from citekit.domain.ports.cluster import Cluster
from citekit.settings.chosen import LEAST_PARSER_MEMORY
from citekit.wire.errors import from_plain_error, to_plain_error
from citekit.wire.locations import modality_of

WORKER_MEMORY = 200_000_000
"""The memory in bytes that is reserved for a worker of the cluster itself, which needs about 160 MB for one file."""

_HOMES = 4
_containers: OrderedDict[tuple[str, str], Container] = OrderedDict()
_lock = threading.Lock()


def connect(address: str) -> Cluster:
    """Connect to the cluster at `address`, or start one on this machine for `local:N`. See `dask.connect` for the
    errors.
    """
    return dask.connect(address, run)


def ingest_on(cluster: Cluster, app: Container) -> IngestOnCluster:
    """Return the use case that maps many files on a cluster, whose workers have the same home as `app`."""
    earlier = app.ingest_runs.set_aside()

    def set_aside(path: Path) -> SourceSetAside | None:
        known = earlier.get(os.path.abspath(path))  # noqa: PTH100 - links are kept
        if known is None or known.stamp != stamp_of(path):
            return None
        return SourceSetAside(known.reason)

    return IngestOnCluster(cluster, app.maps, from_plain_error, set_aside, is_shared=app.objects is not None)


def run(job: IngestJob) -> JobResult:
    """Map the file of the job, and index its text. Errors are part of the result.

    Settings that the job does not have, such as keys, are those of this machine.
    """
    try:
        _check_version(job)
        app = _container(job)
        made = app.ingest_many.ingest(Path(job.path), modality=modality_of(job.modality), force=job.force)
    except CiteKitError as error:
        return JobResult(error=to_plain_error(error))
    except Exception as bug:
        text = f"An unexpected error occurred while mapping {job.path} ({type(bug).__name__}: {bug}). Please report it."
        return JobResult(error=to_plain_error(MapperUnavailable(text)))
    return JobResult(card=made.card, mapped_now=made.mapped_now)


def _check_version(job: IngestJob) -> None:
    here = _version_here()
    if here != job.version:
        raise RequestRefused(
            f"A worker has CiteKit {here}, but this command has CiteKit {job.version}. Install the same version on both."
        )


@cache
def _version_here() -> str:
    """Return the version of CiteKit. Reading it again would take a quarter of the time of mapping a small file."""
    return version(DISTRIBUTION)


def _container(job: IngestJob) -> Container:
    """Return the use cases for the home and the settings of the job. The last `_HOMES` are cached.

    Dask does not count the memory of parser processes, so they are limited to what the limit of the worker leaves.
    """
    name = (job.home, repr(sorted(job.settings.items())))
    with _lock:
        if name not in _containers:
            changed: dict[str, Any] = dict(job.settings)
            settings = evolve(bootstrap(home=job.home).settings, **changed)
            most = min(settings.parser_memory, _parser_memory())
            _containers[name] = bootstrap(
                evolve(settings, parser_memory=most, parser_file_memory=min(settings.parser_file_memory, most))
            )
        _containers.move_to_end(name)
        if len(_containers) > _HOMES:
            _containers.popitem(last=False)
        return _containers[name]


def _parser_memory() -> int:
    """Return the memory in bytes that the limit of this worker leaves for a parser process; `sys.maxsize` without a
    limit.

    Raise `RequestRefused` if it is not enough.
    """
    limit = dask.memory_limit()
    if limit is None:
        return sys.maxsize
    if limit < WORKER_MEMORY + LEAST_PARSER_MEMORY:
        needed = (WORKER_MEMORY + LEAST_PARSER_MEMORY) // 1_000_000
        raise RequestRefused(
            f"A worker of the cluster may use only {limit // 1_000_000:,} MB of memory for each of its threads, but "
            f"CiteKit needs {needed:,} MB. Start the workers with a larger --memory-limit, or with fewer threads."
        )
    return limit - WORKER_MEMORY
