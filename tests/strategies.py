"""Hypothesis strategies for the values of the domain: `from tests.strategies import locations, addresses, nodes`."""

from __future__ import annotations

from datetime import UTC, datetime
from operator import itemgetter
from typing import Any

from hypothesis import strategies as st

from citekit.domain.address import Address
from citekit.domain.errors import LocationMalformed, ResourceIdRefused
from citekit.domain.evidence import ExtractorIdentity, Form, Options
from citekit.domain.extent import Extent
from citekit.domain.ids import check_resource_id, node_id
from citekit.domain.locations import Box, Cells, Chapter, Lines, Location, Pages, TimeSpan, Virtual
from citekit.domain.locations.cells import COLUMNS_LIMIT
from citekit.domain.modality import Modality
from citekit.domain.node import Node
from citekit.domain.numbers import WHOLE_LIMIT
from citekit.domain.resource_map import ResourceMap

COUNTS = st.integers(1, 10**6) | st.integers(1, 20) | st.integers(WHOLE_LIMIT - 20, WHOLE_LIMIT)
FRACTIONS = st.floats(0, 1) | st.integers(0, 1000).map(lambda thousandths: thousandths / 1000)
SECONDS = st.floats(0, 1e9) | st.floats(0, allow_infinity=False) | st.integers(0, 100_000).map(lambda ms: ms / 1000)
TIMED = (Modality.VIDEO, Modality.AUDIO)

SHEETS = ("Q1 Plan", "Totals", "'in quotes'", "Größe & <Preis>", "'")
SHEET = itemgetter(0)

SOME_BOUNDS = st.builds(
    Extent,
    pages=st.none() | st.integers(1, 40),
    lines=st.none() | st.integers(1, 40),
    seconds=st.none() | st.floats(0.001, 1e6),
    sheets=st.none()
    | st.lists(
        st.tuples(st.sampled_from(SHEETS), st.integers(0, 40), st.integers(0, 40)), min_size=1, unique_by=SHEET
    ).map(tuple),
    chapters=st.none() | st.lists(st.integers(0, 500), min_size=1, max_size=12).map(tuple),
)


