"""Find what is missing or broken, and say how to fix it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from attrs import frozen

from citekit.application.locate_source import LocateSource
from citekit.domain.errors import CiteKitError, MapTooNew
from citekit.domain.ports.map_store import MapStore

SOURCES_LIMIT = 200
"""How many maps are held against their sources: each changed source is read whole."""

FILES_LIMIT = 200_000
"""How many files of a folder are counted."""

_Answer = TypeVar("_Answer")


class Health(StrEnum):
    """`NOTED` is worth knowing; `BROKEN` keeps something from working."""

    FINE = "fine"
    NOTED = "noted"
    BROKEN = "broken"


@frozen
class Finding:
    """One thing that was looked at: `about` what, its health, what was found, and how to fix it."""

    about: str
    health: Health
    text: str
    remedy: str | None = None


@frozen
class Component:
    """A package: its version (None where it is not installed), the extra it comes with (None: it is always needed).

    `fault` says why it does not load, although it is installed.
    """

    name: str
    version: str | None
    extra: str | None = None
    fault: str | None = None


@frozen(kw_only=True)
class Doctor:
    """Looks at the installation, the home, and what is kept there. Changes no map and no evidence.

    `components` are the packages, Python and CiteKit first. `mapper` says which mapper would run and why,
    `installed_mappers` which (name, package) other packages offer, `ffmpeg` where
    that program is (None: nowhere), `index_fault` what is wrong with the index, `leftovers` which temporary files killed
    processes left.
    """

    folders: Mapping[str, Path]
    maps: MapStore
    locate: LocateSource
    components: Callable[[], Iterable[Component]]
    mapper: Callable[[], str]
    installed_mappers: Callable[[], Iterable[tuple[str, str]]]
    ffmpeg: Callable[[], str | None]
    index_fault: Callable[[], str | None]
    leftovers: Callable[[], Sequence[Path]]
    remote_leftovers: Callable[[], Sequence[str]]

    def __call__(self) -> Iterator[Finding]:
        """What was found, thing by thing, as it is looked at."""
        index = self._index()  # before the stores open it, and repair it if it is damaged
        yield from (_component(each) for each in self.components())
        yield self._ffmpeg()
        yield self._mapper()
        for name, package in self.installed_mappers():
            yield Finding(f"mapper '{name}'", Health.FINE, f"offered by the package {package}")
        yield from (_folder(name, path) for name, path in self.folders.items())
        yield from self._maps()
        yield index
        yield self._leftovers()
        yield self._remote_leftovers()

    def _ffmpeg(self) -> Finding:
        found = self.ffmpeg()
        if found is not None:
            return Finding("ffmpeg program", Health.FINE, found)
        return Finding("ffmpeg program", Health.NOTED, "not found; few clips need it", "pip install 'citekit[ffmpeg]'")

    def _mapper(self) -> Finding:
        try:
            return Finding("mapper", Health.FINE, self.mapper())
        except CiteKitError as error:
            return Finding("mapper", Health.BROKEN, str(error), "set CITEKIT_MAPPER to a mapper that is known")

    def _maps(self) -> Iterator[Finding]:
        try:
            ids = self.maps.ids()
        except CiteKitError as error:
            yield Finding("maps", Health.BROKEN, str(error), "make that folder readable, or choose another --home")
            return
        damaged = [(name, fault) for name in ids if (fault := _fault(self.maps.get, name)) is not None]
        for name, fault in damaged:
            yield Finding(f"map '{name}'", Health.BROKEN, str(fault), _remedy(name, fault))
        yield Finding("maps", Health.FINE, f"{len(ids) - len(damaged)} of {len(ids)} can be read")
        yield self._sources([name for name in ids if name not in dict(damaged)])

    def _sources(self, ids: Sequence[str]) -> Finding:
        looked_at = ids[:SOURCES_LIMIT]
        stale = [name for name in looked_at if self.locate.staleness(self.maps.get(name)) is not None]
        of = (
            f"of {len(ids)} maps" if len(looked_at) == len(ids) else f"of the first {len(looked_at)} of {len(ids)} maps"
        )
        if not stale:
            return Finding("sources", Health.FINE, f"those {of} are as they were mapped")
        listed = ", ".join(stale[:10]) + (", ..." if len(stale) > 10 else "")
        text = f"{len(stale)} {of} changed or are gone: {listed}"
        return Finding(
            "sources", Health.NOTED, text, "citekit ingest PATH again, or resolve with --remap or --root DIR"
        )

    def _index(self) -> Finding:
        fault = self.index_fault()
        if fault is None:
            return Finding("index", Health.FINE, "sound, or not made yet")
        return Finding("index", Health.BROKEN, fault, "remove that folder; it is made again from what is there")

    def _remote_leftovers(self) -> Finding:
        found = self.remote_leftovers()
        if not found:
            return Finding("remote files", Health.FINE, "none were left at a model's service")
        text = f"{len(found)} may still lie there: {', '.join(found[:5])}"
        return Finding("remote files", Health.NOTED, text, "the next run of that mapper deletes them")

    def _leftovers(self) -> Finding:
        found = self.leftovers()
        if not found:
            return Finding("leftovers", Health.FINE, "none")
        text = f"{len(found)} of killed processes, such as {found[0]}"
        return Finding("leftovers", Health.NOTED, text, "citekit cache verify, or remove them")


def _component(found: Component) -> Finding:
    if found.fault is not None:
        text = f"{found.version}, but it does not load: {found.fault}"
        return Finding(found.name, Health.BROKEN, text, f"pip install --force-reinstall {found.name}")
    if found.version is not None:
        return Finding(found.name, Health.FINE, found.version)
    if found.extra is not None:
        return Finding(
            found.name, Health.FINE, f"not installed, nor needed: pip install 'citekit[{found.extra}]' adds it"
        )
    return Finding(found.name, Health.BROKEN, "not installed", "pip install --force-reinstall citekit")


def _folder(name: str, path: Path) -> Finding:
    if path.exists() and not path.is_dir():
        return Finding(name, Health.BROKEN, f"{path} is not a folder", "move that file away, or choose another --home")
    if not _is_writable(path):
        text = f"{path} cannot be written: maps can be read, but nothing can be mapped or cut out"
        return Finding(name, Health.BROKEN, text, "permit writing there, or choose another --home")
    if not path.exists():
        return Finding(name, Health.FINE, f"{path} (made when it is needed)")
    if name == "home":
        return Finding(name, Health.FINE, str(path))
    count, size = _extent(path)
    return Finding(name, Health.FINE, f"{path} ({count} files, {size / 1e6:.1f} MB)")


def _is_writable(path: Path) -> bool:
    """Whether `path`, or the folder in which it would be made, can be written."""
    there = next(place for place in (path, *path.parents) if place.exists())
    return os.access(there, os.W_OK | os.X_OK)


def _extent(folder: Path) -> tuple[int, int]:
    """How many files there are, up to `FILES_LIMIT`, and their bytes; a file of two names counts twice."""
    count = size = 0
    for here, _, names in os.walk(folder):
        for name in names:
            count += 1
            try:
                size += os.lstat(Path(here, name)).st_size
            except OSError:
                continue
        if count >= FILES_LIMIT:
            break
    return count, size


def _fault(get: Callable[[str], _Answer], name: str) -> CiteKitError | None:
    try:
        get(name)
    except CiteKitError as error:
        return error
    return None


def _remedy(name: str, fault: CiteKitError) -> str:
    if isinstance(fault, MapTooNew):
        return "pip install --upgrade citekit"
    return f"citekit remove {name}, then ingest its source again"
