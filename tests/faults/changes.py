"""What may become of the files of a home while it is open: each change, and what answers may be meanwhile."""

from __future__ import annotations

import json
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from citekit import CiteKitError
from tests.faults.world import Change, World


def _edit(path: Path, change: Callable[[bytes], bytes]) -> None:
    """Other bytes in the same file, whose time of modification is put back."""
    status, data = path.stat(), path.read_bytes()
    path.chmod(0o644)
    with path.open("r+b") as file:
        changed = change(data)
        file.write(changed)
        file.truncate(len(changed))
    path.chmod(status.st_mode)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def _flipped(data: bytes) -> bytes:
    return data[:-2] + bytes([data[-2] ^ 1]) + data[-1:]


def _swap(path: Path, put: Callable[[Path], object]) -> None:
    """Something else under the name of a file or folder."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    put(path)


def _each(found: Callable[[World], Sequence[Path]], change: Callable[[Path], object]) -> Callable[[World], None]:
    def made(world: World) -> None:
        for path in found(world):
            change(path)

    return made


def _objects(world: World) -> Sequence[Path]:
    return world.objects


def _outputs(world: World) -> Sequence[Path]:
    return world.outputs


def _receipts(world: World) -> Sequence[Path]:
    return [path for path in (world.home / ".citekit_output" / ".receipts").rglob("*.json") if path.is_file()]


def _databases(world: World) -> Sequence[Path]:
    return sorted(world.cache.rglob("*.db"))


def _logs_and_databases(world: World) -> Sequence[Path]:
    return sorted(path for path in world.cache.rglob("*") if ".db" in path.name)


def _garbage(path: Path) -> None:
    """In place of the file, not into it: nobody writes into an open database."""
    for each in (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")):
        each.unlink(missing_ok=True)
    path.write_bytes(b"this is no database\n" * 400)


def _of_later_version(path: Path) -> None:
    """A database of the form that comes after the one that is known here."""
    _garbage(path)
    path.unlink()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 0x434B4999")
        connection.execute("CREATE TABLE later (key TEXT)")
    connection.close()


def _another(path: Path) -> None:
    path.write_bytes(b"bytes of somebody else\n")


def _link(path: Path) -> None:
    target = path.with_name(f"{path.name}-elsewhere")
    if not target.exists():
        _another(target)
    path.symlink_to(target)


def _removed(path: Path) -> None:
    path.unlink(missing_ok=True)


def _cleaned(path: Path) -> None:
    """Take away what a change put there."""
    path.with_name(f"{path.name}-elsewhere").unlink(missing_ok=True)
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)


def _swapped(found: Callable[[World], Sequence[Path]], put: Callable[[Path], object]) -> Callable[[World], None]:
    return _each(found, lambda path: _swap(path, put))


def _nothing(_path: Path) -> None:
    """Only the name goes."""


OF_STORES = (
    Change("the cache deleted", lambda world: shutil.rmtree(world.cache)),
    Change("the evidence deleted", lambda world: shutil.rmtree(world.cache / "evidence")),
    Change("the outputs deleted", lambda world: shutil.rmtree(world.home / ".citekit_output")),
    Change("objects edited, their time put back", _each(_objects, lambda path: _edit(path, _flipped))),
    Change("objects cut short", _each(_objects, lambda path: _edit(path, lambda data: data[:3]))),
    Change("objects emptied", _each(_objects, lambda path: _edit(path, lambda _: b""))),
    Change("objects replaced by other files", _swapped(_objects, _another)),
    Change("objects replaced by links", _swapped(_objects, _link)),
    Change("objects replaced by dangling links", _swapped(_objects, lambda path: path.symlink_to("/none"))),
    Change("objects replaced by folders", _swapped(_objects, lambda path: (path / "in").mkdir(parents=True))),
    Change("objects deleted", _swapped(_objects, _nothing)),
    Change("outputs edited, their time put back", _each(_outputs, lambda path: _edit(path, _flipped))),
    Change("outputs replaced by other files", _swapped(_outputs, _another)),
    Change("outputs replaced by links", _swapped(_outputs, _link)),
    Change("outputs deleted", _swapped(_outputs, _nothing)),
    Change("receipts deleted", _swapped(_receipts, _nothing)),
    Change("receipts edited", _each(_receipts, lambda path: _edit(path, _flipped))),
    Change("receipts replaced by garbage", _swapped(_receipts, _another)),
    Change("databases deleted", _each(_logs_and_databases, _removed)),
    Change(
        "databases without their logs", _each(_databases, lambda path: _removed(path.with_name(path.name + "-wal")))
    ),
    Change("databases replaced by garbage", _each(_databases, _garbage)),
    Change("databases emptied", _swapped(_databases, lambda path: path.write_bytes(b""))),
    Change("databases of a later version", _each(_databases, _of_later_version)),
    Change(
        "databases replaced by folders",
        _swapped(_databases, lambda path: path.mkdir()),
        undo=_each(lambda world: sorted(world.cache.rglob("*.db")), _cleaned),
    ),
)
"""What can be made again: the answers stay right while it goes on."""


LOCKER = """
import sqlite3, sys
held = [sqlite3.connect(path, isolation_level=None) for path in sys.argv[1:]]
for each in held:
    each.execute("BEGIN EXCLUSIVE")
