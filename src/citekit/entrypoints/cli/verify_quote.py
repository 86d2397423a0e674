"""Implements the command `citekit verify-quote`, which checks whether a quote occurs in a source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from citekit.application.verify_quote import resource_named
from citekit.domain.node import NodeName
from citekit.domain.quotes.verdict import Finding, QuoteVerdict
from citekit.domain.unicode_controls import printable
from citekit.entrypoints.cli.command import Command, password_option, roots_option
from citekit.entrypoints.cli.errors import CommandError
from citekit.entrypoints.cli.part_arguments import named_node, named_part
from citekit.entrypoints.cli.progress import watching
from citekit.entrypoints.cli.session import Session, pass_session
from citekit.entrypoints.cli.terminal import styled
from citekit.wire.quotes import to_plain

if TYPE_CHECKING:
    from citekit.domain.address import Address
    from citekit.domain.ports.map_store import MapStore
    from citekit.domain.quotes.gaps import Gap

_COLOURS = {
    Finding.EXACT: "green",
    Finding.NORMALISED: "green",
    Finding.ELSEWHERE: "yellow",
    Finding.ALTERED: "red",
    Finding.ABSENT: "red",
    Finding.UNREAD: "yellow",
}


@click.command("verify-quote", cls=Command)
@click.argument("part", nargs=-1, required=True, metavar="(RESOURCE | RESOURCE NODE | ADDRESS) TEXT")
@roots_option()
@password_option("a source PDF")
@pass_session
def command(session: Session, part: tuple[str, ...], roots: tuple[str, ...], password: str | None) -> None:
    """Check that a quote is really at the given location.

    \b
    exact       the same characters
    normalised  only case, white space, hyphens at line ends, ligatures, quotation marks, dashes, or Unicode forms differ
    elsewhere   not in that place, but at the listed addresses
    altered     the words are there, but an ellipsis omits a negation, an exception, or a condition, or the case of
                a unit or symbol differs (mg, Mg)
    absent      not in the resource; a similar passage may be shown
    unread      not on the pages that could be read; other pages are too complex to read

    "exact, not visible" means that the file contains the words but hides them from readers, for example under an image.

    The place is a whole resource (its id, or doc://book), a node, or an address. An ellipsis in the quote (... or [...])
    stands for omitted words, which the answer shows. The exit code is 0 if the result is exact or normalised and the
    words are visible. Otherwise, it is 1.
    """
    if len(part) < 2:
        raise click.UsageError(
            "Give a location and a quote, such as: citekit verify-quote doc://book#pages=12 'the words'"
        )
    app = session.app_with(password=password)
    *place, quote = part
    what = _named(app.maps, place)
    with watching(session, "Searching for the quote") as watch:
        verdict = app.verify_quote(what, quote, roots=[Path(root) for root in roots], progress=watch)
    if verdict.holds:
        session.answer(to_plain(verdict), _lines(verdict))
        return
    session.say(_lines(verdict))
    raise _failed(verdict)


def _named(maps: MapStore, words: Sequence[str]) -> NodeName | Address | str:
    if len(words) > 1:
        return named_part(maps, words, None)
    if "://" in words[0]:
        return resource_named(words[0], maps)
    return words[0] if words[0] in maps.ids() or "." not in words[0] else named_node(maps, words, None)


def _lines(verdict: QuoteVerdict) -> Iterator[str]:
    if verdict.visible:
        yield styled(verdict.finding.value, fg=_COLOURS[verdict.finding])
    else:
        yield styled(f"{verdict.finding.value}, not visible", fg="yellow")
    for place in verdict.places:
        how = f"differs in {', '.join(place.differences)}" if place.differences else "exact"
        yield f"  {printable(str(place.address))}  {how}{f' ({place.note})' if place.note else ''}"
        yield f"    {printable(' '.join(place.text.split()))}"
        yield from map(_gap_line, place.gaps)
        for change in place.changes:
            yield f"    changes a symbol: {printable(change)}"
    if verdict.more:
        yield "  and at more locations"
    if verdict.unread:
        yield f"  some pages were not searched: {_unread_line(verdict.unread)}"
    if verdict.near is not None:
        near = verdict.near
        yield f"  similar passage ({near.similarity:.0%} of the words): {printable(str(near.address))}"
        yield f"    {printable(' '.join(near.text.split()))}"


def _unread_line(unread: Sequence[int]) -> str:
    """Return a clause that says which pages were too complex to read. `unread` has their numbers."""
    which = f"page {unread[0]} was" if len(unread) == 1 else f"{len(unread)} pages, page {unread[0]} first, were"
    return f"{which} too complex to read"


def _gap_line(gap: Gap) -> str:
    """Return a line with the text that an ellipsis omits and the reasons to read it."""
    reasons = list(gap.remarks)
    if gap.qualifiers:
        reasons.insert(0, f"qualifies the statement: {', '.join(gap.qualifiers)}")
    why = f" ({'; '.join(reasons)})" if reasons else ""
    return printable(f"    omits {gap.length} characters{why}: {gap.text}")


def _failed(verdict: QuoteVerdict) -> CommandError:
    where = verdict.resource_id if verdict.asked is None else str(verdict.asked)
    if verdict.finding is Finding.ELSEWHERE:
        found = verdict.places[0].address
        return CommandError("Elsewhere", f"The quote is not in {where}, but at {found}.", to_plain(verdict))
    if not verdict.visible and verdict.finding in (Finding.EXACT, Finding.NORMALISED):
        message = f"The words are in {where}, but readers cannot see them: {verdict.places[0].note}."
        return CommandError("NotVisible", message, to_plain(verdict))
    if verdict.finding is Finding.ALTERED:
        place = verdict.places[0]
        return CommandError(
            "Altered", f"The quote changes the meaning of the text at {place.address}.", to_plain(verdict)
        )
    if verdict.finding is Finding.UNREAD:
        message = (
            f"The quote is not on any page of '{verdict.resource_id}' that could be read, but "
            f"{_unread_line(verdict.unread)}. Check those pages yourself (citekit resolve --as pdf)."
        )
        return CommandError("Unread", message, to_plain(verdict))
    return CommandError("Absent", f"The quote is not in '{verdict.resource_id}'.", to_plain(verdict))
