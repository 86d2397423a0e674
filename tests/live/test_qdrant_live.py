"""A real Qdrant server, where QDRANT_URL names one: a collection is made, filled, asked, and dropped again."""

from __future__ import annotations

import os
import secrets
import uuid

import pytest

from citekit.adapters.libraries.qdrant_client import QdrantSettings
from citekit.adapters.search.vector_index.server import QdrantVectorIndex
from citekit.domain.errors import CollectionMissing, ModelMismatch
from citekit.domain.library.vectors import EmbedderIdentity, Entry, Question, SparseVector, Where

pytestmark = pytest.mark.skipif(not os.environ.get("QDRANT_URL"), reason="QDRANT_URL is not set")

MODEL = EmbedderIdentity("static", "1", 3)


@pytest.mark.parametrize("grpc", [False, True])
def test_a_collection_lives_its_whole_life_on_a_server(grpc: bool) -> None:
    settings = QdrantSettings(url=os.environ["QDRANT_URL"], api_key=os.environ.get("QDRANT_API_KEY") or None, grpc=grpc)
    index, name = QdrantVectorIndex(settings), f"citekit-test-{secrets.token_hex(6)}"
    entries = [
        Entry(
            str(uuid.UUID(int=number)),
            f"g{number}",
            [1.0, 0.0, 0.0] if number else [0.6, 0.8, 0.0],
            SparseVector((1, 10 + number), (1.0, 2.0)),
            {"language": "eng" if number % 2 else "deu", "book_id": number, "tags": ["a"]},
        )
        for number in range(600)
    ]
    try:
        index.create(name, MODEL)
        index.put(name, [*entries, *entries])
        index.flush(name)

        found = index.search(name, Question([0.6, 0.8, 0.0], SparseVector((1, 17), (1.0, 1.0)), 5))
        english = index.search(name, Question([1.0, 0.0, 0.0], None, 600, Where({"language": ("eng",)})))

        assert (600, 300) == (index.count(name), len(english.dense))
        assert (entries[0].id, entries[7].id) == (found.dense[0].id, found.lexical[0].id)
        assert found.lexical[0].score <= found.ceiling
        assert [entry.id for entry in entries] == [entry.id for entry in index.matching(name, Where())]
        with pytest.raises(ModelMismatch):
            index.create(name, EmbedderIdentity("other", "1", 3))
        index.remove(name, Where({"book_id": (7, 8)}))
        assert 598 == index.count(name)
    finally:
        index.drop(name)
    with pytest.raises(CollectionMissing):
        index.count(name)
    index.close()
