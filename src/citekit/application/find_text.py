"""Finds words, phrases, and patterns in the text of mapped files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, groupby, islice
from pathlib import Path
from urllib.parse import unquote

from attrs import define, evolve, field, frozen

from citekit.application.index_text import IndexText
from citekit.application.indexed_library import READING, IndexedLibrary, LibraryTexts
from citekit.application.lines_beyond import lines_beyond
from citekit.application.rank_pages import RankPages
from citekit.application.table_columns import table_columns
from citekit.domain.address import Address, parse_address
from citekit.domain.errors import (
    Cancelled,
    CiteKitError,
    LocationOutside,
    RequestRefused,
    ResourceMissing,
    in_a_note,
)
from citekit.domain.locations import Location
from citekit.domain.modality import Modality
from citekit.domain.node import Node
from citekit.domain.ports.map_store import MapStore
from citekit.domain.ports.node_index import NodeIndex
from citekit.domain.ports.text_index import FoundBlock, TextIndex
from citekit.domain.progress import Progress, silent
from citekit.domain.quotes.superscripts import visible_text
from citekit.domain.ranking.ranked import RankedPage
from citekit.domain.resource_map import ResourceMap
from citekit.domain.text_search.blocks import TextBlock
from citekit.domain.text_search.found import FoundText, TextHit
from citekit.domain.text_search.headings import Headings, KeptHeadings
from citekit.domain.text_search.inflections import forms_of, number_forms
from citekit.domain.text_search.limits import CONTEXT_LIMIT, HIT_LIMIT, LIMIT, PAGES_COUNTED, PARTIAL_LIMIT
from citekit.domain.text_search.long_lines import cut_around
from citekit.domain.text_search.match_kind import Kind
from citekit.domain.text_search.matching import LineMatch, context_of, lines_after, matches_in, shown_row
from citekit.domain.text_search.query import TextQuery, parse_query
from citekit.domain.text_search.sections import node_at
from citekit.domain.words import words_of

FEW = 3
"""If at most this number of hits have all words, the lines after them may be shown, too."""

ALSO = 3
"""The maximum number of hits on pages without all words that are added if the words are not close together in any hit.
"""

FURTHER = 2
"""The number of pages without all words that are shown with further lines."""

FOLLOWING = (500, 200)
"""The maximum numbers of characters shown from the lines after a hit, for the best page with hits and for the second.

Unless context is requested, these lines are shown after hits that lack words, and after hits with all words if there
are few: the answer is often in the next lines.
"""

FOLLOWING_LINES = 8
"""The maximum number of lines that `FOLLOWING` adds after a hit."""

EXACT = 128
"""If at most this number of blocks contain all words, a search of everything compares all of these blocks.

Also the maximum number of blocks of a resource that are checked for titles with the words.
"""

COMPARED = 48
"""The number of matching blocks after which a search of everything stops if more than `EXACT` blocks have all words.

