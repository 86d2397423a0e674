"""Evidence, the keys that identify it, and the receipts that prove its origin."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from attrs import field, frozen

from citekit.domain.address import Address
from citekit.domain.digest import Digest
from citekit.domain.locations import Location
from citekit.domain.node import Node


def _sentences(notes: Iterable[str]) -> tuple[str, ...]:
    return tuple(notes)


class Form(StrEnum):
    """The format of evidence. NATIVE is the default for each location: mini-PDF, clip, crop, lines, or chapter.

    SOURCE is the exact bytes of lines of a text, even if a browser would execute them (HTML, SVG).
    """

    NATIVE = "native"
    PDF = "pdf"
    PNG = "png"
    TEXT = "text"
    HTML = "html"
    FRAME = "frame"
    SOURCE = "source"


@frozen
class Options:
    """How evidence is extracted. `accurate` requests exact ends of a clip, which requires some re-encoding."""

    form: Form = Form.NATIVE
    accurate: bool = False


@frozen
class ExtractorIdentity:
    """Identifies an extractor. `version` changes whenever the same request would produce different bytes."""

    name: str
    version: str


@frozen
class EvidenceKey:
    """Identifies a piece of evidence before it is extracted. The same key always means the same bytes.

    The key is the digest of (source digest, canonical location, extractor name and version, options). It does not
    depend on file names or node IDs.
    """

    digest: Digest

    @classmethod
    def of(cls, source: Digest, location: Location, extractor: ExtractorIdentity, options: Options) -> EvidenceKey:
        """Return the key of the part `location` of `source`, extracted by `extractor` with `options`."""
        fragment = str(Address("x", location))
        parts = [source.hex, fragment, extractor.name, extractor.version, options.form.value, options.accurate]
        return cls(Digest(hashlib.sha256(json.dumps(parts).encode()).hexdigest()))

    def __str__(self) -> str:
        return self.digest.hex


@frozen(kw_only=True)
class Extraction:
    """The result of an extractor.

    `suffix` includes its dot (`.pdf`), and `media_type` is the IANA name. Both are empty if the part has the format of
    the source. `extent` is the part that the evidence shows, in the coordinates of the source. `bytes_from` is the
    second at which the data of a clip begins if the clip hides its first frames. `notes` are sentences about every
    deviation from the request.
    """

    suffix: str
    media_type: str
    extent: Location
    bytes_from: float | None = None
    notes: tuple[str, ...] = field(default=(), converter=_sentences)


@frozen(kw_only=True)
class StoredEvidence:
    """Evidence in the store. The file at `path` has the digest `digest` and `size` bytes. Do not write to it."""

    key: EvidenceKey
    path: Path
    digest: Digest
    size: int
    extraction: Extraction
    created: datetime
    made_now: bool
    """Whether this call extracted the evidence; False if it was already stored."""


@frozen(kw_only=True)
class Receipt:
    """Records that the evidence is a given part of a given source, extracted by a given extractor."""

    key: EvidenceKey
    source_digest: Digest
    source_path: str
    source_size: int
    resource_id: str
    location: Location
    extractor: ExtractorIdentity
    options: Options
    evidence_digest: Digest
    evidence_size: int
    media_type: str
    extent: Location
    bytes_from: float | None = None
    notes: tuple[str, ...] = field(default=(), converter=_sentences)
    created: datetime

    @property
    def address(self) -> Address:
        """The address of the part."""
        return Address(self.resource_id, self.location)


@frozen(kw_only=True)
class Evidence:
    """The result of a resolve. `output_path` is absolute, or None in a virtual answer.

    `stale` is a sentence that says how the source changed, or None if it is still the file that was mapped. `unchecked`
    says why the location could not be checked against the file, or is None if it was checked or the file has changed.
    `moved` says where the source was found, or is None if it is at the path in the map.
    """

    resource_id: str
    node: Node | None
    location: Location
    output_path: Path | None = None
    receipt: Receipt | None = None
    stale: str | None = None
    unchecked: str | None = None
    moved: str | None = None
    made_now: bool = False

    @property
    def address(self) -> Address:
        """The address of the part."""
        return Address(self.resource_id, self.location)
