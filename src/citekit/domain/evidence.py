"""What is cut out of a source, and what proves it."""

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
    """What evidence is wanted as. NATIVE is the usual one: mini-PDF, clip, crop, lines, chapter.

    SOURCE is the exact bytes of lines of a text, also of one that a browser would run (HTML, SVG).
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
    """How evidence is wanted: `accurate` asks for exact ends of a clip, at the price of some re-encoding."""

    form: Form = Form.NATIVE
    accurate: bool = False


@frozen
class ExtractorIdentity:
    """`version` changes whenever the same request would give other bytes."""

    name: str
    version: str


@frozen
class EvidenceKey:
    """Names one piece of evidence before it is made: the same key always means the same bytes.

    The digest of (source digest, canonical location, extractor name and version, options); not of any file or node name.
    """

    digest: Digest

    @classmethod
    def of(cls, source: Digest, location: Location, extractor: ExtractorIdentity, options: Options) -> EvidenceKey:
        """The key of that part of that source, cut that way."""
        fragment = str(Address("x", location))
        parts = [source.hex, fragment, extractor.name, extractor.version, options.form.value, options.accurate]
        return cls(Digest(hashlib.sha256(json.dumps(parts).encode()).hexdigest()))

    def __str__(self) -> str:
        return self.digest.hex


@frozen(kw_only=True)
class Extraction:
    """What an extractor made.

    `suffix` with its dot (`.pdf`), `media_type` its IANA name; both empty for a part that is still of the source's own
    format. `extent` is what a reader of the evidence is shown, in the coordinates of the source; `bytes_from` the second
    from which bytes are really in a clip that hides its beginning. `notes` are sentences about anything that is not
    exactly as asked.
    """

    suffix: str
    media_type: str
    extent: Location
    bytes_from: float | None = None
    notes: tuple[str, ...] = field(default=(), converter=_sentences)


@frozen(kw_only=True)
class StoredEvidence:
    """Evidence in the store: the object at `path` has the digest `digest` and `size` bytes. Do not write to it."""

    key: EvidenceKey
    path: Path
    digest: Digest
    size: int
    extraction: Extraction
    created: datetime
    made_now: bool
    """Whether this call made it; False where it was found."""


@frozen(kw_only=True)
class Receipt:
    """What a piece of evidence claims: these bytes are that part of that source, cut by that extractor."""

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
    """The answer to a resolve. `output_path` is absolute, and None in a virtual answer.

    `stale` is None where the source still is what was mapped, else a sentence that says what became of it. `unchecked` is
    None where the file has such a place, or has changed; else it says why nobody could look whether it has. `moved` is None
    where the source is where the map says, else a sentence that says where it was found.
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
