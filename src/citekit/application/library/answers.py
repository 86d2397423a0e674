"""Defines questions to the library and their answers."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from attrs import field, frozen

from citekit.domain.address import Address, parse_address
from citekit.domain.library.vectors import Where

LEAST_HITS = 2
"""The number of hits that are returned even if their scores are below the threshold."""


class ContextMode(StrEnum):
    """The context of the hits: none, the chapter of each hit, or also the neighboring chunks."""

    PRECISE = "precise"
    CONTEXTUAL = "contextual"
    COMPREHENSIVE = "comprehensive"

    @classmethod
    def of(cls, text: str) -> ContextMode:
        """Return the mode with that name; `PRECISE` for any other text."""
        return cls(text) if text in set(cls) else cls.PRECISE


@frozen(kw_only=True)
class AskRequest:
    """A question. At most `limit` hits with a score of at least `threshold` (0 to 1) are returned.

    If fewer than `LEAST_HITS` hits reach the threshold, the best of the others are also returned, marked as weak.
    """

    query: str
    collection: str
    limit: int = 5
    threshold: float = 0.5
    mode: ContextMode = ContextMode.PRECISE
    where: Where = field(factory=Where)


@frozen
class Passage:
    """A passage of a chunk. `id` is the ID of its entry in the index."""

    id: str
    text: str
    address: str


@frozen(kw_only=True)
class Chunk:
    """A chunk from the index, with the metadata of its book that the index stores.

    `digest` is the hexadecimal digest of the file, and `index_key` the name of its book in the index. `sequence` is the
    position of the chunk in its chapter, from 0, and `level` is "child", or "flat" in a book without chapters. `parent`
    is the ID of the chapter, or None.

    A `foreign` chunk was stored by another home or may have been changed. It has no text and no passages, because the
    stored text may not be in the book.
    """

    id: str
    text: str
    address: str
    digest: str = ""
    index_key: str = ""
    resource_id: str = ""
    node_id: str = ""
    book_title: str = ""
    author: str = ""
    language: str = ""
    section: str = ""
    level: str = ""
    sequence: int = 0
    parent: str | None = None
    parent_address: str = ""
    passages: Sequence[Passage] = field(default=(), converter=tuple[Passage, ...], repr=False)
    foreign: bool = False


@frozen(kw_only=True)
class Parent:
    """The chapter of a hit, with its first chunk. If it is `truncated`, `full_text` is only the text around the best
    hit.
    """

    id: str
    full_text: str
    truncated: bool
    first: Chunk = field(repr=False)


@frozen(kw_only=True)
class Hit:
    """A chunk that answers the question, and its best passage with its own address.

    `score` is from 0 to 1. `dense` is the cosine of the question and the best passage (search by meaning), and
    `lexical` the share of the question's words in the chunk (search by words); each is None if that search did not find
    the chunk. `stale` means that the current map is of other bytes than those that were ingested; `weak`, that the
    score is below the threshold. `around` is the chapter text around the chunk, if requested, and `siblings` are its
    neighbors in the mode `COMPREHENSIVE`. `copies` are the addresses of lower-ranked chunks whose text is contained in
    this one.
    """

    score: float
    chunk: Chunk
    dense: float | None
    lexical: float | None
    passage: str | None = None
    passage_address: str | None = None
    stale: bool = False
    weak: bool = False
    around: str | None = None
    siblings: Sequence[Chunk] = field(default=(), converter=tuple[Chunk, ...])
    copies: Sequence[str] = field(default=(), converter=tuple[str, ...])

    @property
    def parent_id(self) -> str | None:
        """The ID of the chapter; None if the book was ingested without chapters."""
        return self.chunk.parent

    @property
    def address(self) -> Address:
        """The address of the chunk."""
        return parse_address(self.chunk.address)


@frozen(kw_only=True)
class Answers:
    """The hits, best first, and their chapters."""

    request: AskRequest
    hits: Sequence[Hit] = field(converter=tuple[Hit, ...])
    parents: Sequence[Parent] = field(default=(), converter=tuple[Parent, ...])
