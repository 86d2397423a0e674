"""What a file looks like, by which one tells whether it has changed without reading it."""

from __future__ import annotations

import os
from typing import Self

from attrs import frozen


@frozen
class FileState:
    """While a file looks so, its bytes are taken to be the same.

    The time of change of the inode (POSIX `st_ctime`) tells of an edit whose time of modification was put back: nobody can
    set it. Elsewhere it is the time of creation, and does no harm.
    """

    device: int
    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int

    @classmethod
    def of(cls, status: os.stat_result) -> Self:
        """The state of an open or closed file."""
        return cls(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)

    def changed(self, now: float) -> float:
        """When the file was last changed, in seconds since the epoch. A time of modification beyond `now` was set by hand."""
        times = [self.ctime_ns / 1e9, self.mtime_ns / 1e9]
        return times[0] if times[1] > now else max(times)

    def is_settled(self, now: float, window: float, since: float) -> bool:
        """Whether another change would show: a file system may give the same times to changes within `window` seconds.

        `since` is when the file was first seen like this. It counts where the last change lies beyond `now`: the clock was
        set, or it is that of another computer.
        """
        changed = self.changed(now)
        return now - (since if changed > now else changed) > window
