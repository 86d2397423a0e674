"""A child process that runs CiteKit, answers messages, and can be killed at any time (POSIX).

A message is a length of eight bytes (big-endian) followed by that many bytes. When the parent ends, a pipe to it is
closed, and the kernel then terminates the child, even inside a compiled loop.
"""

from __future__ import annotations

import os
import select
import signal
import struct
import subprocess
import sys
import time
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic

from attrs import define, field

from citekit.adapters.system.home_files import write_all

MESSAGE_LIMIT = 1 << 28
"""Size limit of a received message, in bytes."""

LOW_PRIORITY = 15
"""The nice value of a child whose priority was lowered (see `ChildProcess.lower_priority`)."""

_HEAD = struct.Struct(">Q")
_PIECE = 1 << 20
_ENDING = 5.0
_KEPT: tuple[str, ...] = (
    "HOME", "LANG", "LANGUAGE", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "OMP_NUM_THREADS", "PATH", "TMPDIR", "TZ",
)  # fmt: skip


class ChildProcessEndedError(Exception):
    """The child has ended; `status` is its exit status, or the negated number of the signal that killed it."""

    def __init__(self, status: int) -> None:
        self.status = status
        super().__init__(status)

    @property
    def how(self) -> str:
        """How the child ended: its exit status or the signal that killed it, as the predicate of a sentence."""
        if self.status >= 0:
            return f"ended with status {self.status}"
        with suppress(ValueError):
            return f"was terminated by {signal.Signals(-self.status).name}"
        return f"was terminated by signal {-self.status}"


