"""Finds what is missing or broken, and says how to fix it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from shlex import quote
from typing import TypeVar

from attrs import frozen

from citekit.application.locate_source import LocateSource
from citekit.domain.distribution import DISTRIBUTION, UPDATE_COMMAND, install_command
from citekit.domain.errors import CiteKitError, MapCorrupt, MapTooNew
from citekit.domain.mcp_clients import ConnectedClient
from citekit.domain.phrases import counted
from citekit.domain.ports.map_store import MapStore

SOURCES_LIMIT = 200
"""The maximum number of maps whose sources are checked. Each changed source is read completely."""

FILES_LIMIT = 200_000
"""The number of files after which counting the files of a folder stops."""

_Answer = TypeVar("_Answer")


class Health(StrEnum):
    """The severity of a finding: `NOTED` is worth knowing, `BROKEN` prevents something from working."""

    FINE = "fine"
    NOTED = "noted"
    BROKEN = "broken"


class Topic(StrEnum):
    """The part of the installation that a finding is about."""

    PROGRAM = "program"
    EXTRAS = "extras"
    MAPPER = "mapper"
    HOME = "home"
    CLIENTS = "clients"


@frozen
class Finding:
    """The result of one check: its subject, severity, description, and remedy."""

    about: str
    health: Health
    text: str
    remedy: str | None = None
    topic: Topic = Topic.HOME


@frozen
class Component:
    """An installed or missing package.

    `version` is None if it is missing. `extras` are the extras that contain it; a required package has none. `fault` is
    the reason why it cannot be imported.
    """

    name: str
    version: str | None
    extras: Sequence[str] = ()
    fault: str | None = None


@frozen(kw_only=True)
class Doctor:
    """Checks the installation and the home. Does not change maps or evidence.

    Commands in remedies end with `home_option`, which names the home, with a space before it, or is "".

    `components` returns the packages; `mapper` the mapper that would run and why; `installed_mappers` the (name,
    package) of mappers from other packages; `ffmpeg` its path, or None; `index_fault` the problem of the index, or
    None; `leftovers` temporary files of killed processes; `remote_leftovers` files left on model services; `clients`
    the MCP clients with an entry for CiteKit; `other_project` the installed version of another project's distribution
    `citekit`, or None.
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
    clients: Callable[[], Sequence[ConnectedClient]]
    other_project: Callable[[], str | None] = lambda: None
    home_option: str = ""

    def __call__(self) -> Iterator[Finding]:
        """Yield the findings as the checks run. Raise the errors of `index_fault` and `leftovers`."""
        index = self._index()  # first, because opening the stores repairs a damaged index
        components = list(self.components())
        yield from map(_component, components)
        yield from self._other_project()
        yield self._ffmpeg()
        yield _extras(components)
        yield self._mapper()
        for name, package in self.installed_mappers():
            yield Finding(f"mapper '{name}'", Health.FINE, f"from the package {package}", topic=Topic.MAPPER)
        yield from (_folder(name, path) for name, path in self.folders.items())
        yield from self._maps()
        yield index
        yield self._leftovers()
        yield self._remote_leftovers()
        yield from self._clients()

    def _other_project(self) -> Iterator[Finding]:
        version = self.other_project()
        if version is not None:
            yield Finding(
                "citekit",
                Health.BROKEN,
                f"the distribution citekit {version} of another project is also installed and has files with the same names",
                f"pip uninstall citekit {DISTRIBUTION}, then pip install {DISTRIBUTION}",
                Topic.PROGRAM,
            )

    def _clients(self) -> Iterator[Finding]:
        found = self.clients()
        if not found:
            text = "none is connected; to connect those installed: citekit connect"
            yield Finding("MCP clients", Health.FINE, text, topic=Topic.CLIENTS)
            return
        working = [each.client for each in found if each.problem is None]
        if working:
            yield Finding("MCP clients", Health.FINE, f"connected: {', '.join(working)}", topic=Topic.CLIENTS)
        for each in found:
            if each.problem is not None:
                text = f"{each.client} cannot start CiteKit: {each.problem} ({each.path})"
                home = f" --home {quote(each.home)}" if each.home else self.home_option
                remedy = f"citekit connect {each.client}{home}"
                yield Finding("MCP clients", Health.NOTED, text, remedy, Topic.CLIENTS)

    def _ffmpeg(self) -> Finding:
        found = self.ffmpeg()
        if found is not None:
            return Finding("ffmpeg program", Health.FINE, found, topic=Topic.EXTRAS)
        text = "not found; only a few clips need it"
        return Finding("ffmpeg program", Health.NOTED, text, install_command("ffmpeg"), Topic.EXTRAS)

    def _mapper(self) -> Finding:
        try:
            return Finding("mapper", Health.FINE, self.mapper(), topic=Topic.MAPPER)
        except CiteKitError as error:
            remedy = "set CITEKIT_MAPPER to another mapper"
            return Finding("mapper", Health.BROKEN, str(error), remedy, Topic.MAPPER)

    def _maps(self) -> Iterator[Finding]:
        try:
            ids = self.maps.ids()
        except CiteKitError as error:
            remedy = (
                "make that folder readable, or choose another home (--home DIR)"
                if isinstance(error, MapCorrupt)
                else None
            )
            yield Finding("maps", Health.BROKEN, str(error), remedy)
            return
        damaged = [(name, fault) for name in ids if (fault := _fault(self.maps.get, name)) is not None]
        for name, fault in damaged:
            yield Finding(f"map '{name}'", Health.BROKEN, str(fault), self._remedy(name, fault))
        yield Finding("maps", Health.FINE, f"{len(ids) - len(damaged)} of {len(ids)} can be read")
        yield self._sources([name for name in ids if name not in dict(damaged)])

    def _sources(self, ids: Sequence[str]) -> Finding:
        looked_at = ids[:SOURCES_LIMIT]
        stale = [name for name in looked_at if self.locate.staleness(self.maps.get(name)) is not None]
        of = (
            f"of {counted(len(ids), 'map')}"
            if len(looked_at) == len(ids)
            else f"of the first {len(looked_at)} of {len(ids)} maps"
        )
        if not ids:
            return Finding("sources", Health.FINE, "no sources yet")
        if not stale:
            unchanged = f"the source {of} is unchanged" if len(ids) == 1 else f"the sources {of} are unchanged"
            return Finding("sources", Health.FINE, unchanged)
        listed = ", ".join(stale[:10]) + (", ..." if len(stale) > 10 else "")
        text = f"the source has changed, is missing, or could not be checked for {len(stale)} {of}: {listed}"
        return Finding(
            "sources",
            Health.NOTED,
            text,
            f"run citekit ingest PATH{self.home_option} again, or resolve with --remap or --root DIR",
        )

    def _index(self) -> Finding:
        fault = self.index_fault()
        if fault is None:
            return Finding("index", Health.FINE, "valid, or not created yet")
        return Finding("index", Health.BROKEN, fault, "delete that folder; CiteKit re-creates it when needed")

    def _remote_leftovers(self) -> Finding:
        found = self.remote_leftovers()
        if not found:
            return Finding("remote files", Health.FINE, "no files are left on a model service")
        listed = ", ".join(found[:5]) + (", ..." if len(found) > 5 else "")
        text = f"{counted(len(found), 'uploaded file')} may still be on a model service: {listed}"
        return Finding(
            "remote files",
            Health.NOTED,
            text,
            f"the next run with the same service and API key deletes {'it' if len(found) == 1 else 'them'}",
        )

    def _leftovers(self) -> Finding:
        found = self.leftovers()
        if not found:
            return Finding("leftovers", Health.FINE, "none")
        text = (
            f"a temporary file or folder of a killed process: {found[0]}"
            if len(found) == 1
            else f"{len(found)} temporary files or folders of killed processes, such as {found[0]}"
        )
        return Finding("leftovers", Health.NOTED, text, f"run citekit cache verify{self.home_option}")

    def _remedy(self, name: str, fault: CiteKitError) -> str:
        if isinstance(fault, MapTooNew):
            return UPDATE_COMMAND
        return f"citekit remove {quote(name)}{self.home_option}, then ingest its source again"


