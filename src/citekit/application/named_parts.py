"""Interprets the names of parts that agents and users write: node IDs, addresses, and addresses without a scheme."""

from __future__ import annotations

import re
from typing import overload
from urllib.parse import quote, unquote

from citekit.domain.address import Address, parse_address
from citekit.domain.errors import RequestRefused
from citekit.domain.modality import Modality
from citekit.domain.node import NodeName
from citekit.domain.ports.map_store import MapStore

_FRAGMENT = re.compile(r"#?[a-z]{1,8}=.+", re.DOTALL)


@overload
def part_named(maps: MapStore, resource: str, part: str) -> NodeName | Address: ...


@overload
def part_named(maps: MapStore, resource: str, part: str | None = None) -> NodeName | Address | str: ...


def part_named(maps: MapStore, resource: str, part: str | None = None) -> NodeName | Address | str:
    """Return the node or address that `part` names in a resource.

    If `part` is None, return the address that `resource` contains or, without a location, the resource ID. `resource`
    is an ID or an address: `book`, `doc://book`, `doc://book#pages=12`, `book#pages=12`. `part` is a node ID or an
    address: `doc://book#pages=12`, `book#pages=12`, `pages=12`. Raise `ResourceMissing` if a map is needed and missing,
    `AddressMalformed` for an invalid address, or `RequestRefused` for one in another resource.
    """
    resource_id, fragment = _split(resource)
    if part is None:
        return _address(maps, resource_id, fragment) if fragment else resource_id
    is_fragment = "#" in part or _FRAGMENT.fullmatch(part) is not None
    if "://" not in part and (not is_fragment or part in maps.get(resource_id)):
        return NodeName(resource_id, part)
    if Modality.from_scheme(part.partition("://")[0]) is Modality.VIRTUAL:
        return parse_address(part)
    named, fragment = _split(part) if "#" in part.lstrip("#") or "://" in part else ("", part)
    if named and named != resource_id:
        raise RequestRefused(
            f"The address {part!r} belongs to the resource {named!r}, not to {resource_id!r}. Use the same ID for both."
        )
    return _address(maps, resource_id, fragment) if "://" not in part else parse_address(part)


def _split(text: str) -> tuple[str, str]:
    """Return the resource ID and the fragment of an address with or without a scheme."""
    name, _, fragment = text.partition("#")
    scheme, colon, rest = name.partition("://")
    if colon and Modality.from_scheme(scheme) is not None:
        if fragment:
            return parse_address(text).resource_id, fragment
        return unquote(rest), ""
    return name, fragment


def _address(maps: MapStore, resource_id: str, fragment: str) -> Address:
    scheme = maps.get(resource_id).modality.scheme
    return parse_address(f"{scheme}://{quote(resource_id, safe='')}#{fragment.removeprefix('#')}")
