"""Defines evidence, the keys that identify it, and the receipts that prove its origin."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from attrs import astuple, field, frozen

from citekit.domain.address import Address
from citekit.domain.digest import Digest
from citekit.domain.locations import Location
from citekit.domain.node import Node


def _texts(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(texts)


class Form(StrEnum):
    """The form in which a part of a source is extracted.

    NATIVE is the default form of each location, such as a mini-PDF, a clip, or lines. SOURCE is the exact bytes of
    lines, even in a format that a browser would execute (HTML, SVG). TABLE is the rows of a table with the header of
    the table, as text. For a recording, TEXT, VTT (WebVTT), and SRT (SubRip) contain what is said in it.
    """

    NATIVE = "native"
    PDF = "pdf"
    PNG = "png"
    TEXT = "text"
    HTML = "html"
    FRAME = "frame"
    SOURCE = "source"
    TABLE = "table"
    VTT = "vtt"
    SRT = "srt"


@frozen
class SectionTitles:
    """The titles between which the text of a section lies on its pages.

    `title` is the title of the section, and `following` are the titles of the later sections that begin on its last
    page, in reading order. If `is_shared` is true, an earlier section has text on the first page.
    """

    title: str
    following: tuple[str, ...] = field(default=(), converter=_texts)
    is_shared: bool = False


@frozen
class Options:
    """The options of an extraction.

    `accurate` requests that a clip start and end exactly at the requested times, which requires re-encoding a part of
    it. `section` limits the text of PDF pages to that section.
    """

    form: Form = Form.NATIVE
    accurate: bool = False
    section: SectionTitles | None = None


@frozen
class ExtractorIdentity:
    """Identifies an extractor. `version` must change if the same request produces different bytes."""

    name: str
    version: str


@frozen
class EvidenceKey:
    """Identifies evidence before it is extracted.

    The key is a digest of the source digest, the canonical location, the extractor, and the options. It does not depend
    on file names or node IDs.
    """

    digest: Digest

    @classmethod
    def of(cls, source: Digest, location: Location, extractor: ExtractorIdentity, options: Options) -> EvidenceKey:
        """Return the key of the evidence that `extractor` extracts from `location` in `source` with `options`."""
        fragment = str(Address("x", location))
        parts: list[object] = [
            source.hex,
            fragment,
            extractor.name,
            extractor.version,
            options.form.value,
            options.accurate,
        ]
        if options.section is not None:
            parts += astuple(options.section)
        return cls(Digest(hashlib.sha256(json.dumps(parts).encode()).hexdigest()))

    def __str__(self) -> str:
        return self.digest.hex


@frozen(kw_only=True)
class Extraction:
    """Describes the evidence that an extractor produced.

    `suffix` includes its dot (`.pdf`), and `media_type` is the IANA name. Both are empty if the evidence has the format
    of the source. `extent` is the location in the source that the evidence shows. `bytes_from` is the time in seconds
    at which the data of a clip begins if the clip hides its first frames, else None. `notes` are sentences about the
    evidence, such as deviations from the request.
    """

    suffix: str
    media_type: str
    extent: Location
    bytes_from: float | None = None
    notes: tuple[str, ...] = field(default=(), converter=_texts)


@frozen(kw_only=True)
class StoredEvidence:
    """Evidence in the store. The file at `path` must not be written to."""

    key: EvidenceKey
    path: Path
    digest: Digest
    size: int
    extraction: Extraction
    created: datetime
    made_now: bool
    """False if the evidence was already stored."""


@frozen(kw_only=True)
class Receipt:
    """Binds evidence to its source, its location in the source, and its extractor."""

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
    notes: tuple[str, ...] = field(default=(), converter=_texts)
    created: datetime

    @property
    def address(self) -> Address:
        """The address from which the evidence was extracted. `extent` is the location that the evidence shows."""
        return Address(self.resource_id, self.location)


@frozen(kw_only=True)
class Evidence:
    """The result of resolving a node or an address. `output_path` is absolute, or None if nothing was extracted.

    These are messages, or None: `stale` says how the source has changed since it was mapped, `unchecked` why the
    location of an unchanged source could not be checked, and `moved` where the source was found if it is not at the
    path in the map. `made_now` is false if the evidence was already stored.
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
        """The address of the part of the source that was resolved."""
        return Address(self.resource_id, self.location)
