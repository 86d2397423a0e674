"""Steps of a program: each call that changes a file below one folder, counted in all of its processes, any of which may fail."""

from __future__ import annotations

import mmap
import os
import shutil
import struct
import subprocess
from enum import IntEnum, IntFlag
from functools import cache
from pathlib import Path
from typing import Self

from attrs import frozen

SOURCE = Path(__file__).with_name("steps.c")

_WORDS = struct.Struct("=8q")
_ROOT, _WHAT, _TEXT, _SIZE = 64, 576, 512, 4096


class How(IntEnum):
    """What becomes of a step; the numbers are those of steps.c.

    `KILL`: before it, the process group is killed. `KILL_HALF`: half of a write is written first. `FAIL_ONCE`: it fails.
    `FAIL_ON`: it and all after it fail, as far as they are of the groups; of a write half is still written. `SHORT`: from it
    on each write takes half of what it is given, and says so.
    """

    COUNT = 0
    KILL = 1
    KILL_HALF = 2
    FAIL_ONCE = 3
    FAIL_ON = 4
    SHORT = 5


class Group(IntFlag):
    """Kinds of steps."""

    MAKES = 1
    WRITES = 2
    NAMES = 4
    REMOVES = 8
    SYNCS = 16
    MARKS = 32


NEEDS_SPACE = Group.MAKES | Group.WRITES | Group.NAMES
EVERY = NEEDS_SPACE | Group.REMOVES | Group.SYNCS | Group.MARKS


@frozen
class Fault:
    """What happens at the step `at` (1 is the first); `error` is a number of `errno`."""

    at: int
    how: How
    error: int = 0
    groups: Group = EVERY


NONE = Fault(0, How.COUNT)


@frozen
class Step:
    """One step of the trace: what it does to which file (`other`: its new name)."""

    number: int
    process: int
    does: str
    path: str
    other: str
    size: int

    @classmethod
    def read(cls, line: str) -> Self:
        """A line that steps.c wrote."""
        number, process, does, path, other, size = line.split("\t")
        return cls(int(number), int(process), does, path, other, int(size))


@frozen
class Control:
    """The page that says what is to happen, shared with every process that was started with `environment`."""

    page: mmap.mmap
    environment: dict[str, str]
    trace: Path

    @classmethod
    def over(cls, folder: Path, root: Path) -> Self:
        """For steps below `root`; the page and the trace lie in `folder`. Raises `OSError` where nothing can be compiled."""
        page, trace = folder / "control", folder / "trace"
        page.write_bytes(bytes(_SIZE))
        trace.touch()
        with page.open("r+b") as file:
            shared = mmap.mmap(file.fileno(), _SIZE)
        text = os.fsencode(root)
        shared[_ROOT : _ROOT + _TEXT] = text.ljust(_TEXT, b"\0")
        preloaded = {"LD_PRELOAD": str(library(folder)), "FAULTS_CONTROL": str(page), "FAULTS_TRACE": str(trace)}
        return cls(shared, preloaded, trace)

    def arm(self, fault: Fault) -> None:
        """From here on steps are counted, and `fault` happens."""
        os.truncate(self.trace, 0)
        self.page[_WHAT : _WHAT + _TEXT] = bytes(_TEXT)
        later = _WORDS.unpack(self.page[: _WORDS.size])[-1]
        self.page[: _WORDS.size] = _WORDS.pack(1, 0, fault.at, fault.how, fault.error, fault.groups, 0, later)

    def shift(self, seconds: int) -> None:
        """Let the clock of the processes that start be so much later."""
        self.page[_WORDS.size - 8 : _WORDS.size] = struct.pack("=q", seconds)

    def disarm(self) -> tuple[int, int, str]:
        """Stop; how many steps there were, how many went wrong, and the first of these."""
        _, counted, _, _, _, _, hit, later = _WORDS.unpack(self.page[: _WORDS.size])
        self.page[: _WORDS.size] = _WORDS.pack(0, 0, 0, 0, 0, 0, 0, later)
        return counted, hit, self.page[_WHAT : _WHAT + _TEXT].rstrip(b"\0").decode("utf-8", "replace")

    def steps(self) -> list[Step]:
        """The steps since it was armed, in their order."""
        lines = self.trace.read_text("utf-8", "replace").splitlines()
        return sorted(map(Step.read, lines), key=lambda step: step.number)


def compiler() -> str | None:
    """The C compiler of this machine."""
    return shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")


@cache
def library(folder: Path) -> Path:
    """The compiled steps.c, in `folder`."""
    made = folder / "steps.so"
    program = compiler()
    if program is None:
        raise FileNotFoundError("there is no C compiler")
    subprocess.run([program, "-O1", "-shared", "-fPIC", "-o", str(made), str(SOURCE), "-ldl"], check=True)
    return made
