"""Defines the record of an ingest of many files: what became of each file, and what remains."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from attrs import frozen


class FileState(StrEnum):
    """What became of one file of a run."""

    DONE = "done"
    SKIPPED = "skipped"
    FAILED = "failed"
    SET_ASIDE = "set aside"


@frozen(kw_only=True)
class FileResult:
    """The result for one file of a run.

    `DONE` means that the file was mapped now, and `SKIPPED` that a current map existed. The other states have a
    `reason`. In a stored record, `stamp` is a text that changes when a file that failed or was set aside changes.
    """

    path: str
    state: FileState
    resource_id: str | None = None
    reason: str = ""
    stamp: str = ""


@frozen(kw_only=True)
class IngestRun:
    """The record of one ingest of many files.

    `places` are the files and folders that the user named, and `files` is the number of files in them. `last` is the
    time of the last result, or else of the start. `ended` is None if the run is still running or did not end normally.
    All times have a time zone. `failed` are the results of the files that failed or were set aside.
    """

    places: tuple[str, ...]
    files: int
    started: datetime
    last: datetime
    ended: datetime | None
    is_running: bool
    done: int
    skipped: int
    failed: tuple[FileResult, ...]

    @property
    def remaining(self) -> int:
        """The number of files without a result."""
        return max(0, self.files - self.done - self.skipped - len(self.failed))

    @property
    def rate(self) -> float:
        """The number of results per second from the start of the run to its end, or else to the last result."""
        seconds = ((self.ended or self.last) - self.started).total_seconds()
        return (self.files - self.remaining) / seconds if seconds > 0 else 0.0

    @property
    def is_complete(self) -> bool:
        """Whether no file failed, and no file remains unless the run is still running."""
        return not self.failed and (self.is_running or not self.remaining)
