"""Disks that are full, fail, write less than they are given, cannot be written, or go away."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from tests.faults import checking
from tests.faults.kills import spread
from tests.faults.operations import OPERATIONS, Operation
from tests.faults.starting import Ended
from tests.faults.steps import EVERY, NEEDS_SPACE, Fault, How
from tests.faults.table import Row, Scale
from tests.faults.trials import Undisturbed, Workshop, after_fault

AREA = "disk"

SHARE, LEAST = 150, 2
"""Of 1200 inputs, 8 faults of each kind an operation."""

STARVED = (
    "ingest, PDF",
    "map replaced",
    "resolve, PDF pages",
    "output laid anew",
    "eviction by resolve",
    "library ingest, second book",
)
"""The operations that get a real disk of their own."""

INJECTED: Mapping[str, Callable[[int], Fault]] = {
    "the disk is full from a step on": lambda at: Fault(at, How.FAIL_ON, errno.ENOSPC, NEEDS_SPACE),
    "the disk fails at a step (EIO)": lambda at: Fault(at, How.FAIL_ONCE, errno.EIO, EVERY),
    "the disk fails from a step on (EIO)": lambda at: Fault(at, How.FAIL_ON, errno.EIO, EVERY),
    "writes are cut short from a step on": lambda at: Fault(at, How.SHORT),
}

NOBODY = 65534

KIB_LEFT = (0, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 512)
INODES_LEFT = (0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24)


def run(scale: Scale) -> Sequence[Row]:
    """A row for each kind of fault, over all operations; and for each kind of disk where one may be mounted."""
    tally = _Tally()
    at_most = max(scale.inputs // SHARE, LEAST)
    with Workshop.opened() as shop:
        for operation in scale.share(OPERATIONS):
            usual = Undisturbed.of(shop, operation)
            injected(shop, operation, usual, at_most, tally)
            foreign(shop, operation, usual, tally)
            if operation.name in STARVED and may_mount(shop.folder):
                starved(shop, operation, usual, at_most, tally)
    return tally.rows()


class _Tally:
    """What was tried and survived, by what was done."""

    def __init__(self) -> None:
        self._counts: dict[str, list[int]] = {}

    def count(self, what: str, where: str, wrong: Sequence[str]) -> None:
        counts = self._counts.setdefault(what, [0, 0])
        counts[0] += 1
        counts[1] += not wrong
        if wrong:
            print(f"{what}: {where}: {wrong}", file=sys.stderr)

    def rows(self) -> list[Row]:
        return [Row(AREA, what, tried, survived) for what, (tried, survived) in self._counts.items()]


def injected(shop: Workshop, operation: Operation, usual: Undisturbed, at_most: int, tally: _Tally) -> None:
    """Every kind of fault at steps of the operation."""
    for what, fault_at in INJECTED.items():
        for fault in spread([fault_at(step.number) for step in usual.steps], at_most):
            shop.anew(operation, usual.kept)
            ended, _, done = shop.faulty(operation, fault)
            wrong = [*unclear(ended), *after_fault(shop, operation, usual, mended=True)]
            tally.count(what, f"{operation.name} at {fault.at} ({done})", wrong)


def foreign(shop: Workshop, operation: Operation, usual: Undisturbed, tally: _Tally) -> None:
    """A user who may read the home and not write there; nothing where the harness does not run as root."""
    if os.geteuid():
        return
    (shop.folder / "tmp").chmod(0o1777)
    shop.anew(operation, usual.kept)
    before = checking.look(shop.place.home)
    ended = shop.programs.run(shop.place.words(operation.command), operation.environment, user=NOBODY)
    changed = [] if checking.look(shop.place.home) == before else ["the home was changed"]
    wrong = [*unclear(ended), *changed, *after_fault(shop, operation, usual)]
    tally.count("a user who may not write in the home", operation.name, wrong)


def starved(shop: Workshop, operation: Operation, usual: Undisturbed, at_most: int, tally: _Tally) -> None:
    """The home on a disk of its own: with little room, with few files left, read-only."""
    for left in spread(KIB_LEFT, at_most):
        _on_disk(
            shop, operation, usual, tally, f"a disk with up to {KIB_LEFT[-1]} KiB left", f"{left} KiB", _room(left)
        )
    for left in spread(INODES_LEFT, at_most):
        _on_disk(
            shop, operation, usual, tally, f"a disk with up to {INODES_LEFT[-1]} files left", f"{left}", _files(left)
        )
    _on_disk(shop, operation, usual, tally, "a read-only disk", "", _read_only)
    shop.anew(operation, usual.kept)
    with disk(shop.folder / "tmp", "size=64k") as small, _room(0)(small):
        ended = shop.run(operation)
    tally.count(
        "no room for temporary files",
        operation.name,
        [*unclear(ended), *after_fault(shop, operation, usual, mended=True)],
    )


Bound = Callable[[Path], AbstractContextManager[None]]


def _on_disk(
    shop: Workshop, operation: Operation, usual: Undisturbed, tally: _Tally, what: str, where: str, bound: Bound
) -> None:
    shop.anew(operation, usual.kept)
    moved = shop.folder / "moved"
    subprocess.run(["rm", "-rf", str(moved)], check=True)
    shop.place.home.rename(moved)
    with disk(shop.place.home, "size=400m") as home:
        subprocess.run(["cp", "-a", f"{moved}/.", str(home)], check=True)
        with bound(home):
            ended = shop.run(operation)
        wrong = [*unclear(ended), *after_fault(shop, operation, usual, mended=True)]
    tally.count(what, f"{operation.name}, {where}", wrong)


def unclear(ended: Ended) -> list[str]:
    """What is wrong with how a run ended that could not do its work: it says one thing, in words of ours, and no more."""
    if ended.code == 0:
        return []
    lines = [line for line in ended.err.splitlines() if line.startswith("Error: ")]
    if ended.code == 1 and len(lines) == 1 and "unexpected error" not in ended.err and "Traceback" not in ended.err:
        return []
    return [f"exit {ended.code}: {ended.err.strip()[-400:]}"]


@contextmanager
def disk(place: Path, options: str) -> Iterator[Path]:
    """A file system in memory at `place`. Raises `OSError` where none may be mounted."""
    place.mkdir(exist_ok=True)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)], capture_output=True).returncode:
        raise PermissionError("no file system may be mounted here")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def may_mount(folder: Path) -> bool:
    """Whether a file system may be mounted below `folder`."""
    with suppress(OSError), disk(folder / "mounted", "size=64k"):
        return True
    return False


def _room(kib: int) -> Bound:
    @contextmanager
    def bound(home: Path) -> Iterator[None]:
        used = os.statvfs(home)
        taken = (used.f_blocks - used.f_bfree) * used.f_frsize // 1024
        _remount(home, f"size={max(taken + kib, 4)}k")
        yield
        _remount(home, "size=400m")

    return bound


def _files(number: int) -> Bound:
    @contextmanager
    def bound(home: Path) -> Iterator[None]:
        used = os.statvfs(home)
        _remount(home, f"nr_inodes={used.f_files - used.f_ffree + number}")
        yield
        _remount(home, "nr_inodes=100000")

    return bound


@contextmanager
def _read_only(home: Path) -> Iterator[None]:
    _remount(home, "ro")
    yield
    _remount(home, "rw")


def _remount(place: Path, option: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{option}", str(place)], check=True)
