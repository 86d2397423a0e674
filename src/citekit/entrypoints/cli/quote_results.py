"""Formats results of `citekit quote` as lines, plain data, and errors."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from attrs import frozen

from citekit.domain.address import fragment_of
from citekit.domain.locations import Pages
from citekit.domain.phrases import counted, series
from citekit.domain.quotes.verdict import QuoteLookup, QuoteVerdict
from citekit.domain.quotes.verdict_finding import Finding
from citekit.domain.unicode_controls import printable
from citekit.entrypoints.cli.errors import CommandError
from citekit.entrypoints.cli.session import same_home
from citekit.entrypoints.cli.terminal import styled
from citekit.wire.quotes import to_plain_lookup, to_plain_with_lines

if TYPE_CHECKING:
    from citekit.domain.quotes.gaps import Gap

_COLORS = {
    Finding.EXACT: "green",
    Finding.NORMALISED: "green",
    Finding.ELSEWHERE: "yellow",
    Finding.ALTERED: "red",
    Finding.ABSENT: "red",
    Finding.UNREAD: "yellow",
}


@frozen
class QuoteResult:
    """A quote with its verdict, or with the error that prevented a verdict.

    `lookup` is not None if everything mapped was searched. Then `verdict` is None if no file has the words or a similar
    passage.
    """

    quote: str
    verdict: QuoteVerdict | None = None
    lookup: QuoteLookup | None = None
    error: str | None = None

    @property
    def holds(self) -> bool:
        """Whether the quote is at the requested location, visible to readers."""
        return self.verdict is not None and self.verdict.holds

    def plain(self) -> dict[str, Any]:
        """Return the result as plain data."""
        if self.error is not None:
            return {"quote": self.quote, "error": self.error}
        if self.lookup is not None:
            return to_plain_lookup(self.lookup, self.quote)
        assert self.verdict is not None
        return to_plain_with_lines(self.verdict)


def result_lines(result: QuoteResult, number: int) -> Iterator[str]:
    """Yield the lines for a result. `number` is that of the quote, from 1, or 0 for a single quote."""
    prefix = f"{number}. " if number else ""
    if result.error is not None:
        yield f"{prefix}{styled('error', fg='red')}: {printable(result.error)}"
        return
    if result.verdict is None:
        yield f"{prefix}{styled(Finding.ABSENT.value, fg=_COLORS[Finding.ABSENT])}"
    else:
        yield from _verdict_lines(result.verdict, prefix)
    if result.lookup is not None and result.lookup.is_cut:
        yield "  More files or pages contain these words than were compared. Name the resource, or quote more words."
    if result.lookup is not None and result.lookup.skipped:
        skipped = counted(result.lookup.skipped, "file was", "files were")
        yield f"  {skipped} not searched (to see why, run citekit find{same_home()} with these words)"


def _verdict_lines(verdict: QuoteVerdict, prefix: str) -> Iterator[str]:
    if verdict.visible:
        yield f"{prefix}{styled(verdict.finding.value, fg=_COLORS[verdict.finding])}"
    else:
        yield f"{prefix}{styled(verdict.label, fg='yellow')}"
    for place in verdict.places:
        how = f"differs in {', '.join(place.differences)}" if place.differences else "exact"
        yield f"  {printable(str(place.address))}  {how}{f' ({place.note})' if place.note else ''}"
        yield from (f"  > {printable(line)}" for line in (place.line or place.text).split("\n") if line.strip())
        yield from map(_gap_line, place.gaps)
        for change in place.changes:
            yield f"    may change the meaning: {printable(change)}"
    if verdict.more:
        yield "  and at more locations"
    if verdict.unread:
        yield f"  not everything was searched: {_unread_line(verdict.unread)}"
    if verdict.near is not None:
        near = verdict.near
        yield f"  similar passage (similarity {near.similarity:.0%}): {printable(str(near.address))}"
        yield f"    {printable(' '.join(near.text.split()))}"


def _unread_line(unread: Sequence[int]) -> str:
    """Return a clause that says which pages were too complex to read."""
    which = (
        f"page {unread[0]} was" if len(unread) == 1 else f"{len(unread)} pages, beginning with page {unread[0]}, were"
    )
    return f"{which} too complex to read"


def _gap_line(gap: Gap) -> str:
    """Return a line with an omitted text and the reasons to read it."""
    reasons = list(gap.remarks)
    if gap.qualifiers:
        reasons.insert(0, f"may qualify the statement: {', '.join(gap.qualifiers)}")
    why = f" ({'; '.join(reasons)})" if reasons else ""
    return printable(f"    omits {counted(gap.length, 'character')}{why}: {gap.text}")


def failed(result: QuoteResult, plain: dict[str, Any]) -> CommandError:
    """Return the error for a single quote that does not hold."""
    verdict, lookup = result.verdict, result.lookup
    if verdict is None or (lookup is not None and verdict.finding is Finding.ABSENT):
        searched = 0 if lookup is None else lookup.searched
        if not searched:
            why = (
                f"No mapped file could be searched. To see why, run citekit find{same_home()} with these words."
                if lookup is not None and lookup.skipped
                else "No files are mapped in this home. To search another one, add --home DIR."
            )
            return CommandError("Absent", why, plain)
        return CommandError("Absent", f"The quote was not found in the {counted(searched, 'file')} searched.", plain)
    where = verdict.resource_id if verdict.asked is None else str(verdict.asked)
    if verdict.finding is Finding.ELSEWHERE:
        found = verdict.places[0].address
        hidden = "" if verdict.visible else ", where readers cannot see it"
        return CommandError("Elsewhere", f"The quote is not in {where}, but it is at {found}{hidden}.", plain)
    if not verdict.visible and verdict.finding in (Finding.EXACT, Finding.NORMALISED):
        why = verdict.places[0].note.removeprefix("not visible: ")
        message = f"The words are in {where}, but readers cannot see them: {why}."
        return CommandError("NotVisible", message, plain)
    if verdict.finding is Finding.ALTERED:
        place = verdict.places[0]
        return CommandError("Altered", f"The quote may change the meaning of the text at {place.address}.", plain)
    if verdict.finding is Finding.UNREAD:
        message = (
            f"The quote is not on any page of '{verdict.resource_id}' that could be read, but "
            f"{_unread_line(verdict.unread)}. To look at {'that page' if len(verdict.unread) == 1 else 'those pages'}, run: "
            f"citekit resolve {shlex.quote(verdict.resource_id)} {fragment_of(Pages.of(verdict.unread))}{same_home()}"
        )
        return CommandError("Unread", message, plain)
    return CommandError("Absent", f"The quote is not in '{verdict.resource_id}'.", plain)


def several_failed(results: Sequence[QuoteResult], plain: dict[str, Any]) -> CommandError:
    """Return the error for several quotes of which at least one does not hold."""
    failed = [str(number) for number, each in enumerate(results, 1) if not each.holds]
    which = f"{'quote' if len(failed) == 1 else 'quotes'} {series(failed)}"
    message = f"{len(failed)} of {len(results)} quotes cannot be cited as given: {which}."
    return CommandError("QuotesFailed", message, plain)
