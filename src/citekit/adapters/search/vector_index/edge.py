"""The embedded vector index, which needs no server. Each collection is a folder that `qdrant-edge` searches."""

from __future__ import annotations

import hashlib
import secrets
import shutil
import threading
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from citekit.adapters.libraries import qdrant_edge as driver
from citekit.adapters.libraries.qdrant_edge import EdgeSettings, engine
from citekit.adapters.search.vector_index import edge_points as points
from citekit.adapters.search.vector_index import ranking
from citekit.adapters.search.vector_index.edge_shard import (
    FILE,
    SHARD,
    EdgeForm,
    OpenShard,
    failing,
    has_room,
    home_option,
    opened,
    room,
    writing,
)
from citekit.adapters.search.vector_index.entry_rules import (
    INTEGERS,
    KEYWORDS,
    checked,
    is_never,
    missing,
    point_id,
    sound,
    sound_vector,
    sound_words,
)
from citekit.adapters.search.vector_index.shard_lease import ShardLease
from citekit.adapters.system.home_files import check_folder, make_folder, remove_tree
from citekit.adapters.system.home_seal import HomeSeal
from citekit.domain.errors import IndexCorrupt, IndexUnavailable
from citekit.domain.library.vectors import (
    CollectionFacts,
    EmbedderIdentity,
    Entry,
    Found,
    Question,
    Where,
    model_mismatch,
)

BATCH = 1000
"""Number of entries that are written at a time. Between two batches, another process may take over."""

PAGE = 1000
"""Number of entries that are read at a time."""

TURNS = ".turns"


