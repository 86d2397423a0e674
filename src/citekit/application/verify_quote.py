"""Checks whether a quote occurs in a source at the location that is claimed for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from urllib.parse import unquote

from attrs import evolve, frozen

from citekit.application.locate_source import LocateSource
from citekit.application.resolve import Resolve
from citekit.domain.address import Address, parse_address
from citekit.domain.errors import AddressMalformed, LocationOutside, RequestRefused
from citekit.domain.library.extracted_text import ExtractedText, UnitKind
from citekit.domain.locations import Location, Pages, TimeSpan, Virtual
from citekit.domain.modality import Modality
from citekit.domain.node import NodeName
from citekit.domain.ports.map_store import MapStore
from citekit.domain.ports.quotable_texts import QuotableTexts
from citekit.domain.progress import Progress, silent
from citekit.domain.quotes.drawn import as_drawn
from citekit.domain.quotes.effort import Effort
from citekit.domain.quotes.finding import Match, matches
from citekit.domain.quotes.hidden import NOT_VISIBLE
from citekit.domain.quotes.near import nearest_passage
from citekit.domain.quotes.quotable import WITH_MARKUP, WITH_TAGS, Quotable
from citekit.domain.quotes.quote import Piece, has_markup, has_tags, ways_to_read
from citekit.domain.quotes.reversed_text import is_reversed
from citekit.domain.quotes.shown_source import is_shown_with_markup, is_shown_with_tags
from citekit.domain.quotes.superscripts import COMPUTED, CUT, visible_text
from citekit.domain.quotes.transcript import Transcript
from citekit.domain.quotes.verdict import NearPlace, QuotePlace, QuoteVerdict
from citekit.domain.quotes.verdict_finding import Finding
from citekit.domain.resource_map import ResourceMap
from citekit.domain.source import Source
from citekit.domain.text_search.matching import shown_row
from citekit.domain.text_search.section_titles import titles_around
from citekit.domain.text_search.sections import SectionCut

PLACES = 5
"""The maximum number of places in an answer."""

LOOKED_AT = 200
"""The maximum number of matches from which the best are selected."""

SHOWN = 1000
"""The maximum number of characters of a passage in an answer."""

TOO_COMMON = (
    "The words of the quote occur in too many places in this source to compare them all. "
    "Quote more words in a row, or give the node or address that the quote is from."
)
"""The error for a quote whose search exceeded its budget."""

ROUNDS = 6
"""The maximum number of searches for a quote.

A search is repeated without the words that the drawn pages do not show.
"""

DRAWN = 60
"""The maximum number of pages that are drawn in one round."""

TOO_HIDDEN = (
    "CiteKit could not check which pages show the words of the quote to readers: too many pages contain them. Give the "
    "node or address that the quote is from, or quote a passage that spans fewer pages."
)
"""The error for a quote whose pages are more than those that can be drawn at once or in all rounds."""

_NEEDED = {WITH_MARKUP: has_markup, WITH_TAGS: has_tags}
_SHOWN = {WITH_MARKUP: is_shown_with_markup, WITH_TAGS: is_shown_with_tags}
"""Tests for texts that include hidden markup, by the note of the text.

`_NEEDED` tests whether a quote contains such markup; `_SHOWN` tests whether readers see a match in that text.
"""


RECOGNIZED = "OCR recognized the text of this page. The text may contain errors; compare it with the page."
"""The note of a quote on a scanned page."""

STORED = "the stored result of a formula; a program that opens the file may compute a different result"
"""The note of a quote that includes the result of a formula in a workbook."""

OTHER_HEADING = "The page belongs to the node, but this passage is under another heading."
"""The note of a quote on a page of the node, but not under the node's heading."""

UNSURE = "words that the transcriber is unsure of"
"""The difference of a quote in recognized speech with a low confidence. Such a quote is not exact."""


@frozen
class _Found:
    source: Quotable
    match: Match
    location: Location
    shown: bool = True


@frozen
class _Finds:
    """The matches of a quote that have the same meaning, and those that alter it."""

    faithful: Sequence[_Found] = ()
    altered: Sequence[_Found] = ()

    @property
    def any(self) -> bool:
        return bool(self.faithful or self.altered)


