"""Converts the index of a document to bytes for storage, and back."""

from __future__ import annotations

import json
import sys
import zlib
from array import array
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any

from attrs import define, field

from citekit.adapters.libraries.model_files import imported
from citekit.domain.library.lexical import term_number
from citekit.domain.library.vectors import Vector
from citekit.domain.ports.ranking_index import PassageVectors
from citekit.domain.ranking.document_index import DocumentIndex

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

KEPT = 48
"""Maximum number of documents whose indexes stay in memory."""

_LEVEL = 3
_LARGEST = 127
_NONE = -2.0  # below every cosine


def stored(index: DocumentIndex, names: Iterable[str], passages: PassageVectors) -> StoredDocument:
    """Return the document in the form that is stored: with its names as term numbers, and vectors rounded to 8 bits."""
    named = array("I", sorted(map(term_number, names)))
    return StoredDocument(index, named, array("I", passages.pages), _rounded(passages.vectors))


def to_bytes(document: StoredDocument) -> bytes:
    """Return a document as compressed bytes: a line of JSON with the lengths of the parts in bytes, then the parts."""
    index = document.index
    parts = [
        *map(_little, (index.terms, index.starts, index.pages, index.lengths, index.numbers)),
        index.counts,
        index.fields,
        index.numeric,
        index.lists,
        _little(document.names),
        _little(document.passage_pages),
        document.vectors,
    ]
    header = json.dumps([len(part) for part in parts], separators=(",", ":")).encode()
    return zlib.compress(b"\n".join((header, b"".join(parts))), _LEVEL)


def from_bytes(data: bytes) -> StoredDocument:
    """Return the document that `to_bytes` converted to `data`, which must come from a trusted source."""
    header, _, rest = zlib.decompress(data).partition(b"\n")
    parts, at = [], 0
    for length in json.loads(header):
        parts.append(rest[at : at + length])
        at += length
    terms, starts, pages, lengths, numbers = map(_from_little, parts[:5])
    counts, fields, numeric, lists = parts[5:9]
    index = DocumentIndex(
        terms=terms,
        starts=starts,
        pages=pages,
        counts=counts,
        fields=fields,
        lengths=lengths,
        numeric=numeric,
        lists=lists,
        numbers=numbers,
    )
    return StoredDocument(index, _from_little(parts[9]), _from_little(parts[10]), parts[11])


@define(slots=False)
class StoredDocument:
    """An `IndexedDocument` whose vectors are rounded to 8 bits. `names` are the numbers of the terms of its names."""

    index: DocumentIndex
    names: array[int] = field(repr=False)
    passage_pages: array[int] = field(repr=False)
    vectors: bytes = field(repr=False)

    def terms(self) -> Iterator[tuple[int, int, int]]:
        """Yield each term of the text and the names once: its number, the number of pages with it, and how often it
        occurs.

        Terms of names have 0 pages and 1 occurrence, even if the text also contains them.
        """
        named = frozenset(self.names)
        yield from (each for each in self.index.pages_per_term() if each[0] not in named)
        yield from ((number, 0, 1) for number in named)

    def similarities(self, vector: Vector) -> Sequence[float] | None:
        """See `IndexedDocument.similarities`."""
        if not self.vectors:
            return None
        numpy: Any = imported("numpy", "Ranking by meaning", "library")
        # For long documents, `@` starts threads that wait for each other, which can take longer than the work.
        cosines = numpy.einsum("ij,j->i", self._matrix, numpy.asarray(vector, numpy.float32))
        best = numpy.full(len(self.index), _NONE, numpy.float32)
        numpy.maximum.at(best, self._owners, cosines)
        best[best == _NONE] = 0.0
        found: list[float] = best.tolist()
        return found

    @cached_property
    def _matrix(self) -> NDArray[np.float32]:
        numpy: Any = imported("numpy", "Ranking by meaning", "library")
        rows: NDArray[np.float32] = numpy.frombuffer(self.vectors, numpy.int8).astype(numpy.float32)
        rows = rows.reshape(len(self.passage_pages), -1)
        lengths = numpy.linalg.norm(rows, axis=1, keepdims=True)
        rows /= numpy.where(lengths == 0, 1, lengths)
        return rows

    @cached_property
    def _owners(self) -> NDArray[np.int64]:
        numpy: Any = imported("numpy", "Ranking by meaning", "library")
        owners: NDArray[np.int64] = numpy.asarray(self.passage_pages, numpy.int64)
        return owners


@define
class DocumentMemory:
    """The documents that were read last, at most `KEPT`, by the ID of the resource and the version. Thread-safe."""

    _documents: OrderedDict[tuple[str, str], StoredDocument] = field(factory=OrderedDict, init=False)
    _lock: Lock = field(factory=Lock, init=False)

    def get(self, key: tuple[str, str]) -> StoredDocument | None:
        """Return a document, or None if it is not in memory."""
        with self._lock:
            if key in self._documents:
                self._documents.move_to_end(key)
            return self._documents.get(key)

    def put(self, key: tuple[str, str], document: StoredDocument) -> StoredDocument:
        """Store a document in memory, and return it."""
        with self._lock:
            self._documents[key] = document
            while len(self._documents) > KEPT:
                self._documents.popitem(last=False)
        return document


def _rounded(vectors: Sequence[Vector]) -> bytes:
    if not vectors:
        return b""
    numpy: Any = imported("numpy", "Ranking by meaning", "library")
    rows = numpy.asarray(vectors, numpy.float32)
    largest = numpy.abs(rows).max(axis=1, keepdims=True)
    scaled: bytes = numpy.rint(rows * _LARGEST / numpy.where(largest == 0, 1, largest)).astype(numpy.int8).tobytes()
    return scaled


def _little(items: array[int]) -> bytes:
    if sys.byteorder == "big":
        items = items[:]
        items.byteswap()
    return items.tobytes()


def _from_little(data: bytes) -> array[int]:
    items = array("I")
    items.frombytes(data)
    if sys.byteorder == "big":
        items.byteswap()
    return items
