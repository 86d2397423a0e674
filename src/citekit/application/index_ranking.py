"""Indexes a mapped file for the ranking of its pages, unless it is already indexed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath
from shlex import quote

from attrs import frozen

from citekit.application.index_text import IndexText
from citekit.domain.errors import RequestRefused
from citekit.domain.library.extracted_text import ExtractedText, UnitKind
from citekit.domain.locations import Chapter
from citekit.domain.node import Node
from citekit.domain.ports.embedder import Embedder
from citekit.domain.ports.ranking_index import IndexedDocument, PassageVectors, RankingIndex
from citekit.domain.ports.text_index import TextIndex
from citekit.domain.progress import Progress, silent
from citekit.domain.ranking.document_index import PageText, index_document
from citekit.domain.ranking.documents import name_terms
from citekit.domain.resource_map import ResourceMap
from citekit.domain.text_search.blocks import TextBlock
from citekit.domain.text_search.headings import Headings

VERSION = 3
"""Changes when the same text may result in another index."""


def form_with(embedder: Embedder | None) -> str:
    """Return a text that identifies the index format and the embedder (`words` if there is none)."""
    return f"{VERSION} {embedder.identity if embedder else 'words'}"


@frozen
class ReadyDocument:
    """A document that is ready for ranking.

    `stale` is the reason why the file is not the one that was mapped, or None.
    """

    resource_map: ResourceMap
    text_version: str
    document: IndexedDocument
    stale: str | None


@frozen
class IndexRanking:
    """Makes sure that a resource is in the ranking index. Without an `embedder`, pages are ranked by words alone."""

    indexed: IndexText
    texts: TextIndex
    ranking: RankingIndex
    embedder: Embedder | None

    @property
    def form(self) -> str:
        """The suffix of the version of every resource whose index has the current format and embedder."""
        return f" ranking {form_with(self.embedder)}"

    def unless_known(
        self, resource_map: ResourceMap, roots: Sequence[Path] = (), progress: Progress = silent
    ) -> ReadyDocument:
        """Index a resource unless it is already indexed. See `__call__`."""
        known = self.texts.versions([resource_map.resource_id]).get(resource_map.resource_id)
        return self(resource_map, known, roots, progress)

    def __call__(
        self, resource_map: ResourceMap, known: str | None, roots: Sequence[Path] = (), progress: Progress = silent
    ) -> ReadyDocument:
        """Index a resource unless it is already indexed, and return its data for ranking.

        `known` is the version of its text in the text index, or None.

        Raise the errors of reading its text, and `RequestRefused` if the index cannot be written.
        """
        name = resource_map.resource_id
        text_version, stale = self.indexed(resource_map, known, roots, progress)
        version = text_version + self.form
        document = self.ranking.get(name, version)
        if document is None:
            self._put(resource_map, text_version, version)
            document = self.ranking.get(name, version)
        if document is None:
            raise RequestRefused(
                "The ranking index cannot be written. Check the free space and the permissions of the home, or map the "
                f"file in another home (citekit ingest {quote(resource_map.source_path)} --home DIR)."
            )
        return ReadyDocument(resource_map, text_version, document, stale)

    def _put(self, resource_map: ResourceMap, text_version: str, version: str) -> None:
        name = resource_map.resource_id
        size = self.texts.size(name, text_version)
        found = self.texts.blocks(name, text_version, range(size)).values()
        blocks = [block for block in found if not block.hidden]
        headings = Headings(node for node in resource_map.outline.walk() if not _is_part_of_chapter(node))
        pages = [PageText(block.text, _number(block), headings.titles_on(block)) for block in blocks]
        names = (resource_map.title, PurePath(resource_map.source_path).stem)
        self.ranking.put(name, version, index_document(pages), name_terms(names), self._vectors(pages))

    def _vectors(self, pages: Sequence[PageText]) -> PassageVectors:
        if self.embedder is None:
            return PassageVectors()
        owners, passages = [], []
        for at, page in enumerate(pages):
            for passage in _passages(page.text, self.embedder.window):
                owners.append(at)
                passages.append(passage)
        return PassageVectors(self.embedder.documents(passages) if passages else (), owners)


def _passages(text: str, window: int) -> Iterator[str]:
    """Yield passages of at most `window` words.

    Words without letters are omitted, because numbers carry little meaning.
    """
    words = [word for word in text.split() if any(map(str.isalpha, word))]
    for start in range(0, len(words), window):
        yield " ".join(words[start : start + window])


def _number(block: TextBlock) -> int:
    located = block.located
    if isinstance(located, ExtractedText) and located.kind is UnitKind.PAGE and located.units:
        return located.units.numbers[0]
    return 0


def _is_part_of_chapter(node: Node) -> bool:
    """Return whether a node is only a part of a chapter. It is then unknown in which block the node begins."""
    return isinstance(node.location, Chapter) and node.location.chars is not None
