"""Map many files at once."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TypeVar

from attrs import frozen

from citekit.application.ingest import Ingest, Ingested
from citekit.domain.errors import CiteKitError, MapperUnavailable
from citekit.domain.formats import by_name
from citekit.domain.ids import resource_id
from citekit.domain.modality import Modality
from citekit.domain.progress import Progress, silent

AHEAD = 8
"""Outcomes for each thread that wait to be taken."""

HEARTBEAT = 0.25
"""Seconds after which a wait for an outcome starts again, so that Python can handle a signal (see `_next`)."""

T = TypeVar("T")


@frozen
class Outcome:
    """What became of one file: a map, or the error that it deserved."""

    path: Path
    ingested: Ingested | None = None
    error: CiteKitError | None = None


@frozen
class IngestMany:
    """Maps files in parallel; the failure of one does not stop the rest."""

    ingest: Ingest

    def __call__(
        self,
        paths: Iterable[Path],
        *,
        modality: Modality | None = None,
        force: bool = False,
        concurrency: int = 2,
        progress: Progress = silent,
    ) -> Iterator[Outcome]:
        """An outcome for every file, as each is finished. `progress` is asked before each whether to go on."""

        def one(path: Path) -> Outcome:
            try:
                return Outcome(path, self.ingest(path, modality=modality, force=force, progress=progress))
            except CiteKitError as error:
                return Outcome(path, error=error)
            except Exception as bug:
                return Outcome(path, error=_unexpected(path, bug))

        return _in_turns(one, paths, max(1, concurrency))


def _in_turns(one: Callable[[Path], Outcome], paths: Iterable[Path], concurrency: int) -> Iterator[Outcome]:
    """What `one` gives for each of the paths, done by as many threads, as each is finished.

    The threads stay a little ahead of the consumer of the outcomes, and stop when it stops.
    """
    lines = _lines(paths)
    ready, left = deque(lines.values()), sum(map(len, lines.values()))
    done: SimpleQueue[Outcome | BaseException] = SimpleQueue()
    room, stopped = threading.Semaphore(AHEAD * concurrency), threading.Event()

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

    Python handles signals between two bytecodes of the main thread. A signal that the system delivers to another thread, or
    just before the main thread blocks, does not end the wait, and would only be noticed when a file is done.
    """
    while True:
        with suppress(Empty):
            return queue.get(timeout=HEARTBEAT)


def _lines(paths: Iterable[Path]) -> dict[str, deque[Path]]:
    """The files in lines, one behind the other where their names would give the same id.

    So `a_2` is the same file whenever the same folder is mapped, however many threads there are.
    """
    lines: dict[str, deque[Path]] = {}
    for path in paths:
        lines.setdefault(resource_id(path.name), deque()).append(path)
    return lines


def _unexpected(path: Path, bug: Exception) -> MapperUnavailable:
    """A bug that one file triggers must not cost the others their maps."""
    error = MapperUnavailable(
        f"Mapping {path} met an unexpected error ({type(bug).__name__}: {bug}). Please report it."
    )
    error.__cause__ = bug
    return error


def files_below(
    paths: Sequence[Path],
    skip: Sequence[Path] = (),
    left_out: Callable[[Path], None] = lambda _: None,
    is_known: Callable[[str], object] = by_name,
) -> Iterator[Path]:
    """The files that `paths` name: a file as it is, a folder as every file below it with a known name, sorted.

    In folders, hidden files, symbolic links to folders, and the folders in `skip` are skipped; named files never are.
    `is_known` decides by the file name; `left_out` is called with every other file in a folder.
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
                if is_known(name):
                    yield here / name
                else:
                    left_out(here / name)