def environment(given: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the variables of `given` that a child needs, such as PATH, without secrets such as API keys."""
    return {name: value for name, value in given.items() if name in _KEPT or name.startswith("LC_")}


def python(code: str) -> list[str]:
    """Return the command that runs `code` with the current module search path, but without the working directory.

    The command ignores environment variables and start-up files of Python, and writes no compiled copies (`-I -S -B`).
    Arguments that the caller appends to it appear in `sys.argv`.
    """
    places = [place for place in sys.path if os.path.isabs(place)]  # noqa: PTH117 - plain texts, as Python keeps them
    flags = ["-I", "-S", "-B", *(["-X", "utf8"] if sys.flags.utf8_mode else [])]
    find = f"import sys; count = int(sys.argv[1]); sys.path[:] = sys.argv[2 : 2 + count]; del sys.argv[1 : 2 + count]; {code}"
    return [sys.executable, *flags, "-c", find, str(len(places)), *places]


@define
class Line:
    """One end of a pair of pipes: reads messages from the descriptor `source`, and writes them to `sink`."""

    source: int
    sink: int
    _held: bytearray = field(factory=bytearray, init=False, repr=False)

    def send(self, message: bytes) -> None:
        """Send a message. Raise `OSError` if the peer no longer reads."""
        write_all(self.sink, _HEAD.pack(len(message)) + message)

    def receive(self, timeout: float | None = None) -> bytes | None:
        """Return the next message, or None if it is not complete within `timeout` seconds (None: no limit).

        Raise `EOFError` if the peer has ended, or if it announces a message of more than `MESSAGE_LIMIT` bytes.
        """
        due = None if timeout is None else monotonic() + timeout
        while (message := self._message()) is None:
            if not _readable(self.source, None if due is None else max(0.0, due - monotonic())):
                return None
            piece = os.read(self.source, _PIECE)
            if not piece:
                raise EOFError
            self._held += piece
        return message

    def _message(self) -> bytes | None:
        if len(self._held) < _HEAD.size:
            return None
        (size,) = _HEAD.unpack_from(self._held)
        if size > MESSAGE_LIMIT:
            raise EOFError
        end = _HEAD.size + size
        if len(self._held) < end:
            return None
        message = bytes(memoryview(self._held)[_HEAD.size : end])
        del self._held[:end]
        return message

    def close(self) -> None:
        """Close both descriptors."""
        os.close(self.source)
        os.close(self.sink)


@define(eq=False)
class ChildProcess:
    """A running child process, for one caller at a time.

    It leads its own process group, so that Ctrl-C does not reach it, and the programs that it runs can be killed with
    it.
    """

    _process: subprocess.Popen[bytes]
    _line: Line
    _life: int
    _is_open: bool = field(default=True, init=False)
    _is_low: bool = field(default=False, init=False)
    _starter: int = field(factory=os.getpid, init=False)

    @classmethod
    def start(cls, command: Sequence[str]) -> ChildProcess:
        """Start `command` with three descriptors as further arguments: two for its `Line`, and the end of a pipe whose
        other end is closed when this process (the parent) ends.

        Raise `OSError` if it cannot be started.
        """
        to_child, from_child, life = _pipe(), _pipe(), _pipe()
        theirs = (to_child[0], from_child[1], life[0])
        try:
            process = subprocess.Popen(
                [*command, *map(str, theirs)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=None if _is_handed_on(2) else subprocess.DEVNULL,
                env=environment(),
                pass_fds=theirs,
                process_group=0,
            )
        except BaseException:
            for descriptor in (to_child[1], from_child[0], life[1]):
                os.close(descriptor)
            raise
        finally:
            for descriptor in theirs:
                os.close(descriptor)
        child = cls(process, Line(from_child[0], to_child[1]), life[1])
        _running.add(child)
        return child

    def send(self, message: bytes) -> None:
        """Send a message. Raise `ChildProcessEndedError` if the child has ended."""
        if not self._is_open:
            raise self._ended()
        try:
            self._line.send(message)
        except OSError as error:
            raise self._ended() from error

    def receive(self, timeout: float) -> bytes | None:
        """Return the next message, or None if no complete message arrives within `timeout` seconds.

        Raise `ChildProcessEndedError` if the child has ended, or was killed for a message of more than `MESSAGE_LIMIT`
        bytes.
        """
        if not self._is_open:
            raise self._ended()
        try:
            return self._line.receive(timeout)
        except (OSError, EOFError) as error:
            raise self._ended() from error

    def processor_time(self) -> float | None:
        """Return the processor time of the child and its programs in seconds, or None if it is unknown.

        It is measured from outside (on Linux), so the child cannot falsify it.
        """
        if sys.platform != "linux" or self._process.returncode is not None:
            return None
        pid = self._process.pid
        try:
            return _clock(pid) + _of_ended_programs(pid) + sum(map(_clock, _programs(pid)))
        except (OSError, ValueError, IndexError):
            return None

    def lower_priority(self) -> None:
        """Lower the priority of the child and of the programs that it runs."""
        if not self._is_low and self._process.returncode is None and os.getpid() == self._starter:
            self._is_low = True
            with suppress(OSError):
                os.setpriority(os.PRIO_PGRP, self._process.pid, LOW_PRIORITY)

    def restore_priority(self) -> bool:
        """Undo `lower_priority`. Return False if the system does not allow it."""
        if self._is_low:
            try:
                os.setpriority(os.PRIO_PGRP, self._process.pid, os.getpriority(os.PRIO_PROCESS, 0))
            except OSError:
                return False
            self._is_low = False
        return True

    def kill(self) -> None:
        """Kill the child and its programs, and wait for it. In a forked process, only close the pipes.

        Closing the pipes alone would not end a stopped child (SIGSTOP).
        """
        self._end_group()
        self.leave()
        self._status()

    def leave(self) -> None:
        """Abandon the child in a forked process. If both processes used it, each could receive the other's answers."""
        if self._is_open:
            self._is_open = False
            os.close(self._life)
            self._line.close()

    def __del__(self) -> None:
        self.kill()

    def _end_group(self) -> None:
        """Kill the process group. Call this only before the child is reaped, because its ID may be reused afterwards."""
        if self._process.returncode is None and os.getpid() == self._starter:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def _ended(self) -> ChildProcessEndedError:
        self._end_group()
        status = self._status()
        self.leave()
        return ChildProcessEndedError(status)

    def _status(self) -> int:
        if os.getpid() != self._starter:
            return 0
        try:
            return self._process.wait(_ENDING)
        except subprocess.TimeoutExpired:  # its pipe is closed, but it is still running
            self._process.kill()
            return self._process.wait()


def _clock(pid: int) -> float:
    """Return the processor time of a process in seconds by its own clock (clock_getcpuclockid), which is more precise
    than ticks.
    """
    return time.clock_gettime((~pid << 3) | 2)


def _of_ended_programs(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    return (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")


def _programs(pid: int) -> list[int]:
    """Return the IDs of the child processes of a process, if the kernel lists them."""
    try:
        return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_bytes().split()]
    except OSError:
        return []


_running: weakref.WeakSet[ChildProcess] = weakref.WeakSet()


def _leave_all() -> None:
    for child in list(_running):
        child.leave()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_all)


def _is_handed_on(descriptor: int) -> bool:
    """Return whether a child inherits the descriptor; False if the descriptor is closed."""
    try:
        return os.get_inheritable(descriptor)
    except OSError:
        return False


def _pipe() -> tuple[int, int]:
    """Create a pipe without the descriptors 0 to 2, which are replaced by the standard streams in a child."""
    import fcntl

    ends = os.pipe()
    try:
        first, second = (fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 3) for end in ends)
    finally:
        for end in ends:
            os.close(end)
    return first, second


def _readable(descriptor: int, timeout: float | None) -> bool:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(None if timeout is None else timeout * 1000))
