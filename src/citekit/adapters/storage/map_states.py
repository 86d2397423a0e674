"""What a file or a folder looks like, as plain numbers, for listings that must start fast.

The rule is that of `adapters.drivers.file_state`; this module imports nothing, so it does without its class.
"""

from __future__ import annotations

import os

State = tuple[int, int, int, int, int]
"""(device, inode, size, time of modification, time of change of the inode), times in nanoseconds since the epoch."""

FINE, COARSE = 0.05, 2.0
"""Seconds within which a file may change twice and keep its times: on most file systems, and on FAT."""

_COARSE_STEP = 10_000_000
"""Nanoseconds; the times of exFAT are multiples of that, those of FAT and of older Unix file systems of whole seconds."""


def state_of(status: os.stat_result) -> State:
    """The state of a file or folder."""
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def is_settled(state: State, looked: float, since: float) -> bool:
    """Whether another change after `looked` would show. It was first seen like this at `since`, both in epoch seconds."""
    modified, changed = state[3] / 1e9, state[4] / 1e9
    last = changed if modified > looked else max(changed, modified)
    window = FINE if state[4] % _COARSE_STEP else COARSE
    return looked - (since if last > looked else last) > window


def version_of(status: os.stat_result, looked: float) -> str:
    """A text that is another one as soon as the file is; while a change might not show it is another one at every look."""
    state = state_of(status)
    text = text_of(state)
    return text if is_settled(state, looked, looked) else f"{text}@{looked}"


def text_of(state: State) -> str:
    """The state as text, for a row of a table."""
    return f"{state[0]}:{state[1]}:{state[2]}:{state[3]}:{state[4]}"