def _component(found: Component) -> Finding:
    topic = Topic.EXTRAS if found.extras else Topic.PROGRAM
    if found.fault is not None:
        text = f"{found.version}, but it cannot be imported: {found.fault}"
        return Finding(found.name, Health.BROKEN, text, f"pip install --force-reinstall {found.name}", topic)
    if found.version is not None:
        return Finding(found.name, Health.FINE, found.version, topic=topic)
    if found.extras:
        text = f"not installed (optional): {install_command(found.extras[0])}"
        return Finding(found.name, Health.FINE, text, topic=topic)
    return Finding(found.name, Health.BROKEN, "not installed", f"pip install --force-reinstall {DISTRIBUTION}", topic)


def _extras(components: Iterable[Component]) -> Finding:
    """Return a finding that says which extras are completely installed."""
    is_complete: dict[str, bool] = {}
    for each in components:
        for extra in each.extras:
            is_complete[extra] = is_complete.get(extra, True) and each.version is not None
    installed = sorted(name for name, complete in is_complete.items() if complete)
    missing = sorted(name for name, complete in is_complete.items() if not complete)
    text = ", ".join(installed) or "none"
    if missing:
        text += f"; not installed (optional): {', '.join(missing)}; to add one: {install_command(missing[0])}"
    return Finding("extras", Health.FINE, text, topic=Topic.EXTRAS)


def _folder(name: str, path: Path) -> Finding:
    if path.exists() and not path.is_dir():
        return Finding(
            name, Health.BROKEN, f"{path} is not a folder", "move that file, or choose another home (--home DIR)"
        )
    if not _is_writable(path):
        text = f"{path} is not writable: CiteKit can read maps, but mapping files or creating evidence can fail"
        return Finding(name, Health.BROKEN, text, "make it writable, or choose another home (--home DIR)")
    if not path.exists():
        return Finding(name, Health.FINE, f"{path} (will be created when needed)")
    if name == "home":
        return Finding(name, Health.FINE, str(path))
    count, size = _extent(path)
    return Finding(name, Health.FINE, f"{path} ({counted(count, 'file')}, {size / 1e6:.1f} MB)")


def _is_writable(path: Path) -> bool:
    """Return whether `path`, or its closest existing ancestor, is writable."""
    there = next(place for place in (path, *path.parents) if place.exists())
    return os.access(there, os.W_OK | os.X_OK)


def _extent(folder: Path) -> tuple[int, int]:
    """Return the number of files in a folder, up to about `FILES_LIMIT`, and their total bytes."""
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
