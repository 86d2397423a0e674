"""Converts receipts and stored extractions to and from plain data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeVar

from citekit.domain.errors import FaultyAnswer
from citekit.domain.evidence import Extraction, Options, Receipt
from citekit.wire import locations
from citekit.wire.fast_path import read_extraction, read_receipt
from citekit.wire.timestamps import format_timestamp

RECEIPT_VERSION = 1
"""The version of the stored form of a receipt."""

_T = TypeVar("_T", Receipt, Extraction)


def to_plain(receipt: Receipt) -> dict[str, Any]:
    """Return a receipt as plain data, including the address of its location."""
    return {
        "receipt_version": RECEIPT_VERSION,
        "address": str(receipt.address),
        "key": str(receipt.key),
        "source_digest": receipt.source_digest.hex,
        "source_path": receipt.source_path,
        "source_size": receipt.source_size,
        "resource_id": receipt.resource_id,
        "location": locations.to_plain(receipt.location),
        "extractor": {"name": receipt.extractor.name, "version": receipt.extractor.version},
        "options": options_to_plain(receipt.options),
        "evidence_digest": receipt.evidence_digest.hex,
        "evidence_size": receipt.evidence_size,
        "media_type": receipt.media_type,
        "extent": locations.to_plain(receipt.extent),
        **_optional(receipt),
        "created": format_timestamp(receipt.created),
    }


def options_to_plain(options: Options) -> dict[str, Any]:
    """Return extraction options as plain data."""
    plain = {"form": options.form.value, "accurate": options.accurate}
    section = options.section
    if section is None:
        return plain
    titles = {"title": section.title, "following": list(section.following), "is_shared": section.is_shared}
    return {**plain, "section": titles}


def from_plain(data: object, where: str) -> Receipt:
    """Convert plain data to a receipt. `where` describes the data in messages.

    Raise `FaultyAnswer` if it is not valid or the address does not match the location.
    """
    receipt, address = claimed(data, where)
    if address is not None and address != str(receipt.address):
        raise FaultyAnswer(
            where, [f"address: must be {receipt.address}, the address of the location, not {shown(address)}"]
        )
    return receipt


def claimed(data: object, where: str) -> tuple[Receipt, str | None]:
    """Convert plain data to a receipt, and return it with the address in the data, or None.

    The address may not be that of the location. Raise `FaultyAnswer` if the data is not a valid receipt.
    """
    if not isinstance(data, Mapping):
        raise FaultyAnswer(where, ["$: a receipt must be a JSON object"])
    if data.get("receipt_version") != RECEIPT_VERSION:
        raise FaultyAnswer(
            where, [f"receipt_version: must be {RECEIPT_VERSION}, not {shown(data.get('receipt_version'))}"]
        )
    address = data.get("address")
    return read_receipt(data) or leniently(data, Receipt, where), None if address is None else str(address)


def from_json(text: str, where: str) -> Receipt:
    """Parse a JSON text as a receipt. Raise `FaultyAnswer` if it is not valid. `where` describes the text in messages."""
    try:
        return from_plain(json.loads(text), where)
    except (ValueError, RecursionError) as wrong:
        raise FaultyAnswer(where, [f"$: the text is not valid JSON: {wrong}"]) from wrong


def extraction_to_plain(extraction: Extraction) -> dict[str, Any]:
    """Return an extraction as plain data, without optional fields that have no value."""
    return {
        "suffix": extraction.suffix,
        "media_type": extraction.media_type,
        "extent": locations.to_plain(extraction.extent),
        **_optional(extraction),
    }


def extraction_from_plain(data: object, where: str = "extraction") -> Extraction:
    """Convert plain data to an extraction. Raise `FaultyAnswer` if it is not valid."""
    return read_extraction(data) or leniently(data, Extraction, where)


def leniently(data: object, kind: type[_T], where: str) -> _T:
    """Convert plain data to a receipt or an extraction.

    Raise `FaultyAnswer` with `path: reason` lines if it is not valid. `where` describes the data in messages.
    """
    from citekit.wire.converter import structure

    found: _T = structure(dict(data) if isinstance(data, Mapping) else data, kind, where)
    return found


def shown(value: object) -> str:
    """Return a value as text, shortened if it is long, for a message."""
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]}..."


def _optional(made: Receipt | Extraction) -> dict[str, Any]:
    """Return the optional fields `bytes_from` and `notes` as plain data, if they have a value."""
    plain: dict[str, Any] = {} if made.bytes_from is None else {"bytes_from": made.bytes_from}
    return {**plain, "notes": list(made.notes)} if made.notes else plain