@frozen
class VerifyQuote:
    """Searches for a quote at the claimed location, then in the whole resource, and finally for a similar passage."""

    maps: MapStore
    resolve: Resolve
    locate: LocateSource
    texts: QuotableTexts

    def __call__(
        self,
        what: NodeName | Address | str,
        quote: str,
        *,
        roots: Sequence[Path] = (),
        progress: Progress = silent,
    ) -> QuoteVerdict:
        """Check whether `quote` occurs in the node or at the address `what`, and return the verdict.

        If `what` is a string, it is a resource ID, and the quote may occur anywhere in that resource. `roots` are
        additional folders in which a moved source is searched for. PDF pages with the quote are drawn, to check whether
        they show the words.

        Raise `RequestRefused` if the quote has no words, is too long, or occurs too often, or if the location is
        virtual; `SourceUnsupported` if the resource has no text; and the errors of `Resolve` and `LocateSource`.
        """
        readings = ways_to_read(quote)
        resource_map = self.maps.get(what if isinstance(what, str) else what.resource_id)
        place = None if isinstance(what, str) else self.resolve(what, virtual=True).location
        if isinstance(place, Virtual):
            raise RequestRefused("The node or address is virtual: it has no file, so nothing can be quoted from it.")
        section = _section(resource_map, what, place)
        source = self.locate(resource_map, roots)
        texts = self.texts.read(source, progress)
        drawn: set[int] = set()
        for _ in range(ROUNDS):
            verdict = self._verdict(source, texts, quote, readings, resource_map, place, section)
            pages = [number for number in _pages_of(verdict) if number not in drawn]
            if len(pages) > DRAWN:
                break
            visible = as_drawn(texts, self.texts.drawn(source, pages)) if pages else texts
            if visible is texts:
                return verdict
            texts = visible
            drawn.update(pages)
        raise RequestRefused(TOO_HIDDEN)

    def _verdict(
        self,
        source: Source,
        texts: Sequence[Quotable],
        quote: str,
        readings: Sequence[tuple[Piece, ...]],
        resource_map: ResourceMap,
        place: Location | None,
        section: SectionCut | None,
    ) -> QuoteVerdict:
        """Return the verdict on a quote in `texts`, at `place` or anywhere if it is None. `section` finds the text of a
        node.
        """
        effort = Effort()
        asked = None if place is None else Address(resource_map.resource_id, place)
        unread = _unread(texts[0])
        answer = QuoteVerdict(
            finding=Finding.UNREAD if unread else Finding.ABSENT,
            resource_id=resource_map.resource_id,
            asked=asked,
            quote=quote.strip(),
            unread=unread,
        )
        shown, hidden = _visible(texts, visible=True), _visible(texts, visible=False)
        if isinstance(place, Pages) and place.region is not None:
            page = _in_place(shown, readings, resource_map, evolve(place, region=None), effort)
            inside = (
                _in_place([self.texts.region(source, place)], readings, resource_map, None, effort)
                if page.any
                else _Finds()
            )
        else:
            inside = _in_place(shown, readings, resource_map, place, effort, section)
        found = _judged(answer, inside, shown, readings, resource_map, effort)
        if found is None and hidden:
            inside = _in_place(hidden, readings, resource_map, place, effort, section)
            found = _judged(answer, inside, hidden, readings, resource_map, effort)
        return found or evolve(answer, near=_near(texts[0], readings, resource_map))


def _section(resource_map: ResourceMap, what: NodeName | Address | str, place: Location | None) -> SectionCut | None:
    """Return the `SectionCut` that finds the text of a node on its pages, or None for other parts."""
    if not isinstance(what, NodeName) or not isinstance(place, Pages):
        return None
    titles = titles_around(resource_map.outline, what.node_id)
    return None if titles is None else SectionCut(titles, place)


def _unread(text: Quotable) -> Sequence[int]:
    return text.placed.unread if isinstance(text.placed, ExtractedText) else ()


def _pages_of(verdict: QuoteVerdict) -> list[int]:
    """Return the numbers of the pages on which the quote has visible places, without repetition."""
    places = (each.address.location for each in verdict.places if each.visible)
    return list(dict.fromkeys(number for place in places if isinstance(place, Pages) for number in place.numbers))


def _visible(texts: Sequence[Quotable], *, visible: bool) -> list[Quotable]:
    return [each for each in texts if (each.note != NOT_VISIBLE) is visible]


