"""Keeps the maps of folders up to date."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path
from shlex import quote

from attrs import field, frozen

from citekit.application.ingest_many import IngestMany, Outcome
from citekit.application.remove_resource import RemoveResource
from citekit.domain.errors import CiteKitError, RequestRefused, ResourceMissing, SourceChanged
from citekit.domain.map_card import MapCard
from citekit.domain.ports.map_store import MapStore
from citekit.domain.ports.sources import Sources
from citekit.domain.progress import Progress, silent

SETTLED = 1.0
"""Seconds for which a file must be unchanged before it is mapped. A file that changed later may be incomplete."""

State = tuple[int, int, int]
"""The inode, the size in bytes, and the modification time in nanoseconds of a file."""


class SyncState(StrEnum):
    """The state of one file in a sync."""

    NEW = "new"
    CHANGED = "changed"
    MOVED = "moved"
    UNCHANGED = "unchanged"
    WAITING = "being written"
    FAILED = "failed"
    GONE = "gone"
    REMOVED = "removed"


@frozen
class Synced:
    """The result for one file: its path, its state, the ID of its map if it is known, and the error, if any."""

    path: Path
    state: SyncState
    resource_id: str | None = None
    error: CiteKitError | None = None


@frozen
class SyncRules:
    """The patterns of files that are mapped, and of files and folders that are left out.

    A pattern with a slash is compared with the path below the synced folder, and any other with the name. `*` also
    matches slashes.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    def takes(self, relative: str) -> bool:
        """Return whether a file is mapped. `relative` is its path below the folder, with slashes."""
        return not _matches(relative, self.exclude) and (not self.include or _matches(relative, self.include))

    def enters(self, relative: str) -> bool:
        """Return whether a folder is searched."""
        return not _matches(relative, self.exclude)

    def reaches(self, relative: str) -> bool:
        """Return whether a file is mapped and all folders above it are searched."""
        names = relative.split("/")
        return self.takes(relative) and all(self.enters("/".join(names[:count])) for count in range(1, len(names)))


EVERY = SyncRules()
"""The rules that include every file."""


def _matches(relative: str, patterns: Sequence[str]) -> bool:
    name = relative.rpartition("/")[2]
    return any(fnmatchcase(relative if "/" in each.rstrip("/") else name, each.rstrip("/")) for each in patterns)


