"""Defines the ports (interfaces) whose adapters a caller can replace, by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypedDict

from citekit.domain.suggestions import nearest_names

if TYPE_CHECKING:
    from citekit.domain.ports.clock import Clock
    from citekit.domain.ports.embedder import Embedder
    from citekit.domain.ports.evidence_store import EvidenceStore
    from citekit.domain.ports.extractor import Extractor
    from citekit.domain.ports.ledger import Ledger
    from citekit.domain.ports.library import Library
    from citekit.domain.ports.locks import Locks
    from citekit.domain.ports.map_store import MapStore
    from citekit.domain.ports.mapper import Mapper
    from citekit.domain.ports.measurer import Measurer
    from citekit.domain.ports.media_probe import MediaProbe
    from citekit.domain.ports.node_index import NodeIndex
    from citekit.domain.ports.outputs import Outputs
    from citekit.domain.ports.personas import Personas
    from citekit.domain.ports.quotable_texts import QuotableTexts
    from citekit.domain.ports.ranking_index import RankingIndex
    from citekit.domain.ports.reader import Reader
    from citekit.domain.ports.reranker import Reranker
    from citekit.domain.ports.screen_reader import ScreenReader
    from citekit.domain.ports.sentence_splitter import SentenceSplitter
    from citekit.domain.ports.sources import Sources
    from citekit.domain.ports.text_index import TextIndex
    from citekit.domain.ports.text_reader import TextReader
    from citekit.domain.ports.transcriber import Transcriber
    from citekit.domain.ports.vector_index import VectorIndex


class Ports(TypedDict, total=False):
    """The adapters that a caller supplies, by port name. The container creates the missing ones according to the
    settings.
    """

    maps: MapStore
    evidence: EvidenceStore
    outputs: Outputs
    sources: Sources
    locks: Locks
    clock: Clock
    reader: Reader
    probe: MediaProbe
    mapper: Mapper
    measurer: Measurer
    extractors: Sequence[Extractor]
    nodes: NodeIndex
    text: TextReader
    text_index: TextIndex
    ranking_index: RankingIndex
    quotable: QuotableTexts
    transcriber: Transcriber
    screen_reader: ScreenReader
    library: Library
    index: VectorIndex
    ledger: Ledger
    embedder: Embedder
    reranker: Reranker
    similarity: Embedder
    splitter: SentenceSplitter
    personas: Personas


def check_names(ports: Ports) -> Ports:
    """Return `ports` unchanged. Raise `TypeError` with a suggestion if a key is not the name of a port."""
    known = Ports.__annotations__
    for name in ports:
        if name not in known:
            close = nearest_names(name, list(known))
            hint = f" Did you mean '{close[0]}'?" if close else f" The ports are {', '.join(known)}."
            raise TypeError(f"There is no port '{name}'.{hint}")
    return ports
