"""Creates the entries of the vector index for the chunks of a book, and reads chunks from entries."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attrs import field, frozen

from citekit.application.library.answers import Chunk, Passage
from citekit.domain.address import Address
from citekit.domain.digest import Digest
from citekit.domain.library.ledger import index_keys
from citekit.domain.library.lexical import document_words
from citekit.domain.library.located_text import LocatedText
from citekit.domain.library.vectors import EmbedderIdentity, Entry, Vector
from citekit.domain.quotes.superscripts import CUT

INGEST_VERSION = "3.0"
"""The version of the payload schema. The original Alexandria programs used version 2.0."""

TOKENS_PER_WORD = 1.3
"""The estimated number of tokens per word."""

NAMESPACE = uuid.UUID("5b0c2d58-7d0c-5d0c-9c1f-0f6a7e9d9d10")
"""The namespace of the entry IDs, which are version 5 UUIDs (RFC 9562)."""


@frozen(kw_only=True)
class BookWords:
    """The metadata of a book for its index entries. `copy` comes from `LedgerEntry.copy`.

    Entries of chunks get all of it, and those of passages get `keys`.
    """

    digest: Digest
    copy: int = 0
    resource_id: str
    title: str
    authors: tuple[str, ...] = field(converter=tuple[str, ...])
    language: str
    tags: tuple[str, ...] = field(default=(), converter=tuple[str, ...])
    book_id: int | None = None
    source: str = "file"
    ingested_at: str = ""

    @property
    def index_key(self) -> str:
        """The name of the book in the index."""
        return index_keys(self.digest)[self.copy]

    @property
    def keys(self) -> dict[str, Any]:
        """The payload fields that a search can filter by."""
        keys: dict[str, Any] = {
            "digest": self.index_key,
            "authors": list(self.authors),
            "language": self.language,
            "tags": list(self.tags),
        }
        return keys if self.book_id is None else {**keys, "book_id": self.book_id}


@frozen(kw_only=True)
class LocatedChunk:
    """A chunk of a book.

    Ranges are (start, end) character offsets in the text of the book. `chapter` is None if the book was ingested
    without chapters. `sequence` is the 0-based position of the chunk in its chapter, and `siblings` is the number of
    chunks there.
    """

    start: int
    end: int
    words: int
    passages: tuple[tuple[int, int], ...] = field(converter=tuple[tuple[int, int], ...])
    node_id: str
    section: str
    chapter: tuple[int, int] | None
    chapter_index: int
    sequence: int
    siblings: int


def entry_id(index_key: str, kind: str, start: int, end: int) -> str:
    """Return the ID of an index entry for a character range of a file.

    `index_key` is the name of the book in the index, and `kind` is "chunk", "passage", or "chapter".
    """
    return str(uuid.uuid5(NAMESPACE, f"{index_key}:{kind}:{start}-{end}"))


def chunk_entries(
    book: BookWords, extracted_text: LocatedText, placed: Sequence[LocatedChunk], model: EmbedderIdentity
) -> Iterator[Entry]:
    """Yield an index entry for every chunk, for searching by words, with its text, its location, and metadata."""
    common = {**book.keys, **_common(book, model)}
    for chunk in placed:
        identifier = entry_id(book.index_key, "chunk", chunk.start, chunk.end)
        start, text = _stripped(extracted_text, chunk.start, chunk.end)
        here = {
            "kind": "chunk",
            "text": text,
            "start": start,
            "end": start + len(text),
            "passages": [_passage(book, extracted_text, *span) for span in chunk.passages],
        }
        payload = {**common, **_chunk_facts(book, extracted_text, chunk), **here}
        yield Entry(identifier, identifier, words=document_words(f"{chunk.section}\n{text}"), payload=payload)


def passage_entries(book: BookWords, placed: Sequence[LocatedChunk], vectors: Sequence[Vector]) -> Iterator[Entry]:
    """Yield an index entry for every passage of the chunks, for searching by meaning, with its vector from `vectors`."""
    remaining = iter(vectors)
    for chunk in placed:
        group = entry_id(book.index_key, "chunk", chunk.start, chunk.end)
        for (start, end), vector in zip(
            chunk.passages, remaining, strict=False
        ):  # the rest belong to the following chunks
            payload = {**book.keys, "kind": "passage"}
            yield Entry(entry_id(book.index_key, "passage", start, end), group, vector=vector, payload=payload)


def chunk_of(entry: Entry) -> Chunk:
    """Return the chunk that an entry of the kind "chunk" stores.

    In entries of other programs or versions, all fields but the address may be missing.
    """
    payload = entry.payload

    def text_of(name: str) -> str:
        return str(payload.get(name) or "")

    text = "" if entry.foreign else text_of("text")
    parent = payload.get("parent")
    return Chunk(
        id=entry.id,
        text=text,
        address=str(payload["address"]),
        digest=text_of("digest").partition(".")[0],
        index_key=text_of("digest"),
        resource_id=text_of("resource_id"),
        node_id=text_of("node_id"),
        book_title=text_of("book_title"),
        author=text_of("author"),
        language=text_of("language"),
        section=text_of("section_name"),
        level=text_of("chunk_level"),
        sequence=int(payload.get("sequence_index") or 0),
        parent=parent if isinstance(parent, str) else None,
        parent_address=text_of("parent_address"),
        passages=() if entry.foreign else _passages_of(text, payload),
        foreign=entry.foreign,
    )


def _passages_of(text: str, payload: Mapping[str, Any]) -> Iterator[Passage]:
    offset = int(payload.get("start") or 0)
    for stored in payload.get("passages") or ():
        start, end = (max(0, int(stored[name]) - offset) for name in ("start", "end"))
        yield Passage(str(stored["id"]), text[start:end], str(stored["address"]))


def _passage(book: BookWords, extracted_text: LocatedText, start: int, end: int) -> dict[str, Any]:
    """Return the description of a passage in the payload of its chunk."""
    first, text = _stripped(extracted_text, start, end)
    identifier = entry_id(book.index_key, "passage", start, end)
    return {
        "id": identifier,
        "start": first,
        "end": first + len(text),
        "address": _address(book, extracted_text, start, end),
    }


def _common(book: BookWords, model: EmbedderIdentity) -> Mapping[str, Any]:
    return {
        "resource_id": book.resource_id,
        "source": book.source,
        "book_title": book.title,
        "author": " & ".join(book.authors),
        "source_id": book.digest.hex if book.book_id is None else str(book.book_id),
        "ingested_at": book.ingested_at,
        "strategy": "universal-semantic",
        "embedding_model_id": model.name,
        "embedding_model_name": str(model),
        "embedding_dimension": model.dimensions,
        "ingest_version": INGEST_VERSION,
    }


def _chunk_facts(book: BookWords, extracted_text: LocatedText, chunk: LocatedChunk) -> Mapping[str, Any]:
    facts = {
        "address": _address(book, extracted_text, chunk.start, chunk.end),
        "node_id": chunk.node_id,
        "section_name": chunk.section,
        "section_index": chunk.chapter_index,
        "chunk_level": "flat" if chunk.chapter is None else "child",
        "sequence_index": chunk.sequence,
        "sibling_count": chunk.siblings,
        "words": chunk.words,
        "token_count": int(chunk.words * TOKENS_PER_WORD),
    }
    if chunk.chapter is None:
        return facts
    return {
        **facts,
        "parent": entry_id(book.index_key, "chapter", *chunk.chapter),
        "parent_address": _address(book, extracted_text, *chunk.chapter),
    }


def _stripped(extracted_text: LocatedText, start: int, end: int) -> tuple[int, str]:
    """Return the offset and the text of the range between two offsets, without surrounding white space.

    Each `CUT` becomes a space.
    """
    text = extracted_text.text[start:end].replace(CUT, " ")
    return start + len(text) - len(text.lstrip()), text.strip()


def _address(book: BookWords, extracted_text: LocatedText, start: int, end: int) -> str:
    return str(Address(book.resource_id, extracted_text.locate(start, end)))