Also the number of blocks between two progress reports.
"""

TITLED = 64
"""The maximum number of nodes that are scored by their titles in a search of everything for common words, unless twice
the limit of the search is greater.
"""

LINE_LIMIT = 300
"""The maximum number of characters of a line in an answer. A longer line is cut around the query words."""


@frozen
class _Candidate:
    resource_id: str
    block: TextBlock
    match: LineMatch
    location: Location

    @property
    def rank(self) -> tuple[bool, int, float]:
        """The sort key of the candidate: the best first, and hidden text last."""
        return self.block.hidden, -self.match.kind, -self.match.share

    @property
    def shown(self) -> tuple[Location, str]:
        """The location and the text of the candidate."""
        return self.location, self.block.text[self.match.start : self.match.end]


@frozen
class _IndexedTexts:
    """By resource: the map, the version of the indexed text, and why it is stale or was skipped."""

    maps: dict[str, ResourceMap] = field(factory=dict)
    versions: dict[str, str] = field(factory=dict)
    stale: dict[str, str] = field(factory=dict)
    skipped: dict[str, str] = field(factory=dict)


@frozen
class _Found:
    """The result of a search, with the maps of the resources that are shown.

    `holding` becomes `pages` of `FoundText`.
    """

    candidates: Sequence[_Candidate]
    searched: int
    maps: Mapping[str, ResourceMap]
    stale: Mapping[str, str]
    skipped: Mapping[str, str]
    absent: Sequence[str]
    instead: Mapping[str, str]
    total: int
    holding: int | None = None


@define
class _RawMatches:
    """The blocks with matches that a search of everything compared, by resource ID and version of the text.

    `first` are compared before others, until `most` blocks match (None: all). `counts` has the number of matches, and
    `ranks` the best rank, for which no match counts as a heading.
    """

    first: Sequence[FoundBlock] = field(converter=tuple[FoundBlock, ...])
    most: int | None
    blocks: dict[tuple[str, str], list[FoundBlock]] = field(factory=dict, init=False)
    counts: dict[tuple[str, str], int] = field(factory=dict, init=False)
    ranks: dict[tuple[str, str], tuple[bool, int, float]] = field(factory=dict, init=False)
    is_complete: bool = field(default=True, init=False)

    @property
    def total(self) -> int:
        """The number of matches in all compared blocks."""
        return sum(self.counts.values())

    def compare(
        self, query: TextQuery, blocks: Iterable[FoundBlock], library: LibraryTexts, progress: Progress
    ) -> None:
        """Compare blocks that have all words of the query, until `most` of them match."""
        seen: set[tuple[str, int]] = set()
        matching = 0
        for number, each in enumerate(chain(self.first, blocks)):
            key = each.resource_id, each.version
            if library.versions.get(each.resource_id) != each.version or (each.resource_id, each.at) in seen:
                continue
            if self.most is not None and matching >= self.most:
                self.is_complete = False
                break
            if number % COMPARED == 0:
                progress(number, None, "searching")
            seen.add((each.resource_id, each.at))
            found = matches_in(each.block, query, frozenset())
            if not found:
                continue
            matching += 1
            self.blocks.setdefault(key, []).append(each)
            self.counts[key] = self.counts.get(key, 0) + len(found)
            rank = min((each.block.hidden, -match.kind, -match.share) for match in found)
            self.ranks[key] = min(rank, self.ranks.get(key, rank))

    def best_first(self) -> list[tuple[str, str]]:
        """Return the resource IDs and text versions, those of `first` before all others, and the best matches first."""
        titled = {(each.resource_id, each.version) for each in self.first}
        return sorted(self.blocks, key=lambda key: (key not in titled, self.ranks[key], key))


@frozen
class FindText:
    """Searches the text of one resource, several, or all. Text that is not indexed yet is read first."""

    maps: MapStore
    indexed: IndexText
    index: TextIndex
    library: IndexedLibrary
    rank: RankPages
    nodes: NodeIndex
    headings: KeptHeadings = field(factory=KeptHeadings, init=False)

    def __call__(
        self,
        query: str,
        resources: Sequence[str] = (),
        *,
        regex: bool = False,
        limit: int | None = None,
        context_lines: int = 0,
        roots: Sequence[Path] = (),
        progress: Progress = silent,
    ) -> FoundText:
        """Find the lines that match `query` in `resources` (default: all), the best first.

        All words and quoted phrases must be on one page or in one block of lines; with `regex`, the query is a regular
        expression that must match in one line. Headings and captions come first, then lines with all words, then
        adjacent lines, then pages.

        If there is no hit, words that the searched texts lack are replaced by other forms, such as `leases` for `lease`
        (`instead`), and then numbers in words by digits, or the reverse. Quoted words are not replaced.

        If no page contains all of several words, the hits are the pages that most likely answer the query as a question
        (`Kind.PARTIAL`, not counted in `total`), or that have the quoted phrases; none if a quoted word occurs nowhere.
        Partial hits are also added if the words of an unquoted query are not close together in any hit.

        The default `limit` is `LIMIT`, or `PARTIAL_LIMIT` for `Kind.PARTIAL`. If all resources are searched, only the
        files with hits are checked for changes.

        Raise `RequestRefused` for an invalid query, limit, or number of context lines, `AddressMalformed` for an
        invalid address in `resources`, `ResourceMissing` for a resource without a map, the errors of `RankPages` if
        pages are ranked, and, for a single resource, the errors of reading its text.
        """
        wanted = parse_query(query, regex=regex)
        partial_limit, limit = (PARTIAL_LIMIT, LIMIT) if limit is None else (limit, limit)
        if not 1 <= limit <= HIT_LIMIT:
            raise RequestRefused(f"The limit must be from 1 to {HIT_LIMIT}, not {limit}.")
        if not 0 <= context_lines <= CONTEXT_LIMIT:
            raise RequestRefused(f"The number of context lines must be from 0 to {CONTEXT_LIMIT}, not {context_lines}.")
        names = list(dict.fromkeys(map(resource_named, resources))) or list(self.maps.ids())
        is_everywhere = not resources and len(names) > 1

        def search(wanted: TextQuery) -> _Found:
            if is_everywhere:
                return self._find_everywhere(wanted, limit, roots, progress)
            return self._find_in(names, wanted, roots, progress)

        found, wanted = _in_other_words(search, wanted)
        query = " ".join([query, *found.instead.values()])

        def partial_hits(limit: int) -> Iterator[TextHit]:
            return self._partial_hits(query, names if resources else (), limit, context_lines, roots, progress)

        if not found.candidates and wanted.may_be_question and found.searched:
            hits = list(partial_hits(partial_limit))
        elif not found.candidates and found.searched and wanted.may_lack_words(found.absent):
            hits = self._hits_with_phrases(search, wanted, partial_limit, context_lines)
            if not hits:
                hits = list(partial_hits(partial_limit))
        else:
            best = sorted(found.candidates, key=lambda each: each.rank)[:limit]
            few = len(best) <= FEW and wanted.may_be_question and not context_lines
            hits = self._whole_hits(_by_page(best), found.maps, wanted.words, context_lines, FOLLOWING if few else ())
            are_apart = wanted.may_be_question and all(each.match.kind is Kind.SCATTERED for each in best)
            if are_apart and 0 < len(best) < limit:
                known = {each.address for each in hits}
                more = (each for each in partial_hits(limit) if each.address not in known)
                hits += islice(more, min(ALSO, limit - len(hits)))
        return FoundText(
            hits=hits,
            total=found.total,
            pages=found.holding,
            searched=found.searched,
            stale=found.stale,
            skipped=found.skipped,
            absent=found.absent,
            instead=found.instead,
        )

    def _find_in(self, names: Sequence[str], query: TextQuery, roots: Sequence[Path], progress: Progress) -> _Found:
        for _ in range(2):
            texts = self._texts(names, roots, progress)
            found = groupby(self.index.find(query.words, texts.versions), key=lambda each: each[0])
            blocks = ((texts.maps[name], (block for _, block in each)) for name, each in found)
            candidates = [each for own, text in blocks for each in _candidates(query, own, text, self.headings)]
            if self.index.versions(list(texts.versions)) == texts.versions:
                break  # otherwise the index was damaged and left blocks out

        def is_there(word: str) -> bool:
            return next(self.index.find([word], texts.versions), None) is not None

        absent, instead = ((), {}) if candidates else _absent_words(query, is_there)
        return _Found(
            candidates, len(texts.versions), texts.maps, texts.stale, texts.skipped, absent, instead, len(candidates)
        )

    def _find_everywhere(self, query: TextQuery, limit: int, roots: Sequence[Path], progress: Progress) -> _Found:
        """Search everything that is mapped.

        If more than `EXACT` blocks contain the words, nodes whose titles contain them are compared first, then blocks
        from all over the index, until `COMPARED` match.
        """
        for _ in range(2):
            library = self.library(roots, progress)
            checked = _Checked(self, library, roots, progress)
            holding = self.index.count_everywhere(query.words, PAGES_COUNTED)
            is_common = bool(query.words) and holding > EXACT
            titled = self._titled_matches(query, limit, library) if is_common else ()
            raw = _RawMatches(titled, most=COMPARED if is_common else None)
            raw.compare(query, self.index.find_everywhere(query.words, spread=is_common), library, progress)
            candidates = self._checked_candidates(query, raw, checked, limit)
            if self.index.generation() == library.generation:
                break  # otherwise the index was damaged and left blocks out, or texts were indexed again
        absent, instead = (
            ((), {}) if candidates else _absent_words(query, lambda word: self._is_anywhere(word, checked))
        )
        return _Found(
            candidates,
            len(library.versions) - len(checked.skipped),
            checked.maps,
            checked.stale,
            {**library.skipped, **checked.skipped},
            absent,
            instead,
            total=max(len(candidates), raw.total - checked.dropped),
            holding=None if raw.is_complete else holding,
        )

    def _is_anywhere(self, word: str, checked: _Checked) -> bool:
        holding = self.index.count_everywhere([word], EXACT + 1)
        if not holding:
            return False
        found = self.index.find_everywhere([word], spread=holding > EXACT)
        known = checked.library.versions
        return any(
            known.get(each.resource_id) == each.version and checked.is_current(each.resource_id, each.version)
            for each in found
        )

    def _titled_matches(self, query: TextQuery, limit: int, library: LibraryTexts) -> Iterator[FoundBlock]:
        """Yield the blocks in which a node begins whose title contains all words of the query, in the `limit` resources
        with the best titles.
        """
        starts: dict[str, list[Node]] = {}
        for found in self.nodes.best(query.words, limit=2 * limit, scored=TITLED):
            if set(query.words) <= set(words_of(found.head.title)) and len(starts) < limit:
                starts.setdefault(found.resource_id, []).append(found.head)
        for name, nodes in starts.items():
            version = library.versions.get(name)
            titles = Headings(nodes)
            blocks = self.index.find(query.words, {} if version is None else {name: version})
            for at, (_, block) in enumerate(islice(blocks, EXACT)):
                if version is not None and not block.hidden and titles.titles_on(block):
                    yield FoundBlock(name, version, at, block)

    def _checked_candidates(
        self, query: TextQuery, raw: _RawMatches, checked: _Checked, limit: int
    ) -> list[_Candidate]:
        """Return the matches in the resources whose texts are current.

        If not all blocks were compared, only the best resources (at least `limit`) are used, and hidden text is left
        out.
        """
        candidates: list[_Candidate] = []
        for number, (name, version) in enumerate(raw.best_first()):
            if not raw.is_complete and number >= limit and len(candidates) >= limit:
                break
            found = raw.blocks[name, version]
            if not checked.is_current(name, version):
                checked.dropped += raw.counts[name, version]
                continue
            blocks = [each.block for each in sorted(found, key=lambda each: each.at)]
            visible = blocks if raw.is_complete else [block for block in blocks if not block.hidden]
            candidates += _candidates(query, checked.maps[name], visible, self.headings)
        return candidates

    def _texts(self, names: Sequence[str], roots: Sequence[Path], progress: Progress) -> _IndexedTexts:
        """Index the texts that are not indexed yet, and return what a search needs.

        Raise `ResourceMissing` and, if there is only one resource, the errors of reading it.
        """
        texts = _IndexedTexts()
        indexed = self.index.versions(names)
        for number, name in enumerate(names):
            progress(number, len(names), READING)
            try:
                texts.maps[name] = resource_map = self.maps.get(name)
                texts.versions[name], reason = self.indexed(resource_map, indexed.get(name), roots, progress)
            except CiteKitError as error:
                if len(names) == 1 or isinstance(error, ResourceMissing | Cancelled):
                    raise
                texts.skipped[name] = in_a_note(error)
                continue
            if reason is not None:
                texts.stale[name] = reason
        return texts

    def _whole_hits(
        self,
        found: Iterable[_Candidate],
        maps: Mapping[str, ResourceMap],
        words: Sequence[str],
        context_lines: int,
        following: Sequence[int],
    ) -> list[TextHit]:
        """Return the hits for `found`, in that order.

        `following` has the maximum number of characters after the last hit of each page.
        """
        hits: list[TextHit] = []
        pages = groupby(found, key=lambda each: (each.resource_id, each.location))
        for number, ((name, _), each_page) in enumerate(pages):
            *others, last = each_page
            after = next(iter(following[number:]), 0)
            hits += [self._hit(each, maps[name], words, context_lines) for each in others]
            hits.append(self._hit(last, maps[name], words, context_lines, after))
        return hits

    def _hits_with_phrases(
        self, search: Callable[[TextQuery], _Found], query: TextQuery, limit: int, context_lines: int
    ) -> list[TextHit]:
        """Return the matches of the quoted phrases, as `Kind.PARTIAL`, those in blocks with the most words of the query
        first.
        """
        found = search(TextQuery(query.quoted, quoted=query.quoted))
        known: dict[int, frozenset[str]] = {}

        def rank(each: _Candidate) -> tuple[bool, int, int, bool, int, float]:
            words = known.setdefault(id(each.block), frozenset(words_of(each.block.text)))
            lines = words_of(each.block.text[each.match.start : each.match.end])
            return (
                each.block.hidden,
                -len(words.intersection(query.words)),
                -len(set(query.words).intersection(lines)),
                *each.rank,
            )

        best = sorted(found.candidates, key=rank)[:limit]
        marked = [evolve(each, match=evolve(each.match, kind=Kind.PARTIAL)) for each in best]
        following = () if context_lines else FOLLOWING
        return self._whole_hits(_by_page(marked), found.maps, query.words, context_lines, following)

    def _partial_hits(
        self,
        query: str,
        names: Sequence[str],
        limit: int,
        context_lines: int,
        roots: Sequence[Path],
        progress: Progress,
    ) -> Iterator[TextHit]:
        """Yield up to `limit` hits in the pages of the resources (default: all) that most likely answer the query and
        contain at least one of its words.
        """
        left = limit
        ranked = self.rank(query, names, limit=limit, roots=roots, progress=progress).pages
        for number, page in enumerate(each for each in ranked if each.coverage):
            resource_map = self.maps.get(page.resource_id)
            following = 0 if context_lines else next(iter(FOLLOWING[number:]), 0)
            own: list[TextHit] = []
            for each in _partial_candidates(page, resource_map, with_further=number < FURTHER):
                hit = self._hit(each, resource_map, words_of(query), context_lines, following)
                if not (following and own and set(hit.text.split("\n")) <= set(own[0].after)):
                    own.append(hit)
                following //= 3
            yield from own[:left]
            left -= len(own)
            if left <= 0:
                break

    def _hit(
        self,
        found: _Candidate,
        resource_map: ResourceMap,
        words: Sequence[str],
        context_lines: int,
        following: int = 0,
    ) -> TextHit:
        text, match = found.block.text, found.match
        node = node_at(resource_map.outline, found.block, match.start, found.location)
        before, after = context_of(text, match, context_lines)
        if following:
            after = self._lines_after(found, following)
        return TextHit(
            address=Address(found.resource_id, found.location),
            kind=match.kind,
            text=_shown(text[match.start : match.end], words),
            node=node,
            titles=[] if node is None else resource_map.titles(node.id),
            before=[_shown(line) for line in before],
            after=[_shown(line) for line in after],
            hidden=found.block.hidden,
            columns=table_columns(resource_map, found.location, text, match),
        )

    def _lines_after(self, found: _Candidate, following: int) -> list[str]:
        """Return the lines after a match, which can continue on the next page."""
        text, match = found.block.text, found.match
        after = lines_after(text, match, following, FOLLOWING_LINES)
        rest = len(text[match.end :].split()) - sum(len(line.split()) for line in after)
        if rest or len(after) == FOLLOWING_LINES:
            return after
        room = following - sum(map(len, after))
        return after + lines_beyond(self.index, found.resource_id, found.block, room, FOLLOWING_LINES - len(after))


@define
class _Checked:
    """Checks the sources of resources that a search found. `dropped` is the number of matches in texts that were not
    current.
    """

    search: FindText
    library: LibraryTexts
    roots: Sequence[Path]
    progress: Progress
    maps: dict[str, ResourceMap] = field(factory=dict, init=False)
    stale: dict[str, str] = field(factory=dict, init=False)
    skipped: dict[str, str] = field(factory=dict, init=False)
    dropped: int = field(default=0, init=False)

    def is_current(self, resource_id: str, version: str) -> bool:
        """Return whether the text with that version may be searched."""
        if resource_id in self.maps or resource_id in self.skipped:
            return resource_id in self.maps
        self.progress(len(self.maps), None, "searching")
        try:
            resource_map = self.search.maps.get(resource_id, self.library.maps.get(resource_id))
            indexed, reason = self.search.indexed(resource_map, version, self.roots, self.progress)
        except Cancelled:
            raise
        except CiteKitError as error:
            self.skipped[resource_id] = in_a_note(error)
            return False
        if indexed != version:
            return False
        self.maps[resource_id] = resource_map
        if reason is not None:
            self.stale[resource_id] = reason
        return True


def _in_other_words(search: Callable[[TextQuery], _Found], query: TextQuery) -> tuple[_Found, TextQuery]:
    """Search for a query, and if nothing is found, for other forms of its words, and for numbers in words or digits.

    Return the result and the query that was used.
    """
    found = search(query)
    if found.candidates:
        return found, query
    for instead in (found.instead, {**found.instead, **query.other_numbers()}):
        if instead:
            again = search(query.reading(instead))
            if again.candidates:
                return evolve(again, absent=found.absent, instead=instead), query.reading(instead)
    return found, query.reading(found.instead)


def _absent_words(query: TextQuery, is_there: Callable[[str], bool]) -> tuple[Sequence[str], Mapping[str, str]]:
    """Return the words of the query that the searched texts lack, and, for those that are not quoted, another form that
    the texts have.
    """
    absent = tuple(word for word in query.words if not is_there(word))
    free = (word for word in absent if word not in query.quoted_words)
    found = ((word, next(filter(is_there, (*number_forms(word), *forms_of(word))), None)) for word in free)
    return absent, {word: form for word, form in found if form is not None}


def _candidates(
    query: TextQuery, resource_map: ResourceMap, blocks: Iterable[TextBlock], kept: KeptHeadings
) -> list[_Candidate]:
    """Return the matches in blocks of one resource, except hidden ones that repeat the text at the same location."""
    headings = kept.of(resource_map)
    found: list[_Candidate] = []
    shown: set[tuple[Location, str]] | None = None  # not needed until there is hidden text, which is rare
    for block in blocks:
        if block.hidden and shown is None:
            shown = {each.shown for each in found}
        for each in _located(block, matches_in(block, query, headings.on(block)), resource_map):
            if shown is not None:
                if block.hidden and each.shown in shown:
                    continue
                shown.add(each.shown)
            found.append(each)
    return found


def _located(block: TextBlock, matches: Sequence[LineMatch], resource_map: ResourceMap) -> Iterator[_Candidate]:
    """Yield the matches in a block with their locations, except those outside the extent of the resource."""
    name, extent = resource_map.resource_id, resource_map.extent
    if block.page is not None:
        with suppress(LocationOutside):
            page = block.page.clamp(extent)
            yield from [_Candidate(name, block, match, page) for match in matches]
        return
    for match in matches:
        with suppress(LocationOutside):
            yield _Candidate(name, block, match, block.located.locate(match.start, match.end).clamp(extent))


def _partial_candidates(page: RankedPage, resource_map: ResourceMap, *, with_further: bool) -> Iterator[_Candidate]:
    """Yield the best lines of a page without all words of the query, and further lines of it."""
    match = LineMatch(Kind.PARTIAL, page.start, page.end, page.score)
    yield _Candidate(page.resource_id, page.block, match, page.location)
    if with_further and page.further is not None:
        start, end = page.further
        with suppress(LocationOutside):
            location = page.block.located.locate(start, end).clamp(resource_map.extent)
            yield _Candidate(page.resource_id, page.block, LineMatch(Kind.PARTIAL, start, end, page.score), location)


def resource_named(text: str) -> str:
    """Return the resource ID in `text`: an ID, or an address with or without a location.

    Raise `AddressMalformed` if the location in an address is invalid.
    """
    scheme, colon, name = text.partition("://")
    if not colon or Modality.from_scheme(scheme) is None:
        return text
    return parse_address(text).resource_id if "#" in name else unquote(name)


def _by_page(found: Sequence[_Candidate]) -> Iterator[_Candidate]:
    """Yield the hits grouped by location. Each group is at the position of its first hit."""
    pages: dict[tuple[str, Location], list[_Candidate]] = {}
    for each in found:
        pages.setdefault((each.resource_id, each.location), []).append(each)
    for each_page in pages.values():
        yield from each_page


def _shown(text: str, words: Sequence[str] = ()) -> str:
    """Return the lines of a text: without empty ones, with cells separated, and with long lines cut around `words`."""
    rows = (shown_row(line) for line in visible_text(text).split("\n"))
    return "\n".join(row if len(row) <= LINE_LIMIT else cut_around(row, words, LINE_LIMIT) for row in rows if row)
