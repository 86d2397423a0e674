"""Chooses the cluster for mapping many files, and what its workers run."""

from __future__ import annotations

import os
from pathlib import Path

from citekit.adapters.clusters import dask
from citekit.adapters.storage.ingest_runs import stamp_of
from citekit.application.ingest_on_cluster import IngestOnCluster
from citekit.container.cluster_worker import run
from citekit.container.container import Container
from citekit.domain.errors import SourceSetAside
from citekit.domain.ports.cluster import Cluster
from citekit.wire.errors import from_plain_error


def connect(address: str) -> Cluster:
    """Connect to the cluster at `address`, or start one on this machine. See `dask.connect` for the errors."""
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
