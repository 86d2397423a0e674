"""Removes system calls and capabilities that no parser needs from the current process (Linux, x86-64 and ARM64).

The calls would bypass Landlock: changing permissions, owners, times, and attributes of files; sending data over UDP or
to other programs of the user; leaving the process group, which is killed as a whole; and changing the limits or the
priority of other processes.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from collections.abc import Iterable, Sequence

from attrs import frozen

_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""Numbers of architectures for seccomp (include/uapi/linux/audit.h)."""

_FORBIDDEN: tuple[tuple[int | None, int | None], ...] = (
    (41, 198),  # socket
    (112, 157), (109, 154),  # setsid, setpgid
    (90, None), (91, 52), (268, 53), (452, 452),  # chmod, fchmod, fchmodat, fchmodat2
    (92, None), (93, 55), (94, None), (260, 54),  # chown, fchown, lchown, fchownat
    (132, None), (235, None), (261, None), (280, 88),  # utime, utimes, futimesat, utimensat
    (188, 5), (189, 6), (190, 7), (463, 463),  # setxattr, lsetxattr, fsetxattr, setxattrat
    (197, 14), (198, 15), (199, 16), (466, 466),  # removexattr, lremovexattr, fremovexattr, removexattrat
    (101, 117), (310, 270), (311, 271), (438, 438),  # ptrace, process_vm_readv, process_vm_writev, pidfd_getfd
    (425, 425), (426, 426), (427, 427),  # io_uring_setup, io_uring_enter, io_uring_register
    (248, 217), (249, 218), (250, 219),  # add_key, request_key, keyctl
    (251, 30), (144, 119), (314, 274),  # ioprio_set, sched_setscheduler, sched_setattr
    (272, 97), (308, 268), (321, 280), (298, 241), (323, 282),  # unshare, setns, bpf, perf_event_open, userfaultfd
)  # fmt: skip
"""Numbers of system calls on x86-64 and ARM64 (asm/unistd_64.h, asm-generic/unistd.h)."""

_NUMBER, _ARCHITECTURE, _FIRST, _SECOND = 0, 4, 16, 24
"""Offsets in `struct seccomp_data`. For arguments, they are the offsets of the lower 32 bits."""

_OTHER_ABI = 0x40000000
"""On x86-64, system calls with this number or a higher one belong to the x32 ABI."""

_LOAD, _EQUALS, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | errno.EPERM
_SET_SECCOMP, _FILTER = 22, 2
_CAPABILITIES_VERSION = 0x20080522

_KEPT = 0b110
"""Capabilities that root keeps: reading and writing files of other users (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH)."""


@frozen
class _Checked:
    """A system call that is checked by its argument at the offset `argument`.

    That argument must be one of `values` if `allowed` is true, and must not be one of them otherwise.
    """

    numbers: tuple[int, int]
    argument: int
    values: Sequence[int]
    allowed: bool


_CHECKED = (
    _Checked((302, 261), _FIRST, (0,), allowed=True),  # prlimit64: of this process
    _Checked((141, 140), _SECOND, (0,), allowed=True),  # setpriority: of this process
    _Checked((16, 29), _SECOND, (0x5412, 0x541C), allowed=False),  # ioctl: TIOCSTI, TIOCLINUX type into a terminal
)


def forbid_calls(system: ctypes.CDLL) -> bool:
    """Make the forbidden system calls fail with `EPERM` in this process and its programs. Return whether that
    succeeded.

    `no_new_privs` must be set, and the process must have only one thread.
    """
    machine = os.uname().machine
    if machine not in _ARCHITECTURES:
        return False
    code = b"".join(_program(_ARCHITECTURES[machine], list(_ARCHITECTURES).index(machine)))
    held = ctypes.create_string_buffer(code)
    program = struct.pack("@HP", len(code) // 8, ctypes.addressof(held))
    return bool(system.prctl(_SET_SECCOMP, _FILTER, program, 0, 0) == 0)


def drop_capabilities(system: ctypes.CDLL) -> None:
    """Drop the capabilities of root except `_KEPT`."""
    header = struct.pack("=Ii", _CAPABILITIES_VERSION, 0)
    held = ctypes.create_string_buffer(24)
    if system.capget(header, held) == 0:
        permitted = struct.unpack("=6I", held.raw)[1] & _KEPT
        system.capset(header, struct.pack("=6I", permitted, permitted, 0, 0, 0, 0))


def _program(architecture: int, column: int) -> Iterable[bytes]:
    """Yield the instructions of the filter (classic BPF)."""
    yield _step(_LOAD, _ARCHITECTURE)
    yield _step(_EQUALS, architecture, 1, 0)
    yield _step(_RETURN, _REFUSE)
    yield _step(_LOAD, _NUMBER)
    yield _step(_AT_LEAST, _OTHER_ABI, 0, 1)
    yield _step(_RETURN, _REFUSE)
    for numbers in _FORBIDDEN:
        number = numbers[column]
        if number is not None:
            yield _step(_EQUALS, number, 0, 1)
            yield _step(_RETURN, _REFUSE)
    for each in _CHECKED:
        found, otherwise = (_ALLOW, _REFUSE) if each.allowed else (_REFUSE, _ALLOW)
        yield _step(_EQUALS, each.numbers[column], 0, 2 + 2 * len(each.values))
        yield _step(_LOAD, each.argument)
        for value in each.values:
            yield _step(_EQUALS, value, 0, 1)
            yield _step(_RETURN, found)
        yield _step(_RETURN, otherwise)
    yield _step(_RETURN, _ALLOW)


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)
