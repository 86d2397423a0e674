"""Corrects the line numbers of proposals with the definitions and headings that the local mapper found."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from attrs import evolve, frozen

from citekit.adapters.mappers.llm.location_codec import LocationCodec, Span, touches
from citekit.adapters.mappers.llm.proposals import Fault, ProposedNode
from citekit.domain.node import Node

_KEYWORDS = (
    "async",
    "def",
    "class",
    "function",
    "func",
    "fn",
    "method",
    "struct",
    "interface",
    "enum",
    "public",
    "static",
)
_NEAR_LINES = 5
_MIN_LETTERS = 3


@frozen
class Definition:
    """A definition in code or a heading in text: its title and its first and last line."""

    title: str
    span: Span


@lru_cache(maxsize=50_000)
def symbol_name(title: str) -> str:
    """Return the name in a title, normalized: `add` for `async def Shelf.add(self, book)`, and `2usage` for `## 2.
    Usage`.
    """
    head = title.partition("(")[0] if _looks_like_code(title) else title
    words = head.replace("::", ".").split()
    while len(words) > 1 and words[0].strip("`*").lower() in _KEYWORDS:
        words.pop(0)
    text = " ".join(words)
    text = text.rpartition(".")[2] if "." in text and " " not in text else text
    return "".join(character for character in text.casefold() if character.isalnum() or character == "_")


def _looks_like_code(title: str) -> bool:
    head, bracket, _ = title.partition("(")
    return bool(bracket) and head[-1:].isidentifier()


def definitions_of(nodes: Iterable[Node], codec: LocationCodec) -> Mapping[str, Sequence[Definition]]:
    """Return the definitions and headings in `nodes`, grouped by their normalized names of at least three characters."""
    found: dict[str, list[Definition]] = defaultdict(list)
    for top in nodes:
        for node in top.walk():
            span = codec.from_location(node.location)
            if span is not None and len(symbol_name(node.title)) >= _MIN_LETTERS:
                found[symbol_name(node.title)].append(Definition(node.title, span))
    return found


def snap_to_definitions(
    proposals: Sequence[ProposedNode], known: Mapping[str, Sequence[Definition]], *, code: bool
) -> tuple[list[ProposedNode], list[Fault], int]:
    """Move proposals to the lines of the nearest definition that they name, if the proposed lines nearly match.

    Return the proposals without faulty ones, the faults, and the number of moved proposals. In code, a proposal is
    faulty if its name is defined only once, and on entirely different lines.
    """
    kept: list[ProposedNode] = []
    faults: list[Fault] = []
    moves = 0
    for proposal in proposals:
        named = known.get(symbol_name(proposal.title), ())
        best = min(named, key=lambda each: _distance(each.span, proposal.span), default=None)
        if best is not None and _is_near(best.span, proposal.span):
            moves += best.span != proposal.span
            kept.append(evolve(proposal, span=best.span))
        elif best is not None and code and len(named) == 1 and not touches(best.span, proposal.span):
            faults.append(_misplaced_fault(proposal, best))
        else:
            kept.append(proposal)
    return kept, faults, moves


def _distance(one: Span, other: Span) -> float:
    return abs(one[0] - other[0]) + abs(one[1] - other[1])


def _is_near(real: Span, proposed: Span) -> bool:
    """Return whether two line spans share at least half of the lines that they cover, or start and end on nearly the
    same lines.
    """
    shared = min(real[1], proposed[1]) - max(real[0], proposed[0]) + 1
    both = max(real[1], proposed[1]) - min(real[0], proposed[0]) + 1
    near = max(_NEAR_LINES, (real[1] - real[0]) * 0.1)
    return shared * 2 >= both or (abs(real[0] - proposed[0]) <= near and abs(real[1] - proposed[1]) <= near)


def _misplaced_fault(proposal: ProposedNode, real: Definition) -> Fault:
    reason = f"{real.title!r} is on {_lines(real.span)}, not on {_lines(proposal.span)}"
    return Fault(f"{proposal.path}.first_line", reason, proposal.title)


def _lines(span: Span) -> str:
    first, last = int(span[0]), int(span[1])
    return f"line {first}" if first == last else f"lines {first}-{last}"