def _judged(
    answer: QuoteVerdict,
    inside: _Finds,
    texts: Sequence[Quotable],
    readings: Sequence[tuple[Piece, ...]],
    resource_map: ResourceMap,
    effort: Effort,
) -> QuoteVerdict | None:
    """Return the verdict on the matches of a quote, or None if there are none.

    If `inside` has no faithful match, all of `texts` are searched.
    """
    place = None if answer.asked is None else answer.asked.location
    if inside.faithful:
        best = _best(inside.faithful)
        return _placed(answer, Finding.NORMALISED if _differences(best[0]) else Finding.EXACT, best)
    outside = _Finds() if place is None else _in_place(texts, readings, resource_map, None, effort)
    if outside.faithful:
        found = _placed(answer, Finding.ELSEWHERE, _best(outside.faithful, place))
        return evolve(found, places=[_under_other_heading(each, place) for each in found.places])
    altered = inside.altered or outside.altered
    return _placed(answer, Finding.ALTERED, _best(altered, place)) if altered else None


def resource_named(text: str, maps: MapStore) -> str | Address:
    """Return the resource ID for text such as `doc://book`, or the address for text such as `doc://book#pages=3`.

    Raise `AddressMalformed` if it is neither or its scheme does not fit the resource, and the errors of `MapStore.get`.
    """
    scheme, colon, rest = text.partition("://")
    if not colon or "#" in rest or scheme.lower() == Modality.VIRTUAL.scheme:
        return parse_address(text)
    resource_map = maps.get(unquote(rest))
    modality = Modality.from_scheme(scheme)
    if modality is not resource_map.modality:
        wanted = resource_map.modality.scheme
        raise AddressMalformed(text, scheme, f"addresses of '{resource_map.resource_id}' begin with {wanted}://")
    return resource_map.resource_id


def _in_place(
    texts: Sequence[Quotable],
    readings: Sequence[tuple[Piece, ...]],
    resource_map: ResourceMap,
    place: Location | None,
    effort: Effort,
    section: SectionCut | None = None,
) -> _Finds:
    """Return the matches of a quote at the location `place`, or anywhere in `texts` if it is None.

    The first reading and text with faithful matches decide; without any, the altered matches are returned. Raise
    `RequestRefused` if the search exceeds the budget in `effort`.
    """
    altered: list[_Found] = []
    for pieces in readings:
        for source in texts:
            needed = _NEEDED.get(source.note)
            if needed is not None and not any(needed(piece.text) for piece in pieces):
                continue
            span = (0, len(source.text)) if place is None else source.placed.span_of(place)
            if section is not None and isinstance(source.placed, ExtractedText):
                span = section.span_in(source.placed)
            if span is None:
                continue
            found = (
                _Found(source, match, location, _is_shown(source, match, location, texts[0]))
                for match in matches(source, pieces, *span, effort)
                if (location := _located(source, match, resource_map, place)) is not None
            )
            faithful = list(islice(_setting_aside(found, altered), LOOKED_AT))
            if faithful:
                return _Finds(faithful=faithful)
            if effort.is_spent:
                raise RequestRefused(TOO_COMMON)
    return _Finds(altered=altered)


def _is_shown(source: Quotable, match: Match, location: Location, visible: Quotable) -> bool:
    """Return whether readers see a match, which they do not if it is displayed in reverse order or hidden in markup."""
    if is_reversed(source.text, match.start, match.end):
        return False
    is_shown = _SHOWN.get(source.note)
    if is_shown is None:
        return True
    span = visible.placed.span_of(location)
    return span is not None and is_shown(source.text[match.start : match.end], visible.text[slice(*span)])


def _setting_aside(found: Iterable[_Found], altered: list[_Found]) -> Iterator[_Found]:
    """Yield the matches that keep the meaning of the quote, and append others to `altered`."""
    for each in found:
        if not each.match.alters_meaning:
            yield each
        elif len(altered) < LOOKED_AT:
            altered.append(each)


def _located(source: Quotable, match: Match, resource_map: ResourceMap, place: Location | None) -> Location | None:
    """Return the location of a match in the file, or None if the match does not count.

    It does not count outside of `place` or the file, or across a page that could not be read.
    """
    try:
        location = source.placed.locate(match.start, match.end).clamp(resource_map.extent)
    except LocationOutside:
        return None
    if isinstance(location, Pages) and any(location.numbers[0] < n < location.numbers[-1] for n in _unread(source)):
        return None
    if place is None or place.contains(location):
        return location
    return location if isinstance(place, TimeSpan) and place.overlaps(location) else None


