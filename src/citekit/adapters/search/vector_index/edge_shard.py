"""One collection of the embedded engine: its folder, its open shard, and the seal that detects damage.

`collection.json`, next to the engine's shard, describes the collection.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from attrs import asdict, define, field, frozen

from citekit.adapters.libraries import qdrant_edge as driver
from citekit.adapters.libraries.qdrant_edge import EdgeSettings, Kind, Trouble
from citekit.adapters.system.files import write_atomically
from citekit.adapters.system.home_files import check_tree, read_file
from citekit.domain.errors import CiteKitError, HomeUnwritable, IndexCorrupt, IndexUnavailable, RequestRefused
from citekit.domain.library.vectors import EmbedderIdentity

FORM = 1
"""The version of the stored form, and of the payload indexes and settings that go with it."""

FILE = "collection.json"
SHARD = "shard"


@frozen
class EdgeForm:
    """Whose vectors a collection holds, and how its shard was made."""

    model: EmbedderIdentity
    settings: EdgeSettings

    def write(self, folder: Path) -> None:
        """Store it in the folder. Raises `HomeUnwritable`."""
        plain = {"form": FORM, "model": asdict(self.model), "settings": asdict(self.settings)}
        write_atomically(folder / FILE, json.dumps(plain, indent=1).encode())

    @classmethod
    def read(cls, folder: Path) -> EdgeForm | None:
        """What the folder says, None where it is no collection. Raises `IndexCorrupt`."""
        try:
            plain = json.loads(read_file(folder / FILE))
            return cls._of(plain, folder)
        except FileNotFoundError:
            if (folder / SHARD).exists():
                raise corrupt(folder, f"{FILE} is gone") from None
            return None
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise corrupt(folder, f"{FILE} cannot be read ({type(error).__name__})") from error

    @classmethod
    def _of(cls, plain: Any, folder: Path) -> EdgeForm:
        if isinstance(plain["form"], int) and plain["form"] > FORM:
            raise corrupt(folder, "a newer citekit wrote it, which this one is too old to read")
        model = plain["model"]
        name, version, dimensions = model["name"], model["version"], model["dimensions"]
        if not (isinstance(name, str) and isinstance(version, str) and isinstance(dimensions, int) and dimensions > 0):
            raise TypeError("model")
        return cls(EmbedderIdentity(name, version, dimensions), EdgeSettings(**plain["settings"]))


def corrupt(folder: Path, reason: str) -> IndexCorrupt:
    """The error for a collection that cannot be read, with the way out."""
    return IndexCorrupt(
        f"The index {folder} is damaged: {reason}. It can be made again from the books (citekit library rebuild)."
    )


SEAL = "seal.json"
_PASSING = {"tracker_journal.dat"}
"""Files that the engine writes and takes away again while it is open, whatever is asked of it."""

SPARE = 160 * 2**20
"""Bytes that must be free before anything is written: the engine's files grow in mapped steps, and a full disk under a
mapped file kills the process."""


OPENING = 4 * 2**20
"""Bytes that must be free before a collection is opened: the engine writes small files while it is open, and damages the
collection if it cannot."""

FEW = 5_000
PART = 0.2
MANY = 60_000
"""An optimisation pays after `PART` of all entries changed, at least after `FEW`, at most after `MANY` of them.

