"""Keeps the maps of files in buckets up to date."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from shlex import quote

from attrs import frozen

from citekit.application.ingest_many import IngestMany
from citekit.application.remove_resource import RemoveResource
from citekit.application.sync_folders import EVERY, Synced, SyncRules, SyncState, pruned
from citekit.domain.errors import RequestRefused, SourceChanged
from citekit.domain.map_card import MapCard
from citekit.domain.ports.map_store import MapStore
from citekit.domain.ports.remote_files import RemoteFiles
from citekit.domain.progress import Progress, silent


@frozen
class SyncBuckets:
    """Compares buckets with the maps.

    A file whose version (ETag) is unchanged is not fetched, and one whose version differs is mapped only if its digest
    differs.
    """

    remote: RemoteFiles
    maps: MapStore
    ingest_many: IngestMany
    remove: RemoveResource
    is_known_name: Callable[[str], bool]
    home: Path

    def __call__(
        self,
        urls: Sequence[str],
        rules: SyncRules = EVERY,
        *,
        prune: bool = False,
        concurrency: int = 2,
        progress: Progress = silent,
    ) -> Iterator[Synced]:
        """Yield the result for every file at `urls` that `rules` select and that CiteKit can map, and for every map
        whose file is no longer there.

        A map is deleted only with `prune`, and not if the URL of its file now lists no files at all. Raise the errors
        of `RemoteFiles.listing`.
        """
        known = {Path(card.source_path): card for card in self.maps.cards()}
        there: set[Path] = set()
        found: dict[Path, None] = {}
        roots: list[tuple[Path, bool]] = []
        for url in urls:
            listed = {each.path: each.url.removeprefix(url).lstrip("/") for each in self.remote.listing(url)}
            roots.append((self.remote.place(url), not listed))
            there |= listed.keys()
            found |= {
                path: None
                for path, relative in listed.items()
                if self.is_known_name(path.name) and rules.reaches(relative or path.name)
            }
        wanted = {path: known[path].resource_id for path in found if path in known}
        many = self.ingest_many(found, wanted=wanted, concurrency=concurrency, progress=progress)
        for outcome in many:
            made, path = outcome.ingested, outcome.path
            if made is None:
                state = SyncState.WAITING if isinstance(outcome.error, SourceChanged) else SyncState.FAILED
                yield Synced(path, state, None, outcome.error)
            elif path not in known:
                yield Synced(path, SyncState.NEW, made.card.resource_id)
            else:
                state = SyncState.CHANGED if made.mapped_now else SyncState.UNCHANGED
                yield Synced(path, state, made.card.resource_id)
        for path, card in sorted(known.items()):
            root = next((each for each in roots if path == each[0] or path.is_relative_to(each[0])), None)
            if root is not None and path not in there:
                yield self._gone(path, card, prune, is_empty=root[1])

    def _gone(self, path: Path, card: MapCard, prune: bool, *, is_empty: bool) -> Synced:
        name = card.resource_id
        if not prune:
            return Synced(path, SyncState.GONE, name)
        if is_empty:
            reason = (
                f"The map '{name}' is not deleted, because no files are left at the synced URL. The URL may be wrong. "
                f"To delete the map anyway, run: citekit remove {quote(name)} --home {quote(str(self.home))}"
            )
            return Synced(path, SyncState.FAILED, name, RequestRefused(reason))
        return pruned(path, name, self.remove)
