"""Parses command-line arguments that name a part of a resource.

The forms are `RESOURCE NODE`, `RESOURCE pages=12`, an address with or without its scheme, and the old `RESOURCE.NODE`.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from citekit.application.named_parts import part_named
from citekit.domain.address import Address, parse_address
from citekit.domain.errors import CiteKitError, NodeMissing, RequestRefused
from citekit.entrypoints.cli.session import same_home

if TYPE_CHECKING:
    from citekit.domain.node import NodeName
    from citekit.domain.ports.map_store import MapStore


def named_part(maps: MapStore, words: Sequence[str], resource: str | None) -> NodeName | Address:
    """Return the node or address that the arguments name. `resource` is the value of `--resource`, or None.

    Raise `click.UsageError` for a wrong number of arguments, and the errors of `parse_address`, `part_named`, and
    `named_node`.
    """
    if resource is not None and len(words) == 1:
        return part_named(maps, resource, words[0])
    if resource is None and len(words) == 2:
        return part_named(maps, words[0], words[1])
    if len(words) != 1:
        raise click.UsageError("Name exactly one part: RESOURCE NODE, ADDRESS, or NODE with --resource RESOURCE.")
    if "://" in words[0]:
        return parse_address(words[0])
    if "#" in words[0] and "=" in words[0] and not isinstance(named := part_named(maps, words[0]), str):
        return named
    return named_node(maps, words, resource)


def named_node(maps: MapStore, words: Sequence[str], resource: str | None) -> NodeName:
    """Return the resource ID and node ID that the arguments name. `resource` is the value of `--resource`, or None.

    The node does not have to exist. Raise `click.UsageError` for a wrong number of arguments, `RequestRefused` if
    `RESOURCE.NODE` is ambiguous, only a resource, or an address, and the errors of `MapStore.get` if it does not begin
    with the ID of a resource.
    """
    from citekit.domain.node import NodeName

    if resource is not None and len(words) == 1:
        return NodeName(resource, words[0])
    if resource is None and len(words) == 2:
        return NodeName(words[0], words[1])
    if resource is None and len(words) == 1:
        return _split(maps, words[0])
    raise click.UsageError("Name exactly one node: RESOURCE NODE, or NODE with --resource RESOURCE.")


def _split(maps: MapStore, text: str) -> NodeName:
    from citekit.domain.node import NodeName

    splits = [NodeName(text[:dot], text[dot + 1 :]) for dot, character in enumerate(text) if character == "."]
    known = set(maps.ids())
    possible = [name for name in splits if name.resource_id in known]
    found = [name for name in possible if _exists(maps, name)]
    if len(found) == 1:
        return found[0]
    if found:
        ways = " or ".join(f"'{name.resource_id} {name.node_id}'" for name in found)
        raise RequestRefused(
            f"'{text}' is ambiguous: it can be {ways}. Write the resource and the node as two arguments."
        )
    if possible:
        return possible[-1]
    if text in known:
        command = f"citekit list {shlex.quote(text)}{same_home()}"
        raise RequestRefused(f"'{text}' is a resource. Name one of its nodes. To list them, run: {command}")
    if "://" in text:
        command = f"citekit read {shlex.quote(text)}{same_home()}"
        raise RequestRefused(
            f"'{text}' is an address. To show a node, give two arguments: RESOURCE NODE. To print the text at the address, "
            f"run: {command}"
        )
    maps.get(text.partition(".")[0])
    raise RequestRefused(f"'{text}' does not name a node. Give two arguments: RESOURCE NODE.")


def _exists(maps: MapStore, name: NodeName) -> bool:
    """Return whether the node exists; True if its map cannot be read, so that the command reports that error."""
    try:
        maps.get(name.resource_id).find(name.node_id)
    except NodeMissing:
        return False
    except CiteKitError:
        return True
    return True
