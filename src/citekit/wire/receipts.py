"""The written form of receipts, and of what is remembered about a stored extraction."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from citekit.domain.errors import FaultyAnswer
from citekit.domain.evidence import Extraction, Receipt
from citekit.wire.converter import CONVERTER, structure

RECEIPT_VERSION = 1
"""The version of the written form of a receipt."""


def to_plain(receipt: Receipt) -> dict[str, Any]:
    """A receipt as plain data, its canonical address beside its location."""
    plain: dict[str, Any] = CONVERTER.unstructure(receipt)
    return {"receipt_version": RECEIPT_VERSION, "address": str(receipt.address), **plain}


def from_plain(data: object, where: str) -> Receipt:
    """The receipt that `data` means. Raises `FaultyAnswer`; `where` says what the data is."""
    if not isinstance(data, Mapping):
        raise FaultyAnswer(where, ["$: a receipt is a JSON object"])
    if data.get("receipt_version") != RECEIPT_VERSION:
        raise FaultyAnswer(where, [f"receipt_version: {data.get('receipt_version')!r} is not {RECEIPT_VERSION}"])
    receipt: Receipt = structure(dict(data), Receipt, where)
    if data.get("address", str(receipt.address)) != str(receipt.address):
        raise FaultyAnswer(where, [f"address: {data['address']!r} is not that of its location, {receipt.address}"])
    return receipt


def from_json(text: str, where: str) -> Receipt:
    """The receipt in a JSON text. Raises `FaultyAnswer`."""
    try:
        return from_plain(json.loads(text), where)
    except (ValueError, RecursionError) as wrong:
        raise FaultyAnswer(where, [f"$: not JSON: {wrong}"]) from wrong


def extraction_to_plain(extraction: Extraction) -> dict[str, Any]:
    """An extraction as plain data."""
    plain: dict[str, Any] = CONVERTER.unstructure(extraction)
    return plain


def extraction_from_plain(data: object, where: str = "extraction") -> Extraction:
    """The extraction that `data` means. Raises `FaultyAnswer`."""
    extraction: Extraction = structure(data, Extraction, where)
    return extraction
