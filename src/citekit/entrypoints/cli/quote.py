"""Implements the command `citekit quote`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from attrs import frozen

from citekit.application.named_parts import part_named
from citekit.application.verify_quote import resource_named
from citekit.domain.errors import Cancelled, CiteKitError
from citekit.domain.modality import Modality
from citekit.domain.node import NodeName
from citekit.entrypoints.cli.command import Command, password_option, roots_option
from citekit.entrypoints.cli.errors import message_of
from citekit.entrypoints.cli.part_arguments import named_node, named_part
from citekit.entrypoints.cli.progress import watching
from citekit.entrypoints.cli.quote_results import QuoteResult, failed, result_lines, several_failed
from citekit.entrypoints.cli.session import Session, pass_session

if TYPE_CHECKING:
    from citekit.container import Container
    from citekit.domain.address import Address
    from citekit.domain.ports.map_store import MapStore
    from citekit.domain.progress import Progress

FORMER_NAME = "verify-quote"
"""The former name of the command, which takes one location, in one or two words, and one quote."""


@click.command("quote", cls=Command)
@click.argument("words", nargs=-1, required=True, metavar="[LOCATION] QUOTE...")
@click.option("--resource", "-res", metavar="RESOURCE", help="Search only this resource, and not everything mapped.")
@roots_option()
@password_option("a source PDF")
@pass_session
@click.pass_context
def command(
    context: click.Context,
    session: Session,
    words: tuple[str, ...],
    resource: str | None,
    roots: tuple[str, ...],
    password: str | None,
) -> None:
    """Check quotes, or find where they are.

    \b
    citekit quote 'the words'                          in everything mapped
    citekit quote doc://book#pages=12 'the words'      at an address
    citekit quote book 'the words' 'other words'       in a resource; or: book NODE 'the words'

    A location applies to all quotes after it, up to the next address. The location is an address, the ID of a resource
    as the first word, or such an ID and a node.

    \b
    exact       the same characters
    normalised  only case, white space, hyphens at line ends, ligatures, quotation marks, dashes, or Unicode forms differ
    elsewhere   not at that location, but at the listed addresses
    altered     the words are there, but an ellipsis omits a negation, an exception, or a condition, or a minus
                sign or the case of a unit or symbol differs (mg, Mg)
    absent      not in the resource; a similar passage may be shown
    unread      not on the pages that could be read; other pages are too complex to read

    "exact, not visible" means that the file contains the words but hides them from readers, for example under an image.

    Each occurrence is shown with the whole line or table row. An ellipsis in a quote (... or [...]) stands for omitted words,
    which the answer shows. The exit code is 0 if every quote is exact or normalised and visible. Otherwise, it is 1.
    """
    app = session.app_with(password=password)
    if context.info_name == FORMER_NAME:
        requests = [former_request(app.maps, words)]
    else:
        requests = read_requests(app.maps, words, resource)
    folders = [Path(root) for root in roots]
    with watching(session, f"Searching for the quote{'s' if len(requests) > 1 else ''}") as watch:
        if len(requests) == 1:
            results = [_result(app, requests[0], folders, watch)]
        else:
            results = [_result_or_error(app, each, folders, watch) for each in requests]
    plain = results[0].plain() if len(results) == 1 else {"verdicts": [each.plain() for each in results]}
    lines = (
        line for number, each in enumerate(results, 1) for line in result_lines(each, number if len(results) > 1 else 0)
    )
    if all(each.holds for each in results):
        session.answer(plain, lines)
        return
    session.say(lines)
    raise failed(results[0], plain) if len(results) == 1 else several_failed(results, plain)


def _result(app: Container, asked: QuoteRequest, roots: Sequence[Path], progress: Progress) -> QuoteResult:
    if asked.what is not None:
        return QuoteResult(asked.quote, app.verify_quote(asked.what, asked.quote, roots=roots, progress=progress))
    lookup = app.look_up_quote(asked.quote, roots=roots, progress=progress)
    return QuoteResult(asked.quote, lookup.verdict, lookup)


def _result_or_error(app: Container, asked: QuoteRequest, roots: Sequence[Path], progress: Progress) -> QuoteResult:
    """Return the result, or a result with the error, so that the other quotes are still checked."""
    try:
        return _result(app, asked, roots, progress)
    except Cancelled:
        raise
    except CiteKitError as error:
        return QuoteResult(asked.quote, error=message_of(error))


@frozen
class QuoteRequest:
    """A quote and where it is expected: an address, a node, a resource ID, or None for everything mapped."""

    what: NodeName | Address | str | None
    quote: str


def read_requests(maps: MapStore, words: Sequence[str], resource: str | None) -> list[QuoteRequest]:
    """Return a request for each quote in the arguments. `resource` is the value of `--resource`, or None.

    Raise `click.UsageError` if a quote is missing, and the errors of addresses and maps.
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
        if not _is_address(maps, word):
            requests.append(QuoteRequest(what, word))
            is_used = True
        elif is_used:
            what, is_used = _located(maps, word, resource), False
        else:
            break
    if not is_used or not requests:
        raise click.UsageError(
            "Give a quote after the location, such as: citekit quote doc://book#pages=12 'the words'"
        )
    return requests


def _is_address(maps: MapStore, word: str) -> bool:
    """Return whether the word is an address; `book#pages=12` is one if `book` is mapped."""
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
    """Return the request of `verify-quote (RESOURCE | RESOURCE NODE | RESOURCE.NODE | ADDRESS) TEXT`.

    Raise `click.UsageError` if the location or the quote is missing, `RequestRefused` for an ambiguous or unknown node
    name, and the errors of addresses and maps.
    """
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
