"""Runs several functions in parallel threads. After a function has failed, no further functions start."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import TypeVar

from attrs import define, field, frozen

from citekit.domain.errors import Cancelled
from citekit.domain.progress import Progress

T = TypeVar("T")

_POLL_SECONDS = 0.2


@frozen
class Slots:
    """A limit of `count` concurrent holders over all threads. Less than 1 counts as 1."""

    count: int
    _free: threading.Semaphore = field(init=False, repr=False, eq=False)

    @_free.default
    def _all_free(self) -> threading.Semaphore:
        return threading.Semaphore(max(1, self.count))

    @contextmanager
    def taken(self, progress: Progress, message: str) -> Iterator[None]:
        """Wait for a free slot and hold it during the block. While waiting, call `progress`, which may raise an error
        to cancel.
        """
        while not self._free.acquire(timeout=_POLL_SECONDS):
            progress(0, None, message)
        try:
            yield
        finally:
            self._free.release()


@define
class _SharedProgress:
    """Shares the caller's progress callback among threads, one at a time. After `stopped` is set, calls raise
    `Cancelled`.
    """

    progress: Progress
    stopped: threading.Event = field(factory=threading.Event)
    lock: threading.Lock = field(factory=threading.Lock)

    def __call__(self, done: float, total: float | None = None, message: str = "") -> None:
        if self.stopped.is_set():
            raise Cancelled("Mapping was canceled.")
        with self.lock:
            self.progress(done, total, message)


def run_parallel(work: Sequence[Callable[[Progress], T]], at_once: int, progress: Progress) -> list[T]:
    """Run all functions in `work` in at most `at_once` threads, and return their results in order.

    After an error, no more functions start, but running ones are completed, because their answers are already paid for.
    If `progress` raises, all are canceled. The first error is raised after all threads have ended.
    """
    if len(work) == 1:
        progress(0, 1, "asking the model")
        return [work[0](progress)]
    report = _SharedProgress(progress)
    with ThreadPoolExecutor(max(1, min(at_once, len(work))), thread_name_prefix="citekit-model") as pool:
        futures = [pool.submit(each, report) for each in work]
        try:
            _await(futures, report)
        except BaseException:
            report.stopped.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    return [future.result() for future in futures]


def _await(futures: Sequence[Future[T]], report: _SharedProgress) -> None:
    """Wait until all functions have ended, and raise the first error; raise a cancellation at once."""
    pending, first_error = set(futures), None
    while pending:
        report(
            len(futures) - len(pending), len(futures), f"mapped {len(futures) - len(pending)} of {len(futures)} parts"
        )
        done, pending = wait(pending, timeout=_POLL_SECONDS, return_when=FIRST_COMPLETED)
        for future in done:
            error = None if future.cancelled() else future.exception()
            if error is not None and not isinstance(error, Exception):
                raise error
            if isinstance(error, Cancelled):
                raise error
            first_error = first_error or error
        if first_error is not None:
            pending = {future for future in pending if not future.cancel()}
    if first_error is not None:
        raise first_error