def rising(values: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    """Two different values, the smaller first."""
    return st.lists(values, min_size=2, max_size=2, unique=True).map(sorted)


def boxes() -> st.SearchStrategy[Box]:
    """Boxes, of odd fractions and of thousandths."""
    corners = st.tuples(rising(FRACTIONS), rising(FRACTIONS))
    return corners.map(lambda pairs: Box(pairs[0][0], pairs[1][0], pairs[0][1], pairs[1][1]))


def pages() -> st.SearchStrategy[Pages]:
    """Sets of pages, runs of pages, and regions of one page."""
    return (
        st.sets(COUNTS, min_size=1, max_size=12).map(Pages.of)
        | st.tuples(st.integers(1, 50), st.integers(0, 30)).map(lambda run: Pages.span(run[0], run[0] + run[1]))
        | st.builds(lambda page, region: Pages((page,), region), COUNTS, boxes())
    )


def lines() -> st.SearchStrategy[Lines]:
    """Ranges of lines."""
    return st.tuples(COUNTS, COUNTS).map(lambda pair: Lines(min(pair), max(pair)))


def spans(modality: Modality | None = None) -> st.SearchStrategy[TimeSpan]:
    """Time spans, half of them open, of one or of both modalities."""
    kinds = st.sampled_from(TIMED) if modality is None else st.just(modality)
    closed = st.builds(lambda pair, kind: TimeSpan(pair[0], pair[1], kind), rising(SECONDS), kinds)
    return closed | st.builds(lambda start, kind: TimeSpan(start, None, kind), SECONDS, kinds)


def chapters() -> st.SearchStrategy[Chapter]:
    """Single chapters, ranges of chapters, and characters of one chapter."""
    numbers = st.integers(1, 300) | st.integers(WHOLE_LIMIT - 20, WHOLE_LIMIT)
    offsets = st.integers(0, 10**6) | st.integers(WHOLE_LIMIT - 20, WHOLE_LIMIT)
    return (
        st.tuples(numbers, st.integers(0, 20)).map(lambda run: Chapter(run[0], last=min(sum(run), WHOLE_LIMIT)))
        | st.builds(Chapter, numbers)
        | st.builds(lambda number, chars: Chapter(number, tuple(chars)), numbers, rising(offsets))
    )


def cells() -> st.SearchStrategy[Cells]:
    """Sheets, single cells and ranges of cells."""
    names = st.sampled_from(SHEETS) | st.text(min_size=1, max_size=40).filter(_is_sheet_name)
    numbers = st.integers(1, 30) | st.integers(1, COLUMNS_LIMIT)
    corners = st.tuples(numbers, numbers, numbers, numbers).map(
        lambda four: ((min(four[0], four[1]), min(four[2], four[3])), (max(four[0], four[1]), max(four[2], four[3])))
    )
    return (
        st.builds(Cells, names)
        | st.builds(lambda name, pair: Cells(name, *pair), names, corners)
        | st.builds(lambda name, pair: Cells(name, pair[0]), names, corners)
    )


def _is_sheet_name(text: str) -> bool:
    try:
        return bool(Cells(text))
    except LocationMalformed:
        return False


def virtuals() -> st.SearchStrategy[Virtual]:
    """References of any printable text."""
    printable = st.text(min_size=1, max_size=60).filter(str.isprintable)
    return (printable | printable.map("virtual://{}".format)).map(Virtual)


def locations() -> st.SearchStrategy[Location]:
    """Places of every kind."""
    return pages() | lines() | spans() | boxes() | chapters() | cells() | virtuals()


def _is_storable(text: str) -> bool:
    try:
        check_resource_id(text)
    except ResourceIdRefused:
        return False
    return True


def resource_ids() -> st.SearchStrategy[str]:
    """Ids that can be stored: plain ones, and any that is not refused."""
    return st.from_regex(r"[a-z][a-z0-9_]{0,20}", fullmatch=True) | st.text(min_size=1, max_size=20).filter(
        _is_storable
    )


def addresses() -> st.SearchStrategy[Address]:
    """Any place of any resource."""
    return st.builds(Address, resource_ids(), locations())


def extractor_identities() -> st.SearchStrategy[ExtractorIdentity]:
    """Names and versions."""
    words = st.text("abc123.", min_size=1, max_size=8)
    return st.builds(ExtractorIdentity, words, words)


def options() -> st.SearchStrategy[Options]:
    """Every way to ask for evidence."""
    return st.builds(Options, st.sampled_from(Form), st.booleans())


TITLES = st.text("abcdefgh ÄÖß中文.-", min_size=0, max_size=25)


@st.composite
def nodes(draw: st.DrawFn, depth: int = 3, width: int = 3) -> tuple[Node, ...]:
    """A forest over the lines of a text: ids unique, children inside their parents, siblings side by side."""
    taken: set[str] = set()
    return _forest(draw, "", 1, 400, depth, width, taken)


def _forest(
    draw: st.DrawFn, parent: str, first: int, last: int, depth: int, width: int, taken: set[str]
) -> tuple[Node, ...]:
    grown = []
    for _ in range(draw(st.integers(0 if parent else 1, width)) if depth else 0):
        if first > last:
            break
        end = draw(st.integers(first, last))
        title = draw(TITLES)
        name = node_id(parent, title, taken)
        taken.add(name)
        children = _forest(draw, name, first, end, depth - 1, width, taken)
        summary = draw(st.none() | TITLES)
        grown.append(
            Node(name, title, draw(st.sampled_from(("section", "class"))), Lines(first, end), summary, children)
        )
        first = end + 1
    return tuple(grown)


@st.composite
def resource_maps(draw: st.DrawFn) -> ResourceMap:
    """Maps of texts, with the facts that every map holds."""
    return ResourceMap(
        resource_id=draw(resource_ids()),
        modality=Modality.TEXT,
        title=draw(TITLES),
        source_path="/somewhere/text.txt",
        nodes=draw(nodes()),
        created_at=draw(st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))),
        metadata={
            "source_hash": draw(st.text("0123456789abcdef", min_size=64, max_size=64)),
            "source_size": draw(st.integers(1, 10**9)),
            "line_count": 400,
            "mapper": {"name": "local", "version": "1"},
        },
    )
