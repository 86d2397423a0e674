"""The rights that a process gives up before it parses untrusted files. The limits hold whatever a file makes the process do.

Limits of memory and of what it writes are the system's own (setrlimit). On Linux, Landlock takes away the right to write
outside of some folders, to run programs, to reach other machines and to signal other processes (kernel 5.13; the last two
from 6.7 and 6.12 on). Where a system has none of these, the process runs without.
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

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
"""Numbers of the system calls, the same on every architecture (include/uapi/asm-generic/unistd.h)."""

_PATH_BENEATH = 1
_NO_NEW_PRIVILEGES = 38

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_FOLDER = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_CHANGES = sum(1 << bit for bit in (1, 4, 5, 6, 7, 8, 9, 10, 11, 12))
_BY_VERSION = ((2, 1 << 13), (3, 1 << 14))
"""Rights that later versions of Landlock know: linking between folders, truncating."""

_LOADERS = ("lib*/ld-*.so*", "lib/*/ld-*.so*")
"""What the system starts before a program that is linked to libraries; it is itself looked at as a program."""

_NETWORK = 0b11
_OUTSIDE = 0b11


def end_with(descriptor: int) -> None:
    """End this process as soon as the other end of that pipe is closed, whatever it is doing, and what it runs."""
    with suppress(ImportError, AttributeError, OSError, ValueError):
        import fcntl

        signal.signal(signal.SIGIO, signal.SIG_DFL)
        leads = os.getpgrp() == os.getpid()
        fcntl.fcntl(descriptor, fcntl.F_SETOWN, -os.getpid() if leads else os.getpid())
        flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
        fcntl.fcntl(descriptor, fcntl.F_SETFL, flags | os.O_ASYNC)


def limit_memory(size: int) -> None:
    """Hold at most `size` bytes; a request for more fails. No image of this process is left behind when it dies."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        kind = resource.RLIMIT_DATA if sys.platform == "linux" else resource.RLIMIT_AS
        resource.setrlimit(kind, (size, size))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def held_of_limit() -> float:
    """Which part of the memory that `limit_memory` allows is held now; 0 if the system does not tell."""
    if sys.platform != "linux":
        return 0.0
    with suppress(ImportError, OSError, ValueError, IndexError):
        import resource

        _, limit = resource.getrlimit(resource.RLIMIT_DATA)
        return _held() / limit if limit > 0 else 0.0
    return 0.0


def allow_memory(size: int | None) -> bool:
    """Hold at most `size` bytes more than now, until this is called again, and never more than `limit_memory` allows.

    None allows all of that. Returns whether `size` is the limit that counts. On Linux alone: elsewhere the system does not
    tell what is held.
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
    """Bytes of private memory that this process holds, as `RLIMIT_DATA` counts them."""
    return int(Path("/proc/self/statm").read_text("ascii").split()[5]) * os.sysconf("SC_PAGE_SIZE")


def allow_processor_time(seconds: float) -> None:
    """Run for at most `seconds` of processor time from now on, until this is called again: `SIGXCPU` then ends this process.

    Not on Linux, which counts ticks for this limit, up to half too many: there the parent watches (`Child.processor_time`).
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
    """Write at most `size` bytes to a file, until this is called again; more fails with `EFBIG`."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))


def confine(writable: Sequence[Path], programs: Sequence[Path] = ()) -> bool:
    """Give up, for good, to write outside of `writable`, to run programs but `programs`, to reach others.

    Returns whether that could be done.

    Only for a process of one thread: others would keep their rights.
    """
    if sys.platform != "linux":
        return False
    system = ctypes.CDLL(None, use_errno=True)
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
        system.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
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
        return  # what is not there cannot be written to either
    try:
        system.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, struct.pack("=Qi", rights, descriptor), 0)
    finally:
        os.close(descriptor)
