"""Restricts what the current process may do before it parses untrusted files.

`setrlimit` limits memory, the size of output files, and, except on Linux, processor time. On Linux, Landlock removes
the rights to write outside given folders, to run programs, to use TCP, and to signal other processes (kernel 5.13; the
last two from 6.7 and 6.12), and seccomp removes system calls that Landlock does not control.
"""

from __future__ import annotations

import ctypes
import math
import os
import signal
import struct
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from citekit.adapters.sandbox.system_calls import drop_capabilities, forbid_calls

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
"""The numbers of the Landlock system calls on architectures with the common table (include/uapi/asm-generic/unistd.h)."""

_PATH_BENEATH = 1
_NO_NEW_PRIVILEGES = 38

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_FOLDER = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_CHANGES = sum(1 << bit for bit in (1, 4, 5, 6, 7, 8, 9, 10, 11, 12))
_BY_VERSION = ((2, 1 << 13), (3, 1 << 14))
"""Rights that later versions of Landlock control: linking between folders, and truncating."""

_LOADERS = ("lib*/ld-*.so*", "lib/*/ld-*.so*")
"""Paths of the dynamic loader, which the kernel executes before a dynamically linked program."""

_NETWORK = 0b11
_OUTSIDE = 0b11


def end_with(descriptor: int) -> None:
    """Make Linux kill this process when the other end of the pipe `descriptor` is closed.

    If this process leads its process group, the whole group is killed. Other systems only send `SIGIO`, with its
    default action. Nothing may be written to the pipe, because data would have the same effect.
    """
    with suppress(ImportError, AttributeError, OSError, ValueError):
        import fcntl

        signal.signal(signal.SIGIO, signal.SIG_DFL)
        leads = os.getpgrp() == os.getpid()
        fcntl.fcntl(descriptor, fcntl.F_SETOWN, -os.getpid() if leads else os.getpid())
        if sys.platform == "linux":
            fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGKILL)
        flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
        fcntl.fcntl(descriptor, fcntl.F_SETFL, flags | os.O_ASYNC)


def limit_memory(size: int) -> None:
    """Limit the memory of this process to `size` bytes, so that further allocations fail. Disable core dumps."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        kind = resource.RLIMIT_DATA if sys.platform == "linux" else resource.RLIMIT_AS
        resource.setrlimit(kind, (size, size))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def held_of_limit() -> float:
    """Return the fraction of the limit set by `limit_memory` that is in use; 0 if it is unknown."""
    if sys.platform != "linux":
        return 0.0
    with suppress(ImportError, OSError, ValueError, IndexError):
        import resource

        _, limit = resource.getrlimit(resource.RLIMIT_DATA)
        return _held() / limit if limit > 0 else 0.0
    return 0.0


def allow_memory(size: int | None) -> bool:
    """Limit the memory of this process to `size` bytes more than it uses now, within the limit set by `limit_memory`.

    None removes this limit. Return whether `size` takes effect. It does so only on Linux, which reports the memory in
    use.
    """
    if sys.platform != "linux":
        return False
    with suppress(ImportError, OSError, ValueError, IndexError):
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        wanted = hard if size is None else _held() + size
        counts = hard == resource.RLIM_INFINITY or wanted < hard
        resource.setrlimit(resource.RLIMIT_DATA, (wanted if counts else hard, hard))
        return counts and size is not None
    return False


def _held() -> int:
    """Return the private memory of this process in bytes: the data, which `RLIMIT_DATA` limits, and the stack."""
    return int(Path("/proc/self/statm").read_text("ascii").split()[5]) * os.sysconf("SC_PAGE_SIZE")


def allow_processor_time(seconds: float) -> None:
    """Limit the processor time of this process to `seconds` from now, after which `SIGXCPU` kills it.

    The next call replaces the limit. On Linux, this function does nothing, because the system counts clock ticks and
    may overcount by half; there, the parent process measures the time.
    """
    if sys.platform == "linux":
        return
    with suppress(ImportError, OSError, ValueError):
        import resource

        used = resource.getrusage(resource.RUSAGE_SELF)
        total = used.ru_utime + used.ru_stime + seconds
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        soft = resource.RLIM_INFINITY if math.isinf(total) else math.ceil(total)
        if hard != resource.RLIM_INFINITY:
            soft = hard if soft == resource.RLIM_INFINITY else min(soft, hard)
        resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


def limit_output(size: int) -> None:
    """Limit the size of each file that this process writes to `size` bytes. The next call replaces the limit."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))


def confine(writable: Sequence[Path], programs: Sequence[Path] = ()) -> bool:
    """On Linux, permanently drop rights of this process. Return whether Landlock restricts it.

    Landlock blocks writing outside the folders `writable` and running programs other than `programs`; on newer kernels,
    also TCP and signals to other processes. The calls in `system_calls` are blocked, too. The process must have only
    one thread, because other threads would keep their rights.
    """
    if sys.platform != "linux":
        return False
    system = ctypes.CDLL(None, use_errno=True)
    system.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    confined = _restrict_files(system, writable, programs)
    drop_capabilities(system)
    forbid_calls(system)
    return confined


def _restrict_files(system: ctypes.CDLL, writable: Sequence[Path], programs: Sequence[Path]) -> bool:
    version = system.syscall(_CREATE_RULESET, None, 0, 1)
    if version < 1:
        return False
    changes = _CHANGES | sum(right for since, right in _BY_VERSION if version >= since)
    ruleset = _ruleset(system, version, changes | _EXECUTE)
    if ruleset < 0:
        return False
    try:
        for folder in writable:
            _allow(system, ruleset, folder, changes)
        for program in _with_loaders(programs):
            _allow(system, ruleset, program, _EXECUTE)
        _allow(system, ruleset, Path(os.devnull), _WRITE_FILE | (changes & 1 << 14))
        return bool(system.syscall(_RESTRICT_SELF, ruleset, 0) == 0)
    finally:
        os.close(ruleset)


def _with_loaders(programs: Sequence[Path]) -> list[Path]:
    if not programs:
        return []
    return [*programs, *(place for pattern in _LOADERS for place in Path("/").glob(pattern))]


def _ruleset(system: ctypes.CDLL, version: int, rights: int) -> int:
    words = [rights]
    if version >= 4:
        words.append(_NETWORK)
    if version >= 6:
        words.append(_OUTSIDE)
    attributes = struct.pack(f"={len(words)}Q", *words)
    return int(system.syscall(_CREATE_RULESET, attributes, len(attributes), 0))


def _allow(system: ctypes.CDLL, ruleset: int, place: Path, rights: int) -> None:
    try:
        descriptor = os.open(place, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # a path that does not exist cannot be written to
    try:
        system.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, struct.pack("=Qi", rights, descriptor), 0)
    finally:
        os.close(descriptor)
