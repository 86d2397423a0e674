"""A vector index on a Qdrant server or cluster."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice
from typing import Any

from attrs import asdict

from citekit.adapters.libraries import qdrant_client as driver
from citekit.adapters.libraries.qdrant_client import Kind, QdrantSettings, Trouble
from citekit.adapters.search.vector_index import ranking
from citekit.adapters.search.vector_index import server_points as points
from citekit.adapters.search.vector_index.entry_rules import (
    checked,
    is_never,
    missing,
    point_id,
    sound,
    sound_vector,
    sound_words,
)
from citekit.domain.errors import CiteKitError, IndexUnavailable, RequestRefused
from citekit.domain.library.vectors import (
    CollectionFacts,
    EmbedderIdentity,
    Entry,
    Found,
    Question,
    Where,
    model_mismatch,
)

BATCH = 256
"""Number of entries that are sent at a time: about a megabyte."""

PAGE = 1000
OURS = "citekit"
FORM = 1

START = (
    "start a Qdrant server (docker run -p 6333:6333 qdrant/qdrant), "
    "or leave QDRANT_URL and QDRANT_HOST unset to use the embedded index."
)


class QdrantVectorIndex:
    """A `VectorIndex` on a Qdrant server or cluster.

    `connect` creates the client on first use. `place` describes the server in messages (None: its address).
    """

    def __init__(
        self,
        settings: QdrantSettings,
        connect: Callable[[QdrantSettings], Any] = driver.connect,
        place: str | None = None,
    ) -> None:
        self._settings, self._connect, self._place = settings, connect, place or settings.place
        self._client: Any = None
        self._models: dict[str, EmbedderIdentity] = {}
        self._lock = threading.Lock()

    @property
    def place(self) -> str:
        """See `VectorIndex.place`. The address has no key and no password."""
        return self._place

    def collections(self) -> Sequence[str]:
        """See `VectorIndex.collections`. Collections that other programs created are left out."""
        with self._asking() as client:
            names = [found.name for found in client.get_collections().collections]
        return sorted(name for name in names if self._described(name) is not None)

    def facts(self, collection: str) -> CollectionFacts | None:
        """See `VectorIndex.facts`. Also return None if another program created the collection."""
        described = self._described(checked(collection))
        if described is None:
            return None
        info, model = described
        return CollectionFacts(collection, model, self.count(collection), str(info.status.value), self.place)

    def create(self, collection: str, model: EmbedderIdentity) -> None:
        """See `VectorIndex.create`. Also raise `IndexUnavailable` if another program created a collection with this
        name, or if the server is too old.
        """
        described = self._described(checked(collection)) or self._made(collection, model)
        if described[1] != model:
            raise model_mismatch(collection, described[1], model)

    def put(self, collection: str, entries: Iterable[Entry]) -> None:
        """See `VectorIndex.put`. Entries are sent in batches; if one is not valid, earlier batches remain stored."""
        dimensions, rest = self._model(collection).dimensions, iter(entries)
        while batch := list(islice(rest, BATCH)):
            made = {point_id(entry.id): points.point(sound(entry, dimensions, collection)) for entry in batch}
            with self._asking(collection) as client:
                client.upsert(collection, list(made.values()), wait=True)

    def remove(self, collection: str, where: Where) -> None:
        """See `VectorIndex.remove`."""
        self._model(collection)
        if where and not is_never(where):
            with self._asking(collection) as client:
                client.delete(collection, points.models().FilterSelector(filter=points.condition(where)), wait=True)

    def search(self, collection: str, question: Question) -> Found:
        """See `VectorIndex.search`."""
        model = self._model(collection)
        if question.words is not None:
            sound_words(question.words)
        if question.vector is not None:
            sound_vector(question.vector, model.dimensions, collection)
        return ranking.answer(points, partial(self._batch, collection), question)

    def fetch(self, collection: str, ids: Sequence[str]) -> Sequence[Entry]:
        """See `VectorIndex.fetch`."""
        wanted = [point_id(text) for text in ids]
        self._model(collection)
        with self._asking(collection) as client:
            records = client.retrieve(collection, list(dict.fromkeys(wanted)), with_payload=True) if wanted else []
        found = {entry.id: entry for entry in map(points.entry, records)}
        return [found[text] for text in wanted if text in found]

    def matching(self, collection: str, where: Where, limit: int = 10_000) -> Sequence[Entry]:
        """See `VectorIndex.matching`."""
        self._model(collection)
        found: list[Entry] = []
        offset, condition = None, points.condition(where)
        while len(found) < limit and not is_never(where):
            size = min(PAGE, limit - len(found))
            with self._asking(collection) as client:
                records, offset = client.scroll(collection, condition, size, offset=offset, with_payload=True)
            found.extend(map(points.entry, records))
            if offset is None:
                break
        return found

    def count(self, collection: str, where: Where | None = None) -> int:
        """See `VectorIndex.count`."""
        self._model(collection)
        if where and is_never(where):
            return 0
        with self._asking(collection) as client:
            return int(client.count(collection, points.condition(where), exact=True).count)

    def flush(self, collection: str) -> None:
        """See `VectorIndex.flush`. Acknowledged writes are durable, and the server optimizes itself."""
        self._model(collection)

    def drop(self, collection: str) -> None:
        """See `VectorIndex.drop`. A collection that another program created is not removed."""
        if self._described(checked(collection)) is not None:
            with self._asking() as client:
                client.delete_collection(collection)
        self._models.pop(collection, None)

    def close(self) -> None:
        """Close the connection to the server. The next call opens a new one."""
        with self._lock:
            client, self._client = self._client, None
            self._models.clear()
        if client is not None:
            client.close()

    @contextmanager
    def _asking(self, collection: str | None = None) -> Iterator[Any]:
        """Yield the client for one request, and convert exceptions inside the block to CiteKit errors."""
        try:
            with self._lock:
                self._client = self._client or self._connect(self._settings)
            yield self._client
        except Exception as error:
            trouble = driver.trouble(error, self._settings.api_key)
            if trouble is None:
                raise
            raise self._translated(trouble, collection) from error

    def _translated(self, trouble: Trouble, collection: str | None) -> Exception:
        if trouble.kind is Kind.MISSING and collection is not None:
            self._models.pop(collection, None)
            return missing(collection, self.collections(), self.place)
        return translated(trouble, self.place, has_key=self._settings.api_key is not None)

    def _model(self, collection: str) -> EmbedderIdentity:
        """Return the embedding model of a collection, which is cached. Raise `CollectionMissing` if the collection does
        not exist.
        """
        known = self._models.get(checked(collection))
        if known is None:
            described = self._described(collection)
            if described is None:
                raise missing(collection, self.collections(), self.place)
            known = self._models[collection] = described[1]
        return known

    def _described(self, collection: str) -> tuple[Any, EmbedderIdentity] | None:
        """Return the server's description of a collection and its embedding model.

        Return None if the collection does not exist or CiteKit did not create it.
        """
        with self._asking() as client:
            if not client.collection_exists(collection):
                return None
            info = client.get_collection(collection)
        note = (info.config.metadata or {}).get(OURS)
        try:
            model = (note or {})["model"]
            return info, EmbedderIdentity(str(model["name"]), str(model["version"]), int(model["dimensions"]))
        except (KeyError, TypeError, ValueError):
            return None

    def _made(self, collection: str, model: EmbedderIdentity) -> tuple[Any, EmbedderIdentity]:
        note = {OURS: {"form": FORM, "model": asdict(model)}}
        with self._asking() as client:
            if client.collection_exists(collection):
                raise foreign(collection, self.place)
            self._create(client, collection, points.layout(model, self._settings) | {"metadata": note})
        described = self._described(collection)
        if described is None:
            with self._asking() as client:
                client.delete_collection(collection)
            raise IndexUnavailable(
                f"The Qdrant server at {self.place} is too old: it cannot store metadata. Use version 1.16 or later."
            )
        return described

    def _create(self, client: Any, collection: str, layout: dict[str, object]) -> None:
        """Create the collection with the arguments `layout`, and its payload indexes.

        If another process has just created it, only create the payload indexes.
        """
        try:
            client.create_collection(collection, **layout)
        except Exception as error:
            trouble = driver.trouble(error)
            if trouble is None or trouble.kind is not Kind.EXISTS:
                raise
        for name, schema in points.field_indexes():
            client.create_payload_index(collection, name, schema, wait=True)

    def _batch(self, collection: str, requests: Sequence[Any]) -> Sequence[Sequence[Any]]:
        with self._asking(collection) as client:
            return [reply.points for reply in client.query_batch_points(collection, list(requests))]


def foreign(collection: str, place: str) -> IndexUnavailable:
    """Return the error for a collection that another program created."""
    return IndexUnavailable(
        f"The collection '{collection}' at {place} was not created by CiteKit. Choose another name (--collection or "
        "QDRANT_COLLECTION)."
    )


def translated(trouble: Trouble, place: str, *, has_key: bool) -> CiteKitError:
    """Return the CiteKit error for a failure of the Qdrant client at the address `place`."""
    said = f" ({trouble.words})" if trouble.words else ""
    match trouble.kind:
        case Kind.REFUSED:
            return RequestRefused(f"The Qdrant server at {place} rejected the request{said}.")
        case Kind.KEY:
            return IndexUnavailable(_key(place, has_key))
        case _:
            return IndexUnavailable(_SENTENCES[trouble.kind].format(place=place, said=said))


def _key(place: str, has_key: bool) -> str:
    if has_key:
        return f"The Qdrant server at {place} does not accept the API key. Check QDRANT_API_KEY or QDRANT_API_KEY_FILE."
    return f"The Qdrant server at {place} requires an API key. Set QDRANT_API_KEY."


_SENTENCES = {
    Kind.UNREACHABLE: "The Qdrant server at {place} cannot be reached{said}. Check the address, " + START,
    Kind.TIMEOUT: "The Qdrant server at {place} did not answer in time. Try again later, or check its load.",
    Kind.MISSING: "The server at {place} did not find what was requested{said}. Check that this is the address of a Qdrant "
    "server, and try again.",
    Kind.EXISTS: "The Qdrant server at {place} already has a collection with this name{said}.",
    Kind.FULL: "The disk of the Qdrant server at {place} is full. Free some space on it.",
    Kind.SERVER: "The Qdrant server at {place} failed{said}. Try again later, or check the log of the server.",
    Kind.FOREIGN: "The server at {place} does not answer like a Qdrant server. Check the address and the port, "
    + START,
    Kind.ADDRESS: "{place} is not a valid address of a Qdrant server{said}. Use an address such as http://host:6333.",
}
