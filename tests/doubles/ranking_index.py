"""A ranking index in memory, for tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from attrs import define, field

from citekit.adapters.search.ranking_index.stored_form import StoredDocument, stored
from citekit.domain.library.lexical import term_number
from citekit.domain.ports.ranking_index import DocumentFacts, PassageVectors
from citekit.domain.ranking.document_index import DocumentIndex
from citekit.domain.ranking.documents import DocumentMatches


@define
class MemoryRankingIndex:
    """A `RankingIndex` in memory."""

    _known: dict[str, tuple[str, StoredDocument]] = field(factory=dict, init=False)
    _listed: Mapping[str, DocumentFacts] = field(factory=dict, init=False)

    def documents(self) -> Mapping[str, DocumentFacts]:
        """See `RankingIndex.documents`."""
        now = {name: DocumentFacts(version, len(each.index)) for name, (version, each) in self._known.items()}
        if now != self._listed:
            self._listed = now
        return self._listed

    def put(
        self, resource_id: str, version: str, index: DocumentIndex, names: Iterable[str], passages: PassageVectors
    ) -> bool:
        """See `RankingIndex.put`."""
        self._known[resource_id] = version, stored(index, names, passages)
        return True

    def drop(self, resource_id: str) -> None:
        """See `RankingIndex.drop`."""
        self._known.pop(resource_id, None)

    def get(self, resource_id: str, version: str) -> StoredDocument | None:
        """See `RankingIndex.get`."""
        known, document = self._known.get(resource_id, ("", None))
        return document if known == version else None

    def find(self, terms: Sequence[str]) -> Mapping[str, Sequence[DocumentMatches]]:
        """See `RankingIndex.find`."""
        found: dict[str, list[DocumentMatches]] = {}
        wanted = {term_number(term): term for term in terms}
        for name, (_, document) in self._known.items():
            for number, pages, count in document.terms():
                if number in wanted:
                    found.setdefault(wanted[number], []).append(DocumentMatches(pages, count, [name]))
        return found