def _best(found: Sequence[_Found], place: Location | None = None) -> list[_Found]:
    """Return the matches, best first: visible ones, then exact ones, then those in `place` or near its middle."""

    def rank(each: _Found) -> tuple[bool, bool, bool, int, int]:
        span = None if place is None else each.source.placed.span_of(place)
        middle = each.match.start if span is None else (span[0] + span[1]) // 2
        apart = place is not None and not place.overlaps(each.location)
        return not each.shown, bool(_differences(each)), apart, abs(each.match.start - middle), each.match.start

    return sorted(found, key=rank)


def _placed(answer: QuoteVerdict, finding: Finding, found: Sequence[_Found]) -> QuoteVerdict:
    by_address: dict[Address, QuotePlace] = {}
    for each in found:
        address = Address(answer.resource_id, each.location)
        text = _shown(each.source.text[each.match.start : each.match.end])
        match, note = each.match, each.source.note or _recognition_note(each) or _computed_note(each)
        note = note if each.shown else NOT_VISIBLE
        line = _line_around(each.source.text, match.start, match.end)
        place = QuotePlace(address, text, _differences(each), note, match.gaps, match.changes, line)
        by_address.setdefault(address, place)
    places = list(by_address.values())
    more = len(places) > PLACES or len(found) >= LOOKED_AT
    return evolve(answer, finding=finding, places=places[:PLACES], more=more)


def _under_other_heading(found: QuotePlace, place: Location | None) -> QuotePlace:
    """Add the note `OTHER_HEADING` to a match outside the node, but on its pages (`place`), that has no note."""
    if found.note or place is None or not place.contains(found.address.location):
        return found
    return evolve(found, note=OTHER_HEADING)


def _differences(found: _Found) -> tuple[str, ...]:
    """Return the differences between a quote and its match, including `UNSURE` for doubtful recognized speech."""
    placed, match = found.source.placed, found.match
    if isinstance(placed, Transcript) and placed.doubts(match.start, match.end):
        return (*match.differences, UNSURE)
    return match.differences


def _recognition_note(found: _Found) -> str:
    """Return a note for a match whose text or times OCR or speech recognition determined; else an empty string."""
    placed, location = found.source.placed, found.location
    if isinstance(placed, Transcript):
        return placed.note
    if not isinstance(placed, ExtractedText) or not placed.recognized or not isinstance(location, Pages):
        return ""
    return RECOGNIZED if not set(placed.recognized).isdisjoint(location.numbers) else ""


def _computed_note(found: _Found) -> str:
    """Return a note for a match that includes the result of a formula in a workbook; else an empty string."""
    placed, match = found.source.placed, found.match
    is_row = isinstance(placed, ExtractedText) and placed.kind is UnitKind.ROW
    return STORED if is_row and COMPUTED in found.source.text[match.start : match.end + 1] else ""


def _near(source: Quotable, readings: Sequence[tuple[Piece, ...]], resource_map: ResourceMap) -> NearPlace | None:
    near = nearest_passage(source, readings[0][0])
    if near is None:
        return None
    try:
        location = source.placed.locate(near.start, near.end).clamp(resource_map.extent)
    except LocationOutside:
        return None
    text = source.text[near.start : near.end].replace(
        CUT, "[...]"
    )  # show where text is cut, because that is why the quote does not match
    return NearPlace(Address(resource_map.resource_id, location), _shown(text), near.similarity)


def _line_around(text: str, start: int, end: int) -> str:
    """Return the lines or rows that contain a range, with their cells separated. At most `SHOWN` characters."""
    first = text.rfind("\n", max(0, start - SHOWN), start) + 1 or max(0, start - SHOWN)
    last = text.find("\n", end, end + SHOWN)
    whole = text[first : end + SHOWN if last < 0 else last][: 2 * SHOWN]
    return "\n".join(filter(None, (shown_row(visible_text(line)) for line in whole.split("\n"))))[:SHOWN]


def _shown(text: str) -> str:
    text = visible_text(text)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