class EdgeVectorIndex:
    """A `VectorIndex` whose collections are subfolders of `folder`.

    Threads can share a collection, but only one process at a time uses it. `settings` apply to new collections.
    `patience` is the number of seconds to wait for another process to release a collection.
    """

    def __init__(self, folder: Path, settings: EdgeSettings | None = None, *, patience: float = 30.0) -> None:
        self._folder, self._settings, self._patience = folder, settings or EdgeSettings(), patience
        self._seal = HomeSeal(folder, private=True)
        self._turns: dict[str, ShardLease[OpenShard]] = {}
        self._table = threading.Lock()
        weakref.finalize(self, _let_go, self._turns)

    @property
    def place(self) -> str:
        """See `VectorIndex.place`."""
        return str(self._folder)

    def collections(self) -> Sequence[str]:
        """See `VectorIndex.collections`. Damaged collections are included."""
        check_folder(self._folder)
        if not self._folder.is_dir():
            return []
        found = (path for path in self._folder.iterdir() if not path.name.startswith("."))
        return sorted(path.name for path in found if (path / FILE).exists() or (path / SHARD).exists())

    def facts(self, collection: str) -> CollectionFacts | None:
        """See `VectorIndex.facts`."""
        if EdgeForm.read(self._folder / checked(collection)) is None:
            return None
        with self._open(collection) as held:
            model, stored = held.form.model, held.shard.info().points_count
        return CollectionFacts(collection, model, stored, "green", self.place)

    def create(self, collection: str, model: EmbedderIdentity) -> None:
        """See `VectorIndex.create`."""
        form = EdgeForm.read(self._folder / checked(collection))
        if form is None:
            with self._turn(collection).alone():
                form = EdgeForm.read(self._folder / collection) or self._made(collection, model)
        if form.model != model:
            raise model_mismatch(collection, form.model, model, home_option(self._folder))

    def put(self, collection: str, entries: Iterable[Entry]) -> None:
        """See `VectorIndex.put`. Entries are stored in batches; if one is not valid, earlier batches remain stored."""
        dimensions = self._form(collection).model.dimensions
        rest = iter(entries)
        while batch := list(islice(rest, BATCH)):
            made = {
                point_id(entry.id): points.point(
                    sound(entry, dimensions, collection, home_option(self._folder)), self._seal
                )
                for entry in batch
            }
            with self._open(collection) as held:
                self._update(held, driver.engine().UpdateOperation.upsert_points(list(made.values())), len(made))

    def remove(self, collection: str, where: Where) -> None:
        """See `VectorIndex.remove`."""
        with self._open(collection) as held:
            fitting = self._count(held, where) if where else 0
            if fitting:
                operation = driver.engine().UpdateOperation.delete_points_by_filter(points.condition(where))
                self._update(held, operation, fitting, needs_room=False)

    def search(self, collection: str, question: Question) -> Found:
        """See `VectorIndex.search`."""
        with self._open(collection) as held:
            if question.vector is not None:
                sound_vector(question.vector, held.form.model.dimensions, collection, home_option(self._folder))
            if question.words is not None:
                sound_words(question.words)
            return ranking.answer(points, partial(_batch, held.shard), question)

    def fetch(self, collection: str, ids: Sequence[str]) -> Sequence[Entry]:
        """See `VectorIndex.fetch`."""
        wanted = [point_id(text) for text in ids]
        with self._open(collection) as held:
            records = held.shard.retrieve(list(dict.fromkeys(wanted)), with_payload=True, with_vector=False)
        found = {entry.id: entry for entry in (points.entry(each, self._seal) for each in records)}
        return [found[text] for text in wanted if text in found]

    def matching(self, collection: str, where: Where, limit: int = 10_000) -> Sequence[Entry]:
        """See `VectorIndex.matching`."""
        found: list[Entry] = []
        with self._open(collection) as held:
            offset, condition = None, points.condition(where)
            while len(found) < limit and not is_never(where):
                size = min(PAGE, limit - len(found))
                request = driver.engine().ScrollRequest(offset=offset, limit=size, filter=condition, with_payload=True)
                records, offset = held.shard.scroll(request)
                found.extend(points.entry(each, self._seal) for each in records)
                if offset is None:
                    break
        return found

    def count(self, collection: str, where: Where | None = None) -> int:
        """See `VectorIndex.count`."""
        with self._open(collection) as held:
            return self._count(held, where or Where())

    def flush(self, collection: str) -> None:
        """See `VectorIndex.flush`. The collection is optimized if enough entries have changed and the disk has enough
        space.
        """
        with self._open(collection) as held:
            held.flush()
            if held.optimising_pays() and has_room(held.folder, held.size()):
                held.optimise()
                held.flush()

    def drop(self, collection: str) -> None:
        """See `VectorIndex.drop`."""
        folder = self._folder / checked(collection)
        check_folder(folder)
        if not folder.exists():
            return
        with self._turn(collection).alone(), writing(folder):
            self._sweep(collection)
            gone = self._aside("dropped", collection)
            with suppress(FileNotFoundError):
                folder.rename(gone)
            remove_tree(gone, ignore_errors=True)

    def close(self) -> None:
        """See `VectorIndex.close`."""
        _let_go(self._turns)

    def _form(self, collection: str) -> EdgeForm:
        form = EdgeForm.read(self._folder / checked(collection))
        if form is None:
            raise missing(collection, self.collections(), self.place)
        return form

    def _made(self, collection: str, model: EmbedderIdentity) -> EdgeForm:
        """Create the folder of a collection and return its description.

        The folder gets its name when it is complete.
        """
        self._sweep(collection)
        form, new = EdgeForm(model, self._settings), self._aside("new", collection)
        try:
            with writing(self._folder):
                make_folder(new.parent)
                new.mkdir(0o700)  # contains text of books
                room(new)
                with failing(new):
                    driver.create(str(new / SHARD), model.dimensions, self._settings, KEYWORDS, INTEGERS)
                form.write(new)
                new.rename(self._folder / collection)
        finally:
            shutil.rmtree(new, ignore_errors=True)
        return form

    def _aside(self, what: str, collection: str) -> Path:
        """Return a new path for a temporary folder of a collection. Because of the dot, it is not listed as a
        collection.
        """
        return self._folder / f".{what}-{_tag(collection)}-{secrets.token_hex(8)}"

    def _sweep(self, collection: str) -> None:
        """Remove temporary folders of the collection that killed processes have left behind.

        The caller must hold the lease of the collection.
        """
        for what in ("new", "dropped"):
            for left in self._folder.glob(f".{what}-{_tag(collection)}-*"):
                remove_tree(left, ignore_errors=True)

    @contextmanager
    def _open(self, collection: str) -> Iterator[OpenShard]:
        """Yield the open collection for one call. Open it if necessary.

        If an error means that the collection is damaged or unavailable, close it, so that the next call opens it again.
        """
        turn = self._turn(collection)
        if not turn.is_open:
            self._form(collection)
        broken = False
        try:
            with turn.using() as held:
                try:
                    with failing(held.folder):
                        yield held
                except (IndexCorrupt, IndexUnavailable):
                    held.broken = broken = True
                    raise
        finally:
            if broken:
                turn.let_go()

    def _turn(self, collection: str) -> ShardLease[OpenShard]:
        folder = self._folder / checked(collection)
        with self._table:
            if collection not in self._turns:
                self._turns[collection] = ShardLease(
                    self._folder / TURNS,
                    collection,
                    lambda: opened(folder, self._form(collection)),
                    OpenShard.close,
                    what=f"The index {folder}",
                    patience=self._patience,
                )
            return self._turns[collection]

    def _update(self, held: OpenShard, operation: Any, changed: int, *, needs_room: bool = True) -> None:
        if needs_room:
            room(held.folder)
        held.changed(changed)
        held.shard.update(operation)

    def _count(self, held: OpenShard, where: Where) -> int:
        if is_never(where):
            return 0
        return int(held.shard.count(driver.engine().CountRequest(exact=True, filter=points.condition(where))))


def _tag(collection: str) -> str:
    return hashlib.sha256(collection.encode()).hexdigest()[:16]


def _let_go(turns: Mapping[str, ShardLease[OpenShard]]) -> None:
    """Close all open collections. This function also runs when the index is garbage-collected, or at exit."""
    for turn in list(turns.values()):
        turn.let_go()


def _batch(shard: Any, requests: Sequence[Any]) -> Sequence[Sequence[Any]]:
    replies: Sequence[Sequence[Any]] = shard.query_batch(engine().QueryBatchRequest(list(requests)))
    return replies
