"""Recognizes files that consist of exactly one receipt in the stored form, or of one output of `resolve --json`.

Further data is not accepted, because anyone could add false claims to a genuine receipt.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from attrs import define, field

from citekit.domain.errors import FaultyAnswer, ResourceIdRefused
from citekit.domain.evidence import Receipt
from citekit.wire import receipts

_VERSION = "receipt_version"
_SOMETIMES: Mapping[str, type] = {"notes": list, "bytes_from": object, "owner": str}
"""Optional keys. Output folders store an `owner`; early forms had empty `notes` and a null `bytes_from`."""

_ANSWER = frozenset(
    (
        "output_path",
        "modality",
        "address",
        "node",
        "resource_id",
        "stale",
        "made_now",
        "seconds",
        "copied_to",
        "receipt",
    )
)
"""The keys of the output of `resolve --json`."""

_ANSWER_SOMETIMES = frozenset(("unchecked", "moved"))


def read_document(data: bytes, where: str) -> tuple[Receipt, str] | None:
    """Return the receipt in a file and the address written in it, or None if the file is not a receipt.

    Raise `FaultyAnswer` for a JSON object with a `receipt_version` that is not in exactly the stored form. `where`
    names the file in it.
    """
    strict = _StrictJson()
    plain = strict.read(data)
    return _receipt(plain, strict.faults, where) if isinstance(plain, dict) and _VERSION in plain else None


def read_answer(data: bytes, where: str) -> tuple[Receipt, str] | None:
    """Return the receipt in an output of `resolve --json` and the address written in it, or None for other documents.

    Raise `FaultyAnswer` if the receipt is not in exactly the stored form.
    """
    strict = _StrictJson()
    plain = strict.read(data)
    if not isinstance(plain, dict) or not _ANSWER <= plain.keys() <= _ANSWER | _ANSWER_SOMETIMES:
        return None
    return _receipt(plain["receipt"], strict.faults, where)


def _receipt(plain: object, faults: list[str], where: str) -> tuple[Receipt, str]:
    if faults:
        raise FaultyAnswer(where, faults)
    receipt, address = receipts.claimed(plain, where)
    try:
        found = _differences(plain, receipts.to_plain(receipt))
    except ResourceIdRefused as refused:
        raise FaultyAnswer(where, [f"resource_id: {refused}"]) from refused
    version = plain[_VERSION] if isinstance(plain, dict) else None
    if type(version) is not int:  # true and 1.0 are equal to 1
        found.append(f"{_VERSION}: must be a whole number, not {version!r}")
    if address is None or found:
        raise FaultyAnswer(where, found)
    return receipt, address


def _differences(plain: Any, written: Any, path: str = "") -> list[str]:
    """Return `path: reason` lines for the keys of `plain` that differ from those of `written`, the receipt in the
    stored form.
    """
    if not isinstance(written, Mapping) or not isinstance(plain, Mapping):
        return []
    optional = {} if path else _SOMETIMES
    faults = [f"{path}{key}: is missing" for key in written if key not in plain and key not in optional]
    for key, value in plain.items():
        if key in written:
            faults += _differences(value, written[key], f"{path}{key}.")
        elif key not in optional:
            faults.append(f"{path}{receipts.shown(key)}: a receipt has no such key")
        elif value is not None and not isinstance(value, optional[key]):
            faults.append(
                f"{path}{key}: must be a {'list' if optional[key] is list else 'string'}, not {receipts.shown(value)}"
            )
    return faults


@define
class _StrictJson:
    """A JSON parser that lists ambiguous content, such as duplicate keys, in `faults`."""

    faults: list[str] = field(factory=list)

    def read(self, data: bytes) -> object:
        """Parse a JSON document in UTF-8 without a byte-order mark, or return None."""
        try:
            text = data.decode("utf-8", "surrogatepass")
            return json.loads(text, object_pairs_hook=self._object, parse_constant=self._constant)
        except (ValueError, RecursionError):
            return None

    def _object(self, pairs: list[tuple[str, object]]) -> dict[str, object]:
        plain = dict(pairs)
        if len(plain) != len(pairs):
            seen: set[str] = set()
            twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
            self.faults.append(f"{receipts.shown(twice)}: the key occurs twice")
        return plain

    def _constant(self, name: str) -> float:
        self.faults.append(f"$: {name} is not a valid number in JSON")
        return float(name.replace("Infinity", "inf"))
