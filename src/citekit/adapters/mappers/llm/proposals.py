"""Reads the nodes that a model proposes and finds their faults."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress

from attrs import evolve, frozen

from citekit.adapters.formats.shared.outline import SUMMARY_LIMIT, TITLE_LIMIT, one_line
from citekit.adapters.mappers.llm.answers import RawNode
from citekit.adapters.mappers.llm.codec_pages_lines import listed_pages
from citekit.adapters.mappers.llm.location_codec import (
    LocationCodec,
    RawFields,
    Span,
    clipped,
    highs,
    lows,
    shifted,
    short_repr,
)
from citekit.domain.errors import LocationMalformed
from citekit.domain.numbers import shortest

TYPE_LIMIT = 40

_SPACES = re.compile(r"[\s_]+")


@frozen
class ProposedNode:
    """A node as the model proposes it. `span` may lie outside the file.

    `listed_pages` contains the pages if the model listed pages with gaps. `shift` is what was added to the numbers in
    the answer to get positions in the file.
    """

    path: str
    level: int
    title: str
    type: str
    summary: str | None
    span: Span
    listed_pages: tuple[int, ...] = ()
    shift: float = 0

    def moved(self, by: float) -> ProposedNode:
        """Return this node with `by` added to the numbers of its location."""
        if not by:
            return self
        named = tuple(page + int(by) for page in self.listed_pages)
        return evolve(self, span=shifted(self.span, by), listed_pages=named, shift=self.shift + by)


@frozen
class Fault:
    """One fault of a node in an answer. `path` is the node or its field, such as `nodes[3].title`.

    `title` is the title of the node, or "".
    """

    path: str
    reason: str
    title: str = ""

    def __str__(self) -> str:
        named = f" ({self.title!r})" if self.title else ""
        return f"{self.path}: {self.reason}{named}"

    @property
    def node(self) -> str:
        """The path of the node, without the name of the faulty field."""
        head, _, last = self.path.rpartition(".")
        return self.path if "[" in last else head


def read_proposals(
    items: Iterable[RawNode], codec: LocationCodec, default_type: str
) -> tuple[list[ProposedNode], list[Fault]]:
    """Return the nodes that have a title and a readable location, and the faults of the other nodes.

    A node without a type gets `default_type`.
    """
    proposals: list[ProposedNode] = []
    faults: list[Fault] = []
    for item in items:
        try:
            proposals.append(_read_proposal(item, codec, default_type))
        except LocationMalformed as wrong:
            field, colon, reason = wrong.reason.partition(": ")
            path = f"{item.path}.{field}" if colon and field.isidentifier() else item.path
            faults.append(Fault(path, reason if path != item.path else wrong.reason, title_of(item.record)))
    return proposals, faults


def title_of(record: RawFields | None) -> str:
    """Return the title of a node on one line; "" if it has none."""
    title = (record or {}).get("title")
    return one_line(title, TITLE_LIMIT) if isinstance(title, str) else ""


def _read_proposal(item: RawNode, codec: LocationCodec, default_type: str) -> ProposedNode:
    if item.record is None:
        raise LocationMalformed(item.error)
    title = title_of(item.record)
    if not title:
        given = item.record.get("title")
        raise LocationMalformed(
            "title: is missing"
            if given is None or isinstance(given, str)
            else f"title: must be a string, not {short_repr(given)}"
        )
    span = codec.parse(item.record)
    kind = item.record.get("type")
    summary = item.record.get("summary", item.record.get("context"))
    return ProposedNode(
        path=item.path,
        level=item.level,
        title=title,
        type=(_SPACES.sub("_", one_line(kind, TYPE_LIMIT)).lower() if isinstance(kind, str) else "") or default_type,
        summary=(one_line(summary, SUMMARY_LIMIT) if isinstance(summary, str) else "") or None,
        span=span,
        listed_pages=_pages_with_gaps(item.record, codec),
    )


def _pages_with_gaps(record: RawFields, codec: LocationCodec) -> tuple[int, ...]:
    """Return the pages listed in `record` if the list has gaps, else an empty tuple."""
    if codec.unit != "page" or "first_page" in record or "pages" not in record:
        return ()
    with suppress(LocationMalformed):
        pages = tuple(sorted(set(listed_pages(record))))
        return pages if pages[-1] - pages[0] >= len(pages) else ()
    return ()


def clip_to_window(
    proposals: Sequence[ProposedNode], codec: LocationCodec, window: Span
) -> tuple[list[ProposedNode], list[Fault], int]:
    """Return the proposals inside `window`, the faults of the other proposals, and the number of clipped proposals.

    An end (of a box, any edge) that is beyond the window within the codec's tolerance is clipped.
    """
    kept: list[ProposedNode] = []
    faults: list[Fault] = []
    cuts = 0
    for proposal in proposals:
        reason = _outside_reason(proposal, codec, window)
        if reason:
            described = codec.describe(shifted(proposal.span, -proposal.shift))
            faults.append(
                Fault(f"{proposal.path}.{_faulty_field(reason, codec)}", f"{described}: {reason}", proposal.title)
            )
            continue
        span = clipped(proposal.span, window)
        cuts += span != proposal.span
        named = tuple(page for page in proposal.listed_pages if span[0] <= page <= span[-1])
        kept.append(evolve(proposal, span=span, listed_pages=named))
    return kept, faults, cuts


_REVERSED = "the end does not come after the start"
_PAST = "the end is after"


def _outside_reason(proposal: ProposedNode, codec: LocationCodec, window: Span) -> str | None:
    """Return why a proposal is not inside `window`, in the numbers of the answer; None if it is inside."""
    for low, high, first, last in zip(
        lows(proposal.span), highs(proposal.span), lows(window), highs(window), strict=True
    ):
        if high < low or (high == low and not codec.step):
            return _REVERSED
        if low < first and not (codec.unit == "box" and low >= first - codec.end_tolerance):
            return _edge_reason("the start is before the first", codec, first - proposal.shift)
        if low > last or (low >= last and not codec.step):
            return _edge_reason("the start is after the last", codec, last - proposal.shift)
        if high > last + codec.end_tolerance:
            return _edge_reason(f"{_PAST} the last", codec, last - proposal.shift)
    return None


def _edge_reason(what: str, codec: LocationCodec, number: float) -> str:
    if codec.unit == "box":
        return "the box extends beyond the picture"
    if codec.unit == "paragraph":
        return "the location is outside this part of the book"
    return f"{what} {codec.unit} here, which is {shortest(round(number, 3)) if number >= 0 else number}"


def _faulty_field(reason: str, codec: LocationCodec) -> str:
    names = list(codec.fields)
    return names[-1] if reason == _REVERSED or reason.startswith(_PAST) else names[0]
