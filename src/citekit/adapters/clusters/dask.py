"""A cluster of Dask workers: those of a running scheduler, or processes on this machine.

`distributed` is imported on first use. If a worker is lost, the scheduler repeats its job, until several workers were
lost with the same job (`distributed.scheduler.allowed-failures`).
"""

from __future__ import annotations

import importlib
import logging
import re
import time
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from attrs import define, field

from citekit.domain.errors import CiteKitError, ClusterUnavailable, DriverMissing, RequestRefused, SourceSetAside
from citekit.domain.jobs import IngestJob, JobResult

if TYPE_CHECKING:
    from distributed import Client, Future

CONNECT_SECONDS = 20
"""The maximum time in seconds to connect to a scheduler, or to fetch the result of a job."""

LOST_SECONDS = 30
"""The run ends after this many seconds without a connection to the scheduler."""

CLOSE_SECONDS = 30
"""The maximum time, in seconds, to wait for the processes on this machine to exit."""

_ENDED = ("closed", "closing", "failed")

_LOCAL = re.compile(r"local:(?P<workers>[1-9]\d{0,2})\Z")


@define
class DaskCluster:
    """Implements `Cluster`. `work` is the function that the workers run; they must be able to import it."""

    address: str
    work: Callable[[IngestJob], JobResult]
    _client: Client
    _server: Any = None
    _running: dict[str, tuple[IngestJob, Future[Any]]] = field(factory=dict, init=False)
    _done: SimpleQueue[str] = field(factory=SimpleQueue, init=False)
    _count: int = field(default=0, init=False)
    _lost_since: float | None = field(default=None, init=False)

    @property
    def workers(self) -> int:
        """See `Cluster.workers`."""
        if self._server is not None:
            return len(self._server.worker_spec)
        try:
            threads: dict[str, int] = self._client.nthreads()
        except (OSError, RuntimeError, TimeoutError) as error:
            raise self._lost() from error
        return max(1, sum(threads.values()))

    @property
    def dashboard(self) -> str | None:
        """See `Cluster.dashboard`. Processes on this machine have no dashboard, because it would open a port."""
        if self._server is not None:
            return None
        try:
            link: str | None = self._client.dashboard_link
        except KeyError:  # the scheduler was started without a dashboard
            return None
        except (OSError, RuntimeError, TimeoutError) as error:
            raise self._lost() from error
        return link

    def submit(self, job: IngestJob) -> None:
        """See `Cluster.submit`."""
        self._count += 1
        key = f"citekit-{id(self):x}-{time.monotonic_ns():x}-{self._count}"
        try:
            future = self._client.submit(self.work, job, key=key, pure=False)
        except (OSError, RuntimeError, TimeoutError) as error:
            raise self._lost() from error
        self._running[key] = job, future
        future.add_done_callback(lambda _: self._done.put(key))

    def finished(self, seconds: float) -> tuple[IngestJob, JobResult | CiteKitError] | None:
        """See `Cluster.finished`."""
        try:
            key = self._done.get(timeout=seconds)
        except Empty:
            self._check_connection()
            self._replace_lost()
            return None
        job, future = self._running.pop(key)
        if future.status == "finished":
            try:
                result: JobResult = future.result(timeout=CONNECT_SECONDS)
            except TimeoutError:  # the worker was lost before its result was fetched: the job is repeated
                self.submit(job)
                return None
            return job, result
        if future.status in ("lost", "pending"):  # its result was lost with its worker: the job is repeated
            self.submit(job)
            return None
        if future.status != "error":
            raise self._lost()
        return job, self._error(job, future.exception(timeout=CONNECT_SECONDS))

    def close(self) -> None:
        """See `Cluster.close`."""
        futures = [future for _, future in self._running.values()]
        self._running.clear()
        if futures and self._client.status == "running":
            self._client.cancel(futures, force=True)
        self._client.close(timeout=5)
        if self._server is not None:
            with suppress(TimeoutError):  # a worker is just being replaced; its processes end with this process
                self._server.close(timeout=CLOSE_SECONDS)

    def _check_connection(self) -> None:
        if self._client.status == "running":
            self._lost_since = None
            return
        self._lost_since = self._lost_since or time.monotonic()
        if self._client.status == "closed" or time.monotonic() - self._lost_since > LOST_SECONDS:
            raise self._lost()

    def _replace_lost(self) -> None:
        """Restart the processes on this machine that ended during their start, because Dask does not restart them."""
        server = self._server
        if server is None:
            return

        def replace() -> None:
            for name in [name for name, each in server.workers.items() if each.status.name in _ENDED]:
                del server.workers[name]
            if len(server.workers) < len(server.worker_spec):
                server.scale(len(server.worker_spec))

        server.loop.add_callback(replace)

    def _lost(self) -> ClusterUnavailable:
        return ClusterUnavailable(
            f"The connection to the cluster {self.address} was lost. Run the command again: finished maps are kept."
        )

    def _error(self, job: IngestJob, error: BaseException | None) -> CiteKitError:
        if type(error).__name__ == "KilledWorker":
            return SourceSetAside(
                f"{job.path} was set aside, because every worker that tried to map it ended. To try again, add --force."
            )
        return ClusterUnavailable(
            f"A worker could not run the job for {job.path} ({type(error).__name__}: {error}). Check that this version of "
            "CiteKit is installed on every worker."
        )


def memory_limit() -> int | None:
    """Return the memory in bytes that Dask allows for each job of the worker that runs this thread.

    That is the memory limit of the worker, divided by its threads. It is None outside of a worker, or without a limit.
    """
    try:
        worker = importlib.import_module("distributed").get_worker()
    except ValueError:
        return None
    limit: int | None = worker.memory_manager.memory_limit
    return limit // worker.state.nthreads if limit else None


def connect(address: str, work: Callable[[IngestJob], JobResult]) -> DaskCluster:
    """Return the cluster of the scheduler at `address` (`tcp://HOST:PORT`, `tls://`, `ws://`, or `wss://`).

    For `local:N`, return a cluster of N new processes on this machine. Raise `RequestRefused` for any other address,
    `DriverMissing` if `distributed` is not installed, and `ClusterUnavailable` if the cluster cannot be reached or
    started.
    """
    local = _LOCAL.match(address)
    if local is None and not re.match(r"(tcp|tls|ws|wss)://.", address):
        raise RequestRefused(
            f"{address!r} is not a valid value of --cluster. Use local:N (N from 1 to 999) or the address of a scheduler, "
            "such as tcp://host:8786."
        )
    try:
        dask: Any = importlib.import_module("distributed")
    except ImportError as error:
        raise DriverMissing("Mapping on a cluster", "scale") from error
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        if local is not None:
            workers = int(local["workers"])
            server = dask.LocalCluster(
                n_workers=workers, threads_per_worker=1, dashboard_address=None, silence_logs=logging.CRITICAL
            )
            return DaskCluster(address, work, dask.Client(server, timeout=CONNECT_SECONDS), server)
        return DaskCluster(address, work, dask.Client(address, timeout=CONNECT_SECONDS))
    except (OSError, RuntimeError, ValueError, TimeoutError) as error:
        if local is not None:
            raise ClusterUnavailable(
                f"The workers of {address} cannot be started ({error}). Try again with fewer workers."
            ) from error
        raise ClusterUnavailable(
            f"The scheduler {address} cannot be reached ({error}). Check that it is running."
        ) from error
