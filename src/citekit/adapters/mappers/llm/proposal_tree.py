"""Claims as a tree in which every parent holds its children."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from attrs import define, field

from citekit.adapters.mappers.llm.location_codec import (
    LocationCodec,
    Span,
    clipped,
    contains,
    highs,
    lows,
    overhang,
    shifted,
    touches,
    union,
)
from citekit.adapters.mappers.llm.proposals import Fault, ProposedNode


@define(eq=False)
class Branch:
    """A claim, its place as it was put right, and what is below it."""

    claim: ProposedNode
    place: Span
    below: list[Branch] = field(factory=list)

    def walk(self) -> Iterator[Branch]:
        """This branch and all below it, in reading order."""
        yield self
        for branch in self.below:
            yield from branch.walk()


@define
class _TreeState:
    scale: LocationCodec
    faults: list[Fault] = field(factory=list)
    widened: int = 0


def build_tree(claims: Sequence[ProposedNode], scale: LocationCodec) -> tuple[list[Branch], list[Fault], int]:
    """A tree of `claims`, whose places are inside the file; the faults of those left out; how many parents were widened.

    Siblings are put in order of their places (those of pictures stay as told). A parent that does not hold its children is
    widened where these follow one another and no neighbour of the parent is reached; otherwise a child outside is a fault.
    What was below a child that is left out is kept where the parent holds it.
    """
    state = _TreeState(scale)
    branches = _sorted_by_start(_nested(claims), scale)
    _contain_children(branches, state)
    return branches, state.faults, state.widened


def _nested(claims: Sequence[ProposedNode]) -> list[Branch]:
    roots: list[Branch] = []
    stack: list[tuple[int, list[Branch]]] = [(0, roots)]
    for claim in claims:
        while stack[-1][0] >= claim.level:
            stack.pop()
        branch = Branch(claim, claim.place)
        stack[-1][1].append(branch)
        stack.append((claim.level, branch.below))
    return roots


def _sorted_by_start(branches: list[Branch], scale: LocationCodec) -> list[Branch]:
    if scale.unit != "box":
        branches.sort(key=lambda branch: branch.place[0])
    return branches


def _contain_children(branches: list[Branch], state: _TreeState) -> None:
    """Make each of `branches`, which are in order, hold what is below it."""
    for number, branch in enumerate(branches):
        if not branch.below:
            continue
        told = list(branch.below)
        _contain_children(_sorted_by_start(branch.below, state.scale), state)
        before = branches[number - 1].place if number else None
        after = next((other.place for other in branches[number + 1 :] if other.place[0] > branch.place[0]), None)
        _fit_children(branch, told, before, after, state)


def _fit_children(
    branch: Branch, told: Sequence[Branch], before: Span | None, after: Span | None, state: _TreeState
) -> None:
    for child in branch.below:
        if 0 < overhang(child.place, branch.place) <= state.scale.ease and _survives_clipping(
            child, branch.place, state.scale
        ):
            for each in child.walk():
                each.place = clipped(each.place, branch.place)
    strays = [child for child in branch.below if not contains(branch.place, child.place)]
    if not strays:
        return
    wide = union([branch.place, *(child.place for child in branch.below)])
    if _may_widen(branch, told, wide, before, after, state.scale):
        branch.place = wide
        state.widened += 1
        return
    branch.below = _sorted_by_start(list(_children_inside(branch, strays, state)), state.scale)


def _may_widen(
    branch: Branch, told: Sequence[Branch], wide: Span, before: Span | None, after: Span | None, scale: LocationCodec
) -> bool:
    """Whether the children, as they were told, follow one another from about where the parent is, between its neighbours."""
    if scale.unit == "box":
        return all(touches(branch.place, child.place) for child in told)
    follow = all(earlier.place[0] <= later.place[0] for earlier, later in pairwise(told)) and all(
        later.place[0] <= earlier.place[-1] + max(scale.step, scale.ease) for earlier, later in pairwise(told)
    )
    begins = any(touches(branch.place, child.place) for child in told)
    free = (before is None or before[0] <= wide[0]) and (after is None or wide[-1] <= after[0])
    return follow and begins and free


def _survives_clipping(branch: Branch, outer: Span, scale: LocationCodec) -> bool:
    """Whether something is left of every place in `branch` when it is cut to `outer`."""
    return all(_is_valid_span(clipped(each.place, outer), scale) for each in branch.walk())


def _is_valid_span(place: Span, scale: LocationCodec) -> bool:
    return all(low < high or (scale.step and low == high) for low, high in zip(lows(place), highs(place), strict=True))


def _children_inside(branch: Branch, strays: Sequence[Branch], state: _TreeState) -> Iterator[Branch]:
    """The children of `branch` that it holds, those of its strays among them; the others become faults."""
    for child in branch.below:
        if child not in strays:
            yield child
            continue
        state.faults.append(_outside_parent(child, branch, state))
        for below in child.below:
            if contains(branch.place, below.place):
                yield below
            else:
                state.faults.extend(_outside_parent(each, branch, state) for each in below.walk())


def _outside_parent(child: Branch, parent: Branch, state: _TreeState) -> Fault:
    inner, outer = (state.scale.told(shifted(each.claim.place, -each.claim.shift)) for each in (child, parent))
    reason = f"{inner} is not inside its parent {parent.claim.title!r}, {outer}"
    return Fault(child.claim.path, reason, child.claim.title)