print("locked", flush=True)
sys.stdin.read()
"""

_lockers: list[subprocess.Popen[bytes]] = []


def _locked(world: World) -> None:
    command = [sys.executable, "-c", LOCKER, *map(str, _databases(world))]
    locker = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert locker.stdout is not None
    locker.stdout.readline()
    _lockers.append(locker)


def _unlocked(_world: World) -> None:
    while _lockers:
        _lockers.pop().communicate()


LOCKED = Change("databases locked by another process", _locked, undo=_unlocked)
"""Costs the seconds that one waits for another program."""


def _maps(world: World) -> Sequence[Path]:
    return [world.map_file(each) for each in world.known]


def _rewritten(change: Callable[[dict[str, Any]], object]) -> Callable[[World], None]:
    """The maps with other content."""

    def made(path: Path) -> None:
        plain = json.loads(path.read_text(encoding="utf-8"))
        change(plain)
        path.write_text(json.dumps(plain), encoding="utf-8")

    return _each(_maps, made)


def _later(plain: dict[str, Any]) -> None:
    plain["metadata"]["map_version"] = 99
    plain["nodes"] = {"in": "another form"}


def _kept(world: World) -> None:
    """A map of a later version stays as it is where nobody forces its end."""
    before = [path.read_bytes() for path in _maps(world)]
    for each in world.known:
        try:
            world.kit.ingest(world.source(each), resource_id=each.name)
        except CiteKitError as error:
            if "Update CiteKit" not in str(error):
                raise
    if before != [path.read_bytes() for path in _maps(world)]:
        raise AssertionError("the map of a later version was overwritten")


def _removed_and_mapped_anew(world: World) -> None:
    _each(_maps, _removed)(world)
    _mapped_anew(world)


def _mapped_anew(world: World) -> None:
    for each in world.known:
        _cleaned(world.map_file(each))
        world.kit.ingest(world.source(each), resource_id=each.name, force=True)


def _later_and_kept(world: World) -> None:
    _rewritten(_later)(world)
    _kept(world)


def _socket(path: Path) -> None:
    """A socket under that name, by a short path: that of a socket is bounded."""
    here = Path.cwd()
    os.chdir(path.parent)
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(here)


OF_MAPS = (
    Change("maps damaged", _swapped(_maps, _another), "damaged", _mapped_anew),
    Change(
        "maps cut short",
        _each(_maps, lambda path: _edit(path, lambda data: data[: len(data) // 2])),
        "damaged",
        _mapped_anew,
    ),
    Change("maps emptied", _each(_maps, lambda path: _edit(path, lambda _: b"")), "damaged", _mapped_anew),
    Change("maps of a later version", _later_and_kept, "Update CiteKit", _mapped_anew),
    Change(
        "maps replaced by folders", _swapped(_maps, lambda path: path.mkdir()), "is not a regular file", _mapped_anew
    ),
    Change(
        "maps replaced by pipes",
        _swapped(_maps, os.mkfifo),
        "is not a regular file",
        _removed_and_mapped_anew,
    ),
    Change(
        "maps replaced by links out of the home",
        _swapped(_maps, lambda path: path.symlink_to("/etc/hostname")),
        "is a symbolic link",
        _removed_and_mapped_anew,
    ),
    Change("maps deleted", _each(_maps, _removed), "found", _mapped_anew),
    Change(
        "the folder of maps deleted", lambda world: shutil.rmtree(world.home / ".resource_maps"), "found", _mapped_anew
    ),
)
"""What cannot be answered is told; mapped again, all is well."""


def _sources(world: World) -> Sequence[Path]:
    return [world.source(each) for each in world.known]


def _back(world: World) -> None:
    for each in world.known:
        path = world.source(each)
        _cleaned(path)
        path.unlink(missing_ok=True)
        each.write(path.parent)


def _edition(world: World) -> None:
    """Another text of the same size, in the same file, its time put back."""
    for each in world.known:
        _edit(world.source(each), lambda _, each=each: each.data(1))  # type: ignore[misc]


def _renamed_over(world: World) -> None:
    """Another text of the same size and time, put there in one step."""
    for each in world.known:
        path = world.source(each)
        status, new = path.stat(), path.with_name("new")
        new.write_bytes(each.data(1))
        os.utime(new, ns=(status.st_atime_ns, status.st_mtime_ns))
        new.replace(path)


def _dated(seconds: float) -> Callable[[World], None]:
    """The same bytes with other times: nothing has changed."""
    return _each(_sources, lambda path: os.utime(path, (path.stat().st_mtime + seconds,) * 2))


YEARS = 10 * 365 * 86400.0

CHANGED, GONE = "has changed since it was mapped", "is not at"
LEADS_OUT = f"{GONE} | outside the folders"

OF_SOURCES = (
    Change("sources edited in place, their time put back", _edition, CHANGED, _back),
    Change("sources replaced by others of the same size and time", _renamed_over, CHANGED, _back),
    Change("sources grown", _each(_sources, lambda path: _edit(path, lambda data: data + b"more\n")), CHANGED, _back),
    Change("sources cut short", _each(_sources, lambda path: _edit(path, lambda data: data[:100])), CHANGED, _back),
    Change("sources replaced by pipes", _swapped(_sources, os.mkfifo), GONE, _back),
    Change("sources replaced by sockets", _swapped(_sources, _socket), GONE, _back),
    Change("sources replaced by folders", _swapped(_sources, lambda path: path.mkdir()), GONE, _back),
    Change(
        "sources replaced by a device", _swapped(_sources, lambda path: path.symlink_to("/dev/zero")), LEADS_OUT, _back
    ),
    Change(
        "sources replaced by dangling links",
        _swapped(_sources, lambda path: path.symlink_to("/none")),
        LEADS_OUT,
        _back,
    ),
    Change("sources that are links to themselves", _swapped(_sources, lambda path: path.symlink_to(path)), GONE, _back),
    Change("sources deleted", _each(_sources, _removed), GONE, _back),
    Change("sources of ten years ahead", _dated(YEARS)),
    Change("sources of before the epoch", _dated(-YEARS * 6)),
)
"""A part of other bytes is never given out; where the file is back, so are the answers."""
