"""The records of ingests in the home: one file of JSON lines per run.

The first line says what is mapped, each further line has one result, and the last line has the time of the end. The
process holds a lock during the run, so that a killed run is not reported as running.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

from attrs import define, field, frozen

from citekit.adapters.system.file_locks import Locks
from citekit.adapters.system.home_files import make_folder, open_file
from citekit.domain.errors import HomeUnwritable
from citekit.domain.ingest_run import FileResult, FileState, IngestRun

KEPT = 20
"""Maximum number of runs whose records are kept."""

_SUFFIX = ".jsonl"
_BAD = (FileState.FAILED, FileState.SET_ASIDE)


@frozen
class IngestRuns:
    """The records in `folder`."""

    folder: Path

    @contextmanager
    def recording(self, places: Sequence[str], files: int) -> Iterator[Callable[[FileResult], None]]:
        """Begin the record of a run over `files` files, and yield the function that adds a result.

        An error in the block leaves the record without an end. If the home cannot be written, nothing is recorded.
        """
        now = datetime.now(UTC)
        name = f"{now:%Y%m%dT%H%M%S.%f}-{os.getpid()}"
        with ExitStack() as held:
            file: TextIO | None = None
            with suppress(HomeUnwritable, OSError):
                make_folder(self.folder)
                self._forget_old()
                held.enter_context(self._locks().hold_if_free(name))
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND
                descriptor = open_file(self.folder / (name + _SUFFIX), flags, 0o600)
                file = held.enter_context(os.fdopen(descriptor, "w", encoding="utf-8"))
            _write(file, {"started": now.isoformat(), "places": list(places), "files": files})
            yield lambda result: _write(file, _plain(result))
            _write(file, {"ended": datetime.now(UTC).isoformat()})

    def last(self) -> IngestRun | None:
        """Return the run that began last, or None if there is no readable record."""
        for path in reversed(self._paths()):
            found = _Read.of(path)
            if found.started is not None:
                return found.run(self._is_running(path.stem))
        return None

    def set_aside(self) -> Mapping[str, FileResult]:
        """Return the files that the kept runs set aside, by path, without those that a later run mapped or skipped."""
        found: dict[str, FileResult] = {}
        for path in self._paths():
            run = _Read.of(path)
            for name in run.good:
                found.pop(name, None)
            found |= {each.path: each for each in run.failed if each.state is FileState.SET_ASIDE}
        return found

    def _is_running(self, name: str) -> bool:
        with self._locks().hold_if_free(name) as is_free:
            return not is_free

    def _locks(self) -> Locks:
        return Locks(self.folder / "locks", passing=True)

    def _paths(self) -> list[Path]:
        try:
            names = os.listdir(self.folder)  # noqa: PTH208 - a missing folder is no error
        except OSError:
            return []
        return [self.folder / name for name in sorted(names) if name.endswith(_SUFFIX)]

    def _forget_old(self) -> None:
        for path in self._paths()[: -KEPT + 1]:
            if not self._is_running(path.stem):
                path.unlink(missing_ok=True)


@define
class _Read:
    """The content of the record of one run."""

    places: tuple[str, ...] = ()
    files: int = 0
    started: datetime | None = None
    last: datetime | None = None
    ended: datetime | None = None
    done: int = 0
    skipped: int = 0
    good: set[str] = field(factory=set)
    failed: list[FileResult] = field(factory=list)

    @classmethod
    def of(cls, path: Path) -> _Read:
        """Read the record. Lines that are not valid are ignored."""
        found = cls()
        with suppress(OSError), os.fdopen(open_file(path), encoding="utf-8", errors="replace") as file:
            for line in file:
                with suppress(ValueError, KeyError, TypeError, AttributeError, RecursionError):
                    found._add(json.loads(line))
        return found

    def run(self, is_running: bool) -> IngestRun:
        assert self.started is not None
        return IngestRun(
            places=self.places,
            files=self.files,
            started=self.started,
            last=self.last or self.started,
            ended=self.ended,
            is_running=is_running and self.ended is None,
            done=self.done,
            skipped=self.skipped,
            failed=tuple(self.failed),
        )

    def _add(self, plain: Mapping[str, object]) -> None:
        if "started" in plain:
            places = plain["places"]
            self.places = tuple(map(str, places)) if isinstance(places, list) else ()
            self.files, self.started = int(str(plain["files"])), datetime.fromisoformat(str(plain["started"]))
        elif "ended" in plain:
            self.ended = datetime.fromisoformat(str(plain["ended"]))
        else:
            self._add_result(FileState(str(plain["state"])), plain)

    def _add_result(self, state: FileState, plain: Mapping[str, object]) -> None:
        path, self.last = str(plain["path"]), datetime.fromisoformat(str(plain["at"]))
        if state in _BAD:
            reason, stamp = str(plain["reason"]), str(plain["stamp"])
            self.failed.append(FileResult(path=path, state=state, reason=reason, stamp=stamp))
            return
        self.good.add(path)
        self.done += state is FileState.DONE
        self.skipped += state is FileState.SKIPPED


def stamp_of(path: Path) -> str:
    """Return a text with the size and the modification time of the file; empty if it is missing."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return ""
    return f"{status.st_size}:{status.st_mtime_ns}"


def _plain(result: FileResult) -> dict[str, object]:
    plain: dict[str, object] = {"path": result.path, "state": result.state.value, "at": datetime.now(UTC).isoformat()}
    if result.resource_id is not None:
        plain["id"] = result.resource_id
    return plain | ({"reason": result.reason, "stamp": stamp_of(Path(result.path))} if result.state in _BAD else {})


def _write(file: TextIO | None, plain: Mapping[str, object]) -> None:
    """Write one line immediately, so that other processes can read it and a killed process loses at most this line.

    If it cannot be written, the file that it describes counts as remaining.
    """
    if file is not None:
        with suppress(OSError):
            file.write(json.dumps(plain) + "\n")
            file.flush()
