"""The state of a file or folder, which shows changes without reading the content. Imports almost nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Self

if TYPE_CHECKING:
    import os

FINE, COARSE = 0.05, 2.0
"""Seconds within which a file may change twice without a new timestamp: on most file systems, and on FAT."""

AHEAD = 60.0
"""Seconds by which the clock of a file server may be ahead of the local clock."""

_COARSE_STEP = 10_000_000
"""A number of nanoseconds, of which coarse timestamps are multiples: exFAT stores multiples of 10 ms, and FAT and older
Unix file systems store whole seconds.
"""


class FileState(NamedTuple):
    """The state of a file. As long as it is equal, the bytes are assumed to be unchanged. Times are in nanoseconds
    since the epoch.

    The change time of the inode (POSIX `st_ctime`), which programs cannot set, reveals an edit whose modification time
    was reset.
    """

    device: int
    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int

    @classmethod
    def of(cls, status: os.stat_result) -> Self:
        """Return the state of a file or folder with that status."""
        return cls(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)

    def __str__(self) -> str:
        """Return the state as text, for use as a key or in a table."""
        return f"{self[0]}:{self[1]}:{self[2]}:{self[3]}:{self[4]}"

    @property
    def window(self) -> float:
        """The number of seconds within which two changes may get the same timestamp, judging by the change time."""
        return FINE if self.ctime_ns % _COARSE_STEP else COARSE

    def changed(self, now: float) -> float:
        """Return the time of the last change in seconds since the epoch. A modification time after `now`, set by a
        program, is ignored.
        """
        modified, changed = self.mtime_ns / 1e9, self.ctime_ns / 1e9
        return changed if modified > now else max(changed, modified)

    def is_settled(self, now: float, window: float, since: float) -> bool:
        """Return whether a further change would be visible. Changes within `window` seconds may get the same timestamp.

        If the timestamps look coarse, the longer window `COARSE` applies. If the last change is after `now`, because
        another clock timed it, `since` is used instead: when the file was first seen in this state.
        """
        changed = self.changed(now)
        return now - (since if changed > now else changed) > (window if self.ctime_ns % _COARSE_STEP else COARSE)

    def tells(self, now: float) -> bool:
        """Return whether a further change would be visible, if it is unknown since when the file has been in this
        state.

        Also return True if the change time is well after `now`: it is then from before the clock was set back.
        """
        return self.ctime_ns / 1e9 > now + AHEAD or self.is_settled(now, self.window, now)


def version_of(status: os.stat_result, looked: float) -> str:
    """Return a text that changes with the file, for a status that was determined at `looked` (seconds since the epoch).

    While a further change might not be visible, the text contains `looked`, so that it differs each time.
    """
    state = FileState.of(status)
    return str(state) if state.tells(looked) else f"{state}@{looked}"
