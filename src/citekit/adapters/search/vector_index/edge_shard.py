"""Manages one collection of the embedded vector engine.

Its folder contains its shard (the engine's files), `collection.json`, which describes it, and `seal.json`, which
records the sizes of the shard's files when it was last closed, to detect damage.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from shlex import quote
from typing import Any

from attrs import asdict, define, field, frozen

from citekit.adapters.libraries import qdrant_edge as driver
from citekit.adapters.libraries.qdrant_edge import EdgeSettings, Kind, Trouble
from citekit.adapters.system.files import write_atomically
from citekit.adapters.system.home_files import check_tree, read_file
from citekit.domain.distribution import UPDATE_COMMAND
from citekit.domain.errors import CiteKitError, HomeUnwritable, IndexCorrupt, IndexUnavailable, RequestRefused
from citekit.domain.library.vectors import EmbedderIdentity

FORM = 1
"""The version of the stored form, including its payload indexes and settings."""

FILE = "collection.json"
SHARD = "shard"

LIBRARY_FOLDER = ".citekit_library"
"""The name of the folder in a home that contains the folder of indexes."""


@frozen
class EdgeForm:
    """The description of a collection: its embedding model and the settings of its shard."""

    model: EmbedderIdentity
    settings: EdgeSettings

    def write(self, folder: Path) -> None:
        """Write the description to `collection.json` in `folder`. Raise `HomeUnwritable` if it cannot be written."""
        plain = {"form": FORM, "model": asdict(self.model), "settings": asdict(self.settings)}
        write_atomically(folder / FILE, json.dumps(plain, indent=1).encode())

    @classmethod
    def read(cls, folder: Path) -> EdgeForm | None:
        """Return the description in `collection.json`; None if `folder` is not a collection.

        Raise `IndexCorrupt` if it cannot be read, if a later version of CiteKit wrote it, or if it is missing although
        there is a shard; `HomeUnsafe` if it is not a regular file.
        """
        try:
            plain = json.loads(read_file(folder / FILE))
            return cls._of(plain, folder)
        except FileNotFoundError:
            if (folder / SHARD).exists():
                raise corrupt(folder, f"{FILE} is missing") from None
            return None
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise corrupt(folder, f"{FILE} cannot be read ({type(error).__name__})") from error

    @classmethod
    def _of(cls, plain: Any, folder: Path) -> EdgeForm:
        if isinstance(plain["form"], int) and plain["form"] > FORM:
            raise IndexCorrupt(
                f"The index {folder} was written by a later version of CiteKit. Update CiteKit ({UPDATE_COMMAND})."
            )
        model = plain["model"]
        name, version, dimensions = model["name"], model["version"], model["dimensions"]
        if not (isinstance(name, str) and isinstance(version, str) and isinstance(dimensions, int) and dimensions > 0):
            raise TypeError("model")
        return cls(EmbedderIdentity(name, version, dimensions), EdgeSettings(**plain["settings"]))


def corrupt(folder: Path, reason: str) -> IndexCorrupt:
    """Return the error for a collection that is damaged or cannot be read, which says how to rebuild it."""
    return IndexCorrupt(
        f"The index {folder} cannot be used: {reason}. To rebuild it from the books, run: citekit library rebuild "
        f"--collection {folder.name}{home_option(folder.parent)}"
    )


def home_option(folder: Path) -> str:
    """Return the option `--home` for the home that contains the indexes in `folder`; "" if they are in no home."""
    library = folder.absolute().parent
    return f" --home {quote(str(library.parent))}" if library.name == LIBRARY_FOLDER else ""


SEAL = "seal.json"
_PASSING = {"tracker_journal.dat"}
"""Files that the engine creates and removes on its own while a shard is open."""

SPARE = 160 * 2**20
"""Free disk space in bytes that is required before a write.

The engine grows memory-mapped files, and a full disk kills the process during access to a mapped file.
"""


OPENING = 4 * 2**20
"""Free disk space in bytes that is required to open a collection.

The engine writes small files while it is open, and damages the collection if it cannot.
"""

FEW = 5_000
PART = 0.2
MANY = 60_000
"""Optimization is worthwhile after `PART` of all entries has changed, but at least `FEW` and at most `MANY` entries.

