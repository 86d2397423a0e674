"""Provides `parse_address` and `build_address` of citekit 0.2."""

from __future__ import annotations

from citekit.compat.models import Location, location_of
from citekit.domain import address as addresses
from citekit.domain.address import Address
from citekit.wire import legacy_forms, locations


def parse_address(address: str) -> tuple[str, Location]:
    """Return the resource ID and the location in `address`. Raise `AddressMalformed`, a `ValueError`, if it is invalid."""
    parsed = addresses.parse_address(address)
    return parsed.resource_id, location_of(parsed.location)


def build_address(resource_id: str, location: Location) -> str:
    """Return the canonical address of a location in a resource.

    Raise `LocationMalformed`, a `ValueError`, if the location is invalid.
    """
    plain = legacy_forms.without_nulls(location.model_dump(mode="json"))
    if plain.get("modality") == "virtual" and "virtual_address" not in plain:
        return f"virtual://{resource_id}"
    return str(Address(resource_id, locations.from_plain(plain)))
