"""What a file or folder looks like, by which one tells whether it has changed without reading it. Imports next to nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Self

if TYPE_CHECKING:
    import os

FINE, COARSE = 0.05, 2.0
"""Seconds within which a file may change twice and keep its times: on most file systems, and on FAT."""

AHEAD = 60.0
"""Seconds by which the clock of a file server may be ahead of this computer's."""

_COARSE_STEP = 10_000_000
"""Nanoseconds; the times of exFAT are multiples of that, those of FAT and of older Unix file systems of whole seconds."""


class FileState(NamedTuple):
    """While a file looks so, its bytes are taken to be the same. Times are nanoseconds since the epoch.

    The time of change of the inode (POSIX `st_ctime`) reveals an edit whose modification time was set back: no program can
    set it. Elsewhere it is the time of creation, and does no harm.
    """

    device: int
    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int

    @classmethod
    def of(cls, status: os.stat_result) -> Self:
        """The state of an open or closed file, or of a folder."""
        return cls(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)

    def __str__(self) -> str:
        """The state as text, for the key or the row of a table."""
        return f"{self[0]}:{self[1]}:{self[2]}:{self[3]}:{self[4]}"

    @property
    def window(self) -> float:
        """Seconds within which its file system may give two changes the same times, as far as the times tell."""
        return FINE if self.ctime_ns % _COARSE_STEP else COARSE

    def changed(self, now: float) -> float:
        """When the file was last changed, in seconds since the epoch. A time of modification beyond `now` was set by hand."""
        modified, changed = self.mtime_ns / 1e9, self.ctime_ns / 1e9
        return changed if modified > now else max(changed, modified)

    def is_settled(self, now: float, window: float, since: float) -> bool:
        """Whether another change would show: a file system may give the same times to changes within `window` seconds.

        Times that look coarse count as such, whatever the `window`. `since` is when the file was first seen like this. It
        counts where the last change lies beyond `now`: the clock was set, or it is that of another computer.
        """
        changed = self.changed(now)
        return now - (since if changed > now else changed) > (window if self.ctime_ns % _COARSE_STEP else COARSE)

    def tells(self, now: float) -> bool:
        """Whether another change would show, though nobody remembers since when the file looks like this.

        A time of change well beyond `now` is from before the clock was set back: another change has other times.
        """
        return self.ctime_ns / 1e9 > now + AHEAD or self.is_settled(now, self.window, now)


def version_of(status: os.stat_result, looked: float) -> str:
    """A text that is another one as soon as the file is; while a change might not show it is another one at every look."""
    state = FileState.of(status)
    return str(state) if state.tells(looked) else f"{state}@{looked}"