The engine then rewrites the whole collection, so one optimization for each book would cost far more than it saves.
Until then, new entries are scanned, about 10,000 per millisecond.
"""


@define
class OpenShard:
    """An open shard.

    `changes` is the number of points written or removed since the last optimization; None if unknown. `sealed` is
    whether `seal.json` is up to date. `broken` is set after an error.
    """

    folder: Path
    form: EdgeForm
    shard: Any
    changes: int | None
    sealed: bool
    broken: bool = field(default=False)

    def changed(self, points: int) -> None:
        """Record that `points` points change, and delete `seal.json`. Call this method before every change."""
        if self.sealed:
            with suppress(OSError):
                (self.folder / SEAL).unlink()
        self.sealed = False
        self.changes = None if self.changes is None else self.changes + points

    def optimising_pays(self) -> bool:
        """Return whether enough entries have changed for an optimization; True if their number is unknown."""
        stored = self.shard.info().points_count
        return self.changes is None or self.changes >= max(FEW, min(stored * PART, MANY))

    def optimise(self) -> None:
        """Optimize the shard: create int8 copies, compact the words, and remove the data of deleted entries.

        This may take several seconds.
        """
        self.changed(0)
        with failing(self.folder):
            self.shard.optimize()
        self.changes = 0

    def size(self) -> int:
        """Return the size of the shard's segments on disk in bytes. An optimization needs about as much free space."""
        every = (path.stat() for path in (self.folder / SHARD / "segments").rglob("*"))
        return sum(min(status.st_size, getattr(status, "st_blocks", status.st_size) * 512) for status in every)

    def flush(self) -> None:
        """Wait until all changes are on the disk."""
        with failing(self.folder):
            self.shard.flush()

    def close(self) -> None:
        """Close the shard, and ignore errors. If all changes could be written, write `seal.json`."""
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
    """Open the collection in `folder`.

    Raise `IndexCorrupt` if it is damaged, `IndexUnavailable` if it cannot be opened or the disk is full, or
    `HomeUnsafe` if the folder contains links or irregular files.
    """
    check_tree(folder)
    seal = _read_seal(folder)
    room(folder, OPENING)
    with failing(folder):
        shard = driver.engine().EdgeShard.load(str(folder / SHARD))
        points = shard.info().points_count
    if seal is not None and seal["points"] != points:
        with suppress(Trouble), driver.troubles():
            shard.close()
        raise corrupt(folder, f"the number of its entries is {points} instead of {seal['points']}")
    return OpenShard(folder, form, shard, seal["changes"] if seal else None, seal is not None)


def _read_seal(folder: Path) -> dict[str, Any] | None:
    """Return the content of `seal.json`; None if the collection was not closed properly.

    Raise `IndexCorrupt` if `seal.json` cannot be read, or if a file of the shard is missing or smaller than recorded.
    """
    try:
        seal = json.loads(read_file(folder / SEAL))
        known = dict(seal["files"]), int(seal["points"]), seal["changes"]
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise corrupt(folder, f"{SEAL} cannot be read") from error
    there = _files(folder / SHARD)
    for name, size in known[0].items():
        if name not in there:
            raise corrupt(folder, f"{SHARD}/{name} is missing")
        if there[name] < size:
            raise corrupt(folder, f"the size of {SHARD}/{name} is {there[name]} instead of {size} bytes")
    return {"points": known[1], "changes": known[2]}


def _files(shard: Path) -> dict[str, int]:
    """Return the size in bytes of each permanent file in the segments of the shard, by relative path."""
    return {
        Path(where, name).relative_to(shard).as_posix(): Path(where, name).stat().st_size
        for where, _, names in os.walk(shard / "segments")
        for name in names
        if name not in _PASSING
    }


@contextmanager
def failing(folder: Path) -> Iterator[None]:
    """Convert the engine's exceptions inside the block to CiteKit errors about the collection in `folder`."""
    try:
        with driver.troubles():
            yield
    except Trouble as trouble:
        raise translated(trouble, folder) from trouble.__cause__


def translated(trouble: Trouble, folder: Path) -> CiteKitError:
    """Return the CiteKit error for a failure of the engine in the collection in `folder`."""
    match trouble.kind:
        case Kind.HELD:
            return IndexUnavailable(
                f"The index {folder} is in use by a program other than CiteKit ({trouble.words}). Close that "
                "program, and try again."
            )
        case Kind.FULL:
            return IndexUnavailable(
                f"The index {folder} cannot be used, because there is not enough disk space or memory, or a limit was "
                f"reached ({trouble.words}). Free some disk space or memory, or raise the limit."
            )
        case Kind.FORBIDDEN:
            has_limit = "open files" in trouble.words.lower()
            remedy = "Raise the limit on open files." if has_limit else "Check that you can read and write its files."
            return IndexUnavailable(f"The index {folder} cannot be used: {trouble.words}. {remedy}")
        case Kind.REQUEST:
            return RequestRefused(f"The collection '{folder.name}' rejected the request: {trouble.words}.")
        case Kind.DAMAGED:
            return corrupt(folder, trouble.words)


def has_room(folder: Path, needed: int = 0) -> bool:
    """Return whether the disk has `needed` bytes of free space in addition to `SPARE`; True if the free space is
    unknown.
    """
    return _is_free(folder, SPARE + needed)


def _is_free(folder: Path, size: int) -> bool:
    try:
        return shutil.disk_usage(folder).free >= size
    except OSError:
        return True


def room(folder: Path, least: int | None = None) -> None:
    """Raise `IndexUnavailable` if the disk has less than `least` bytes of free space (None: `SPARE` bytes)."""
    spare = SPARE if least is None else least
    if not _is_free(folder, spare):
        raise IndexUnavailable(
            f"The index {folder} cannot be used, because less than {spare // 2**20} MB of disk space is free. Free some "
            "space."
        )


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Convert errors from writing CiteKit's own files in `folder` to `IndexUnavailable`."""
    try:
        yield
    except HomeUnwritable as error:
        raise IndexUnavailable(f"The index {folder} cannot be written. {error}") from error
    except OSError as error:
        raise IndexUnavailable(f"The index {folder} cannot be written: {error.strerror or error}.") from error
