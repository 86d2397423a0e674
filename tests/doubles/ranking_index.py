"""A ranking index in memory, for tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from attrs import define, field

from citekit.adapters.search.ranking_index.stored_form import StoredDocument, stored
from citekit.domain.library.lexical import term_number
from citekit.domain.ports.ranking_index import PassageVectors
from citekit.domain.ranking.document_index import DocumentIndex
from citekit.domain.ranking.documents import DocumentMatch


@define
class MemoryRankingIndex:
    """A `RankingIndex` in memory."""

    _known: dict[str, tuple[str, StoredDocument]] = field(factory=dict, init=False)

    def versions(self, resources: Sequence[str] | None = None) -> Mapping[str, str]:
        """See `RankingIndex.versions`."""
        names = self._known if resources is None else [name for name in resources if name in self._known]
        return {name: self._known[name][0] for name in names}

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

    def sizes(self) -> Mapping[str, int]:
        """See `RankingIndex.sizes`."""
        return {name: len(document.index) for name, (_, document) in self._known.items()}

    def find(self, terms: Sequence[str]) -> Mapping[str, Sequence[DocumentMatch]]:
        """See `RankingIndex.find`."""
        found: dict[str, list[DocumentMatch]] = {}
        wanted = {term_number(term): term for term in terms}
        for name, (_, document) in self._known.items():
            for number, pages, count in document.terms():
                if number in wanted:
                    found.setdefault(wanted[number], []).append(DocumentMatch(name, pages, count))
        return found
