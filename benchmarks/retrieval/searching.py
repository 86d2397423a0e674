"""The product's own search over a truth: our words, embedders, index and fusion."""

from __future__ import annotations

import tempfile
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path

from attrs import evolve, frozen

from citekit.adapters.search.vector_index.edge import EdgeVectorIndex
from citekit.domain.library.fusion import Calibration, Ranked, calibration_of, fuse
from citekit.domain.library.lexical import document_words, query_words
from citekit.domain.library.vectors import Entry, Found, Question, SparseVector
from citekit.domain.ports.embedder import Embedder

CANDIDATES = 100
NOTHING = SparseVector((), ())


@frozen
class Searched:
    """What the three ways found for one question."""

    words: tuple[Ranked, ...]
    meaning: tuple[Ranked, ...]
    both: tuple[Ranked, ...]
    found: Found


class Searcher:
    """The texts in one collection: a chunk each, with a passage for every `window` words."""

    def __init__(self, texts: Mapping[str, str], embedder: Embedder) -> None:
        self._embedder = embedder
        self._folder = tempfile.TemporaryDirectory()
        self._index = EdgeVectorIndex(Path(self._folder.name) / "index")
        self._index.create("texts", embedder.identity)
        self._names = {_id(name): name for name in texts}
        words = {name: document_words(text) for name, text in texts.items()}
        self._index.put("texts", [Entry(_id(name), _id(name), words=each) for name, each in words.items()])
        self._put_passages(texts)

    def _put_passages(self, texts: Mapping[str, str]) -> None:
        pieces = [(name, piece) for name, text in texts.items() for piece in _pieces(text, self._embedder.window)]
        vectors = self._embedder.documents([piece for _, piece in pieces])
        passages = [
            Entry(_id(f"{name}/{number}"), _id(name), vector=vector)
            for number, ((name, _), vector) in enumerate(zip(pieces, vectors, strict=True))
        ]
        self._index.put("texts", passages)

    def search(self, text: str) -> Searched:
        """Up to a hundred of each kind, and ten of both, by the names of the texts."""
        words = query_words(text)
        found = self._index.search("texts", Question(self._embedder.query(text), words, CANDIDATES))
        calibration = calibration_of(self._embedder.identity.name)
        return Searched(
            self._ranked(evolve(found, dense=()), calibration),
            self._ranked(evolve(found, lexical=()), calibration),
            self._ranked(found, calibration),
            found,
        )

    def _ranked(self, found: Found, calibration: Calibration) -> tuple[Ranked, ...]:
        ranked = fuse(found, 10, calibration)
        return tuple(evolve(each, group=self._names[each.group]) for each in ranked)

    def close(self) -> None:
        """Drop the collection."""
        self._index.close()
        self._folder.cleanup()


def _pieces(text: str, window: int) -> Sequence[str]:
    words = text.split()
    return [" ".join(words[start : start + window]) for start in range(0, len(words), window)] or [""]


def _id(name: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, name))