@frozen
class SyncFolders:
    """Compares folders with the maps, and maps what is new, changed, or moved.

    `skip` are folders that are not synced. Relative paths in older maps are relative to `home`, and `is_mappable` says
    whether a file is of a known type. While files are unchanged, later calls check only their status.
    """

    sources: Sources
    maps: MapStore
    ingest_many: IngestMany
    remove: RemoveResource
    home: Path
    is_mappable: Callable[[Path], bool]
    skip: tuple[Path, ...] = ()
    _seen: dict[Path, tuple[State, str]] = field(factory=dict, init=False, repr=False)
    _others: dict[Path, State] = field(factory=dict, init=False, repr=False)

    def __call__(
        self,
        folders: Sequence[Path],
        rules: SyncRules = EVERY,
        *,
        prune: bool = False,
        concurrency: int = 2,
        progress: Progress = silent,
    ) -> Iterator[Synced]:
        """Yield the result for every file of the folders that `rules` select, and for every map whose file is no longer
        in them.

        Hidden files, symbolic links, and files of unknown types are left out. A map is deleted only with `prune`, and
        not if the synced folder that had its file is now empty. Raise `RequestRefused` if a folder does not exist or
        cannot be read.
        """
        roots = [folder.absolute() for folder in folders]
        for folder in roots:
            if not folder.is_dir():
                raise RequestRefused(f"{folder} is not a folder. Name an existing folder.")
        known = {self.home / card.source_path: card for card in self.maps.cards()}
        found = {path: state for folder in roots for path, state in self._files(folder, rules)}
        gone = {path: card for path, card in known.items() if _is_gone(path, roots)}
        moved = self._moved(found, known, gone)
        waiting = [path for path, state in found.items() if not self._is_settled(path, state)]
        yield from (Synced(path, SyncState.WAITING, _id(known.get(path))) for path in waiting)
        for path in waiting:
            del found[path]
        yield from self._mapped(found, known, moved, concurrency, progress)
        taken = set(moved.values())
        yield from self._gone(
            {path: card for path, card in gone.items() if card.resource_id not in taken}, roots, prune
        )

    def _files(self, folder: Path, rules: SyncRules) -> Iterator[tuple[Path, State]]:
        """Yield the path and the state of every mappable file below `folder` that the rules select.

        Hidden files, symbolic links, the folders in `skip`, and subfolders that cannot be read are left out. Raise
        `RequestRefused` if `folder` cannot be read.
        """
        skipped = {str(path.absolute()) for path in self.skip}
        pending = [(str(folder), "")]
        while pending:
            here, prefix = pending.pop()
            try:
                with os.scandir(here) as entries:
                    listed = sorted(entries, key=lambda each: each.name)
            except OSError as error:
                if not prefix:
                    raise RequestRefused(f"{here} cannot be read: {error.strerror or error}.") from error
                continue
            for entry in listed:
                relative = f"{prefix}{entry.name}"
                if entry.name.startswith(".") or entry.is_symlink():
                    continue
                if entry.is_dir(follow_symlinks=False):
                    if entry.path not in skipped and rules.enters(relative):
                        pending.append((entry.path, f"{relative}/"))
                elif entry.is_file(follow_symlinks=False) and rules.takes(relative):
                    path = Path(entry.path)
                    state = _state(path)
                    if state is not None and self._is_mappable(path, state):
                        yield path, state

    def _is_mappable(self, path: Path, state: State) -> bool:
        if self._others.get(path) == state:
            return False
        if path in self._seen or self.is_mappable(path):
            return True
        self._others[path] = state
        return False

    def _is_settled(self, path: Path, state: State) -> bool:
        seen = self._seen.get(path)
        return (seen is not None and seen[0] == state) or abs(time.time() - state[2] / 1e9) >= SETTLED

    def _moved(
        self, found: Mapping[Path, State], known: Mapping[Path, MapCard], gone: Mapping[Path, MapCard]
    ) -> dict[Path, str]:
        """Return the IDs, by new path, of the maps whose file was moved to another path without a change."""
        by_size: dict[int, list[MapCard]] = {}
        for card in gone.values():
            if card.source_size is not None:
                by_size.setdefault(card.source_size, []).append(card)
        moved: dict[Path, str] = {}
        for path, state in found.items():
            for card in by_size.get(state[1], ()) if path not in known else ():
                digest = self.sources.digest(path)
                if digest is not None and digest.hex == card.source_hash and card.resource_id not in moved.values():
                    moved[path] = card.resource_id
                    break
        return moved

    def _mapped(
        self,
        found: Mapping[Path, State],
        known: Mapping[Path, MapCard],
        moved: Mapping[Path, str],
        concurrency: int,
        progress: Progress,
    ) -> Iterator[Synced]:
        unchanged = {path for path, state in found.items() if self._is_remembered(path, state)}
        for path in unchanged:
            yield Synced(path, SyncState.UNCHANGED, self._seen[path][1])
        rest = [path for path in found if path not in unchanged]
        wanted = {path: card.resource_id for path, card in known.items()} | dict(moved)
        many = self.ingest_many(rest, wanted=wanted, concurrency=concurrency, progress=progress)
        for outcome in many:
            made, path = outcome.ingested, outcome.path
            if path in moved:
                state = SyncState.MOVED
            elif path not in known:
                state = SyncState.NEW
            else:
                state = SyncState.CHANGED if made is not None and made.mapped_now else SyncState.UNCHANGED
            yield self._remembered(outcome, state, found[path])

    def _is_remembered(self, path: Path, state: State) -> bool:
        seen = self._seen.get(path)
        return seen is not None and seen[0] == state and self.maps.version(seen[1]) is not None

    def _remembered(self, outcome: Outcome, state: SyncState, seen: State) -> Synced:
        if outcome.ingested is None:
            written = isinstance(outcome.error, SourceChanged) or _state(outcome.path) != seen
            return Synced(outcome.path, SyncState.WAITING if written else SyncState.FAILED, None, outcome.error)
        name = outcome.ingested.card.resource_id
        self._seen[outcome.path] = (seen, name)
        return Synced(outcome.path, state, name)

    def _gone(self, gone: Mapping[Path, MapCard], roots: Sequence[Path], prune: bool) -> Iterator[Synced]:
        emptied = [root for root in roots if not any(os.scandir(root))]
        for path, card in sorted(gone.items()):
            if not prune:
                yield Synced(path, SyncState.GONE, card.resource_id)
            elif any(path.is_relative_to(root) for root in emptied):
                reason = (
                    f"The map of {path} is not deleted, because the synced folder is empty. A drive may be missing. To "
                    f"delete the map anyway, run: citekit remove {quote(card.resource_id)} --home {quote(str(self.home))}"
                )
                yield Synced(path, SyncState.FAILED, card.resource_id, RequestRefused(reason))
            else:
                done = pruned(path, card.resource_id, self.remove)
                if done.state is SyncState.REMOVED:
                    self._seen.pop(path, None)
                yield done


def pruned(path: Path, name: str, remove: RemoveResource) -> Synced:
    """Remove the map of a file that is gone, and return the result."""
    try:
        remove(name)
    except ResourceMissing:  # another process has already removed it
        pass
    except CiteKitError as error:
        return Synced(path, SyncState.FAILED, name, error)
    return Synced(path, SyncState.REMOVED, name)


def _is_gone(path: Path, roots: Sequence[Path]) -> bool:
    return any(path.is_relative_to(root) for root in roots) and not os.path.lexists(path)


def _state(path: Path) -> State | None:
    try:
        status = path.lstat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def _id(card: MapCard | None) -> str | None:
    return None if card is None else card.resource_id
