"""Defines the port for a cluster, whose workers map files."""

from __future__ import annotations

from typing import Protocol

from citekit.domain.errors import CiteKitError
from citekit.domain.jobs import IngestJob, JobResult


class Cluster(Protocol):
    """Workers in other processes, on any number of machines.

    A job whose worker is lost is given to another worker. The methods raise `ClusterUnavailable` if the cluster cannot
    be reached.
    """

    @property
    def workers(self) -> int:
        """The number of jobs that run at the same time, at least 1."""

    @property
    def dashboard(self) -> str | None:
        """The address of the web page that shows the jobs and the workers, or None."""

    def submit(self, job: IngestJob) -> None:
        """Give the job to a worker, and return without waiting for the result."""

    def finished(self, seconds: float) -> tuple[IngestJob, JobResult | CiteKitError] | None:
        """Return a job that has ended and its result.

        Return None if no job has ended within `seconds`, or if a job must run again because its result was lost with
        its worker. Each job is returned once. The result is an error if several workers ended while they ran the job,
        or if a worker could not run it.
        """

    def close(self) -> None:
        """Cancel the remaining jobs, and shut down the cluster if it was started for this run."""
