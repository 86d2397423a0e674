"""Parses the arguments of `citekit quote`: quotes, and the locations in which they are expected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click
from attrs import frozen

from citekit.application.named_parts import part_named
from citekit.application.verify_quote import resource_named
from citekit.domain.modality import Modality
from citekit.domain.node import NodeName
from citekit.entrypoints.cli.part_arguments import named_node, named_part

if TYPE_CHECKING:
    from citekit.domain.address import Address
    from citekit.domain.ports.map_store import MapStore


@frozen
class QuoteRequest:
    """A quote and where it is expected: an address, a node, the ID of a resource, or None for everything mapped."""

    what: NodeName | Address | str | None
    quote: str


def read_requests(maps: MapStore, words: Sequence[str], resource: str | None) -> list[QuoteRequest]:
    """Return a request for each quote in the arguments. `resource` is the value of `--resource`, or None.

    Raise `click.UsageError` for a location without a quote, `AddressMalformed`, and `ResourceMissing`.
    """
    what: NodeName | Address | str | None = None
    rest = list(words)
    if resource is not None:
        what = part_named(maps, resource)
        if isinstance(what, str):
            maps.get(what)
    elif len(rest) > 1 and rest[0] in maps.ids():
        what = rest.pop(0)
        if len(rest) > 1 and rest[0] in maps.get(what):
            what = NodeName(what, rest.pop(0))
    requests, is_used = [], what is None or resource is not None
    for word in rest:
        if _is_address(maps, word):
            what, is_used = _located(maps, word, resource), False
        else:
            requests.append(QuoteRequest(what, word))
            is_used = True
    if not is_used or not requests:
        raise click.UsageError(
            "Give a quote after the location, such as: citekit quote doc://book#pages=12 'the words'"
        )
    return requests


def _is_address(maps: MapStore, word: str) -> bool:
    """Return whether the word is an address, such as `doc://book#pages=12`, or `book#pages=12` if `book` is mapped."""
    if any(map(str.isspace, word)):
        return False
    scheme, colon, rest = word.partition("://")
    if colon:
        return bool(rest) and Modality.from_scheme(scheme) is not None
    name, mark, fragment = word.partition("#")
    return bool(mark and "=" in fragment) and name in maps.ids()


def _located(maps: MapStore, word: str, resource: str | None) -> NodeName | Address | str:
    if resource is not None:
        return part_named(maps, resource, word)
    return resource_named(word, maps) if "://" in word else part_named(maps, word)


def former_request(maps: MapStore, words: Sequence[str]) -> QuoteRequest:
    """Return the request of `verify-quote (RESOURCE | RESOURCE NODE | ADDRESS) TEXT`."""
    if len(words) < 2:
        raise click.UsageError(
            "Give a location and a quote, such as: citekit verify-quote doc://book#pages=12 'the words'"
        )
    *place, quote = words
    if len(place) > 1:
        return QuoteRequest(named_part(maps, place, None), quote)
    if "://" in place[0]:
        return QuoteRequest(resource_named(place[0], maps), quote)
    is_resource = place[0] in maps.ids() or "." not in place[0]
    return QuoteRequest(place[0] if is_resource else named_node(maps, place, None), quote)
