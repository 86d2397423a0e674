"""Maps many files in parallel."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TypeVar

from attrs import frozen

from citekit.application.ingest import Ingested
from citekit.application.ingest_for_search import IngestForSearch
from citekit.application.resource_ids import TRIES, names_in_folders
from citekit.domain.errors import Cancelled, CiteKitError, MapperUnavailable
from citekit.domain.formats import by_name
from citekit.domain.ids import resource_id
from citekit.domain.modality import Modality
from citekit.domain.progress import Progress, silent

AHEAD = 8
"""The maximum number of finished outcomes per thread that wait for the consumer."""

HEARTBEAT = 0.25
"""Seconds after which a wait for an outcome restarts, so that Python can handle a signal."""

T = TypeVar("T")


@frozen
class Outcome:
    """The result for one file: a map, or the error."""

    path: Path
    ingested: Ingested | None = None
    error: CiteKitError | None = None


@frozen
class IngestMany:
    """Maps files in parallel, and indexes new maps for search. If one file fails, the others are still mapped."""

    ingest: IngestForSearch

    def __call__(
        self,
        paths: Iterable[Path],
        *,
        modality: Modality | None = None,
        force: bool = False,
        wanted: Mapping[Path, str] | None = None,
        concurrency: int = 2,
        progress: Progress = silent,
    ) -> Iterator[Outcome]:
        """Yield an outcome for every file, in the order of completion.

        `wanted` has the resource IDs of files that do not get one from their names. If `progress` raises `Cancelled`,
        that is the error of the file. If the caller stops iterating, the files in progress are canceled.
        """
        stopped = threading.Event()

        def report(done: float, total: float | None = None, message: str = "") -> None:
            if stopped.is_set():
                raise Cancelled
            progress(done, total, message)

        def one(path: Path) -> Outcome:
            name = (wanted or {}).get(path)
            try:
                made = self.ingest(path, wanted_id=name, modality=modality, force=force, progress=report)
                return Outcome(path, made)
            except CiteKitError as error:
                return Outcome(path, error=error)
            except Exception as bug:
                return Outcome(path, error=_unexpected(path, bug))

        return _in_turns(one, paths, max(1, concurrency), stopped)


def _in_turns(
    one: Callable[[Path], Outcome], paths: Iterable[Path], concurrency: int, stopped: threading.Event
) -> Iterator[Outcome]:
    """Yield the result of `one` for each path, in the order of completion.

    `one` is called in `concurrency` threads, which wait while too many results have not been consumed.
    """
    lines = in_lines(paths)
    ready, left = deque(lines.values()), sum(map(len, lines.values()))
    done: SimpleQueue[Outcome | BaseException] = SimpleQueue()
    room = threading.Semaphore(AHEAD * concurrency)

    def work() -> None:
        try:
            while True:
                line = ready.popleft()
                while line:
                    room.acquire()
                    if stopped.is_set():
                        return
                    done.put(one(line.popleft()))
        except IndexError:
            return
        except BaseException as error:
            done.put(error)

    threads = [threading.Thread(target=work, name=f"ingest-{n}") for n in range(min(concurrency, len(ready)))]
    try:
        for thread in threads:
            thread.start()
        for _ in range(left):
            outcome = _next(done)
            if isinstance(outcome, BaseException):
                raise outcome
            room.release()
            yield outcome
    finally:
        stopped.set()
        room.release(concurrency)
        for thread in threads:
            if thread.ident is not None:
                thread.join()


def _next(queue: SimpleQueue[T]) -> T:
    """Wait for the next item without missing Ctrl-C.

    A signal that arrives just before the main thread blocks does not end the wait.
    """
    while True:
        with suppress(Empty):
            return queue.get(timeout=HEARTBEAT)


def in_lines(paths: Iterable[Path]) -> dict[str, deque[Path]]:
    """Return queues of files, each under an ID that its files may get. Files that may get the same ID share a queue.

    So `a_2` (see `ChooseId`) is the same file regardless of the number of threads.
    """
    files = list(paths)
    first: dict[str, str] = {}

    def line_of(name: str) -> str:
        while first.setdefault(name, name) != name:
            name = first[name]
        return name

    def join(names: Iterable[str]) -> str:
        several = {line_of(name) for name in names}
        line = min(several)
        first.update(dict.fromkeys(several, line))
        return line

    same_name: dict[str, list[Path]] = {}
    for path in files:
        same_name.setdefault(join(_ids(path.name)), []).append(path)
    for several in same_name.values():
        if len(several) > 1:
            names = {name for path in several for each in (path.name, *names_in_folders(path)) for name in _ids(each)}
            own = {name for path in several for name in _ids(path.name)}
            join(names | {f"{name}_{number}" for name in own for number in range(2, min(len(several), TRIES) + 1)})
    lines: dict[str, deque[Path]] = {}
    for path in files:
        lines.setdefault(line_of(resource_id(path.name)), deque()).append(path)
    return lines


def _ids(name: str) -> tuple[str, str]:
    """Return the two possible IDs of a file. Its format decides between them."""
    return resource_id(name), resource_id(name, keep_extension=True)


def _unexpected(path: Path, bug: Exception) -> MapperUnavailable:
    """Return an error for an unexpected exception, so that one file does not stop the others."""
    error = MapperUnavailable(
        f"An unexpected error occurred while mapping {path} ({type(bug).__name__}: {bug}). Please report it."
    )
    error.__cause__ = bug
    return error


def files_below(
    paths: Sequence[Path],
    skip: Sequence[Path] = (),
    left_out: Callable[[Path], None] = lambda _: None,
    is_mappable: Callable[[Path], object] = lambda path: by_name(path.name),
) -> Iterator[Path]:
    """Yield the files in `paths`, and the files below the folders in `paths` that can be mapped.

    The files of each folder are sorted by name, and precede those of its subfolders.

    In folders, hidden files and folders, symbolic links to folders, and the folders in `skip` are skipped. `left_out`
    is called with visible files that are not `is_mappable`.
    """
    skipped = {path.resolve() for path in skip}
    for path in paths:
        if not os.path.isdir(path):  # noqa: PTH112 - Path.is_dir raises for a name that is too long
            yield path
            continue
        for folder, folders, names in os.walk(path):
            here = Path(folder)
            folders[:] = sorted(
                name for name in folders if not name.startswith(".") and (here / name).resolve() not in skipped
            )
            for name in sorted(name for name in names if not name.startswith(".")):
                if is_mappable(here / name):
                    yield here / name
                else:
                    left_out(here / name)
