"""Evidence for tests of the store: a key from a name, and what makes it."""

from __future__ import annotations

from pathlib import Path

from citekit.domain.digest import Digest
from citekit.domain.evidence import EvidenceKey, Extraction
from citekit.domain.locations import Pages
from citekit.domain.ports.evidence_store import Make

EXTRACTION = Extraction(suffix=".pdf", media_type="application/pdf", extent=Pages.of([1]))


def key_of(name: str) -> EvidenceKey:
    return EvidenceKey(Digest.of_bytes(name.encode()))


def writing(data: bytes) -> Make:
    def make(target: Path) -> Extraction:
        target.write_bytes(data)
        return EXTRACTION

    return make
