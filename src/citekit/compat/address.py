"""Provides `parse_address` and `build_address` of citekit 0.2."""

from __future__ import annotations

import re

from citekit.compat.models import Location, location_of
from citekit.domain import address as addresses
from citekit.domain.address import Address
from citekit.domain.errors import AddressMalformed, LocationMalformed
from citekit.domain.modality import Modality
from citekit.wire import legacy_forms, locations

_SHAPE = re.compile(r"(\w+)://([^#]+)(?:#(.+))?", re.DOTALL)
_KNOWN = ("pages", "lines", "t", "bbox", "chapter", "chars", "sheet", "cells")


class FormerAddressError(AddressMalformed):
    """An invalid address. The message begins with that of citekit 0.2, followed by the current one."""

    def __init__(self, former: str, cause: AddressMalformed) -> None:
        super().__init__(cause.address, cause.part, cause.reason)
        self.args = (f"{former}. {cause}",)


def parse_address(address: str) -> tuple[str, Location]:
    """Return the resource ID and the location in `address`.

    As in 0.2, an address without a fragment has an empty location, and unknown parameters are ignored. Raise
    `AddressMalformed` (a `ValueError`) if it is invalid.
    """
    try:
        parsed = addresses.parse_address(address)
    except AddressMalformed as error:
        return _leniently(address, error)
    return parsed.resource_id, location_of(parsed.location)


def build_address(resource_id: str, location: Location, *, clock: bool = False) -> str:
    """Return the canonical address of a location in a resource, without a fragment if the location is empty.

    With `clock`, times that are whole seconds and at least one minute are written as in 0.2: `t=03:12-03:50`. Raise
    `LocationMalformed` if the location is invalid, and `ResourceIdRefused` if the address has a fragment and the ID is
    invalid (both are subclasses of `ValueError`).
    """
    plain = legacy_forms.without_nulls(location.model_dump(mode="json"))
    if plain.get("modality") == "virtual" and "virtual_address" not in plain:
        return f"virtual://{resource_id}"
    if plain.get("pages") == []:
        raise LocationMalformed("Pages list cannot be empty: a document location must have at least one page")
    modality = Modality(plain["modality"]) if plain.get("modality") in set(Modality) else None
    if modality is not None and len(plain) == 1:
        return f"{modality.scheme}://{resource_id}"
    built = str(Address(resource_id, locations.from_plain(plain)))
    if clock and location.start is not None and location.end is not None:
        return f"{built.partition('#')[0]}#t={_clock(location.start)}-{_clock(location.end)}"
    return built


def _leniently(address: str, error: AddressMalformed) -> tuple[str, Location]:
    """Read an address as 0.2 did.

    Raise `AddressMalformed`; if 0.2 refused the form, the scheme, or the box, it is a `FormerAddressError`.
    """
    shape = _SHAPE.fullmatch(address)
    if shape is None:
        raise FormerAddressError(f"Invalid CiteKit address: {address[:200]}", error) from error
    scheme, resource_id, fragment = shape.groups()
    modality = Modality.from_scheme(scheme)
    if modality is None:
        known = [each.scheme for each in Modality]
        raise FormerAddressError(f"Unknown scheme '{scheme[:40]}'. Expected one of: {known}", error) from error
    given = [part for part in (fragment or "").split("&") if part.partition("=")[0] in _KNOWN]
    if not given:
        return resource_id, Location(modality=modality.value)
    corners = next((part.partition("=")[2].split(",") for part in given if part.startswith("bbox=")), None)
    if corners is not None and len(corners) != 4:
        raise FormerAddressError(f"bbox must have 4 values, got {len(corners)}", error) from error
    kept = f"{scheme}://{resource_id}#{'&'.join(given)}"
    if kept == address:
        raise error
    parsed = addresses.parse_address(kept)
    return parsed.resource_id, location_of(parsed.location)


def _clock(seconds: float) -> str:
    whole = int(seconds)
    if whole != seconds or whole < 60:
        return str(whole if whole == seconds else seconds)
    hours, minutes = whole // 3600, whole // 60 % 60
    return f"{hours:02}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes:02}:{whole % 60:02}"
