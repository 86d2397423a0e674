"""Receipts and extractions that are exactly as we write them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from citekit.domain.digest import Digest
from citekit.domain.evidence import EvidenceKey, Extraction, ExtractorIdentity, Form, Options, Receipt
from citekit.wire.moments import read_moment
from citekit.wire.well_formed import NOT_WELL_FORMED, UnusualError, number, read_location, text

_FORMS = {form.value: form for form in Form}


def read_receipt(data: Mapping[str, Any]) -> Receipt | None:
    """The receipt that `data` means, or None where anything in it is unusual or wrong."""
    try:
        extractor, options = data["extractor"], data["options"]
        return Receipt(
            key=EvidenceKey(Digest(text(data["key"]))),
            source_digest=Digest(text(data["source_digest"])),
            source_path=text(data["source_path"]),
            source_size=_whole(data["source_size"]),
            resource_id=text(data["resource_id"]),
            location=read_location(data["location"]),
            extractor=ExtractorIdentity(text(extractor["name"]), text(extractor["version"])),
            options=Options(_FORMS[options["form"]], _truth(options["accurate"])),
            evidence_digest=Digest(text(data["evidence_digest"])),
            evidence_size=_whole(data["evidence_size"]),
            media_type=text(data["media_type"]),
            extent=read_location(data["extent"]),
            bytes_from=_seconds(data),
            notes=_notes(data),
            created=read_moment(text(data["created"])),
        )
    except NOT_WELL_FORMED:
        return None


def read_extraction(data: Any) -> Extraction | None:
    """The extraction that `data` means, or None where anything in it is unusual or wrong."""
    try:
        return Extraction(
            suffix=text(data["suffix"]),
            media_type=text(data["media_type"]),
            extent=read_location(data["extent"]),
            bytes_from=_seconds(data),
            notes=_notes(data),
        )
    except NOT_WELL_FORMED:
        return None


def _seconds(data: Mapping[str, Any]) -> float | None:
    if "bytes_from" not in data:
        return None
    seconds = float(number(data["bytes_from"])) + 0.0
    if not math.isfinite(seconds):
        raise UnusualError
    return seconds


def _notes(data: Mapping[str, Any]) -> tuple[str, ...]:
    notes = data.get("notes", [])
    if type(notes) is not list:
        raise UnusualError
    return tuple(text(note) for note in notes)


def _whole(value: Any) -> int:
    if type(value) is not int:
        raise UnusualError
    return value


def _truth(value: Any) -> bool:
    if type(value) is not bool:
        raise UnusualError
    return value