The engine then rewrites the whole collection, so one optimization per book would cost far more than it saves; until
then the new entries are compared as they are, about 10,000 of them in a millisecond, and every answer is as exact.
"""


@define
class OpenShard:
    """A shard that is open. `changes` counts the points put or removed since the last optimisation, None where unknown."""

    folder: Path
    form: EdgeForm
    shard: Any
    changes: int | None
    sealed: bool
    broken: bool = field(default=False)

    def changed(self, points: int) -> None:
        """To be called before every change: the seal no longer holds."""
        if self.sealed:
            with suppress(OSError):
                (self.folder / SEAL).unlink()
        self.sealed = False
        self.changes = None if self.changes is None else self.changes + points

    def optimising_pays(self) -> bool:
        """Whether so much has changed that scanning it unordered costs more than putting it in order."""
        stored = self.shard.info().points_count
        return self.changes is None or self.changes >= max(FEW, min(stored * PART, MANY))

    def optimise(self) -> None:
        """Put the shard in order: int8 copies, compact words, no trace of what was removed. Seconds to a quarter minute."""
        self.changed(0)
        with failing(self.folder):
            self.shard.optimize()
        self.changes = 0

    def size(self) -> int:
        """The bytes on disk. An optimization writes about as many before it removes the old ones."""
        every = (path.stat() for path in (self.folder / SHARD / "segments").rglob("*"))
        return sum(min(status.st_size, getattr(status, "st_blocks", status.st_size) * 512) for status in every)

    def flush(self) -> None:
        """Wait until all that was put or removed is on the disk."""
        with failing(self.folder):
            self.shard.flush()

    def close(self) -> None:
        """Close, and seal: note what files there are, of what sizes, with how many points.

        What fails here failed before, or is found at the next opening.
        """
        points = None
        with suppress(Trouble), driver.troubles():
            if not self.broken:
                self.shard.flush()
                points = self.shard.info().points_count
        with suppress(Trouble), driver.troubles():
            self.shard.close()
        if points is not None and not self.sealed:
            plain = {"points": points, "changes": self.changes, "files": _files(self.folder / SHARD)}
            with suppress(CiteKitError, OSError):
                write_atomically(self.folder / SEAL, json.dumps(plain).encode())


def opened(folder: Path, form: EdgeForm) -> OpenShard:
    """Open the collection in the folder. Raises `IndexCorrupt`, `IndexUnavailable`, `HomeUnsafe`."""
    check_tree(folder)
    seal = _read_seal(folder)
    room(folder, OPENING)
    with failing(folder):
        shard = driver.engine().EdgeShard.load(str(folder / SHARD))
        points = shard.info().points_count
    if seal is not None and seal["points"] != points:
        with suppress(Trouble), driver.troubles():
            shard.close()
        raise corrupt(folder, f"{points} entries are left of {seal['points']}")
    return OpenShard(folder, form, shard, seal["changes"] if seal else None, seal is not None)


def _read_seal(folder: Path) -> dict[str, Any] | None:
    """What was there when the collection was last left in order; checked against what is there now."""
    try:
        seal = json.loads(read_file(folder / SEAL))
        known = dict(seal["files"]), int(seal["points"]), seal["changes"]
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise corrupt(folder, f"{SEAL} cannot be read") from error
    there = _files(folder / SHARD)
    for name, size in known[0].items():
        if there.get(name, -1) < size:
            raise corrupt(folder, f"{SHARD}/{name} has {there.get(name, 'no')} bytes instead of {size}")
    return {"points": known[1], "changes": known[2]}


def _files(shard: Path) -> dict[str, int]:
    """The sizes of the files of all segments that stay; the log of changes is the engine's to judge."""
    return {
        Path(where, name).relative_to(shard).as_posix(): Path(where, name).stat().st_size
        for where, _, names in os.walk(shard / "segments")
        for name in names
        if name not in _PASSING
    }


@contextmanager
def failing(folder: Path) -> Iterator[None]:
    """Work of the engine on that folder, whose exceptions become ours."""
    try:
        with driver.troubles():
            yield
    except Trouble as trouble:
        raise translated(trouble, folder) from trouble.__cause__


def translated(trouble: Trouble, folder: Path) -> CiteKitError:
    """Our error for trouble of the engine's."""
    match trouble.kind:
        case Kind.HELD:
            return IndexUnavailable(f"The index {folder} is in use by a program other than citekit: {trouble.words}.")
        case Kind.FULL:
            return IndexUnavailable(f"The index {folder} cannot be written: the disk is full; free some space.")
        case Kind.FORBIDDEN:
            return IndexUnavailable(f"The index {folder} cannot be opened: {trouble.words}.")
        case Kind.REQUEST:
            return RequestRefused(f"The index {folder.name} refused: {trouble.words}.")
        case Kind.DAMAGED:
            return corrupt(folder, trouble.words)


def has_room(folder: Path, needed: int = 0) -> bool:
    """Whether the disk has `needed` bytes free beside the spare."""
    return _is_free(folder, SPARE + needed)


def _is_free(folder: Path, size: int) -> bool:
    try:
        return shutil.disk_usage(folder).free >= size
    except OSError:
        return True


def room(folder: Path, least: int | None = None) -> None:
    """Raises `IndexUnavailable` where the disk has not `least` bytes free, else the spare ones."""
    spare = SPARE if least is None else least
    if not _is_free(folder, spare):
        raise IndexUnavailable(
            f"The index {folder} cannot be written: the disk is full (less than "
            f"{spare // 2**20} MB are free); free some space."
        )


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Work on our own files there, whose errors are of the index."""
    try:
        yield
    except HomeUnwritable as error:
        raise IndexUnavailable(f"The index {folder} cannot be written. {error}") from error
    except OSError as error:
        raise IndexUnavailable(f"The index {folder} cannot be written: {error.strerror or error}.") from error
