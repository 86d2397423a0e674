"""Claims as a tree in which every parent holds its children."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from attrs import define, field

from citekit.adapters.mappers.llm.location_codec import (
    Place,
    Scale,
    cut,
    highs,
    holds,
    lows,
    meets,
    moved,
    stands_out,
    union,
)
from citekit.adapters.mappers.llm.proposals import Claim, Fault


@define(eq=False)
class Branch:
    """A claim, its place as it was put right, and what is below it."""

    claim: Claim
    place: Place
    below: list[Branch] = field(factory=list)

    def walk(self) -> Iterator[Branch]:
        """This branch and all below it, in reading order."""
        yield self
        for branch in self.below:
            yield from branch.walk()


@define
class _Settling:
    scale: Scale
    faults: list[Fault] = field(factory=list)
    widened: int = 0


def settle(claims: Sequence[Claim], scale: Scale) -> tuple[list[Branch], list[Fault], int]:
    """A tree of `claims`, whose places are inside the file; the faults of those left out; how many parents were widened.

    Siblings are put in order of their places (those of pictures stay as told). A parent that does not hold its children is
    widened where these follow one another and no neighbour of the parent is reached; otherwise a child outside is a fault.
    What was below a child that is left out is kept where the parent holds it.
    """
    state = _Settling(scale)
    branches = _ordered(_grown(claims), scale)
    _hold(branches, state)
    return branches, state.faults, state.widened


def _grown(claims: Sequence[Claim]) -> list[Branch]:
    roots: list[Branch] = []
    stack: list[tuple[int, list[Branch]]] = [(0, roots)]
    for claim in claims:
        while stack[-1][0] >= claim.level:
            stack.pop()
        branch = Branch(claim, claim.place)
        stack[-1][1].append(branch)
        stack.append((claim.level, branch.below))
    return roots


def _ordered(branches: list[Branch], scale: Scale) -> list[Branch]:
    if scale.unit != "box":
        branches.sort(key=lambda branch: branch.place[0])
    return branches


def _hold(branches: list[Branch], state: _Settling) -> None:
    """Make each of `branches`, which are in order, hold what is below it."""
    for number, branch in enumerate(branches):
        if not branch.below:
            continue
        told = list(branch.below)
        _hold(_ordered(branch.below, state.scale), state)
        before = branches[number - 1].place if number else None
        after = next((other.place for other in branches[number + 1 :] if other.place[0] > branch.place[0]), None)
        _contain(branch, told, before, after, state)


def _contain(
    branch: Branch, told: Sequence[Branch], before: Place | None, after: Place | None, state: _Settling
) -> None:
    for child in branch.below:
        if 0 < stands_out(child.place, branch.place) <= state.scale.ease and _fits(child, branch.place, state.scale):
            for each in child.walk():
                each.place = cut(each.place, branch.place)
    strays = [child for child in branch.below if not holds(branch.place, child.place)]
    if not strays:
        return
    wide = union([branch.place, *(child.place for child in branch.below)])
    if _may_widen(branch, told, wide, before, after, state.scale):
        branch.place = wide
        state.widened += 1
        return
    branch.below = _ordered(list(_without(branch, strays, state)), state.scale)


def _may_widen(
    branch: Branch, told: Sequence[Branch], wide: Place, before: Place | None, after: Place | None, scale: Scale
) -> bool:
    """Whether the children, as they were told, follow one another from about where the parent is, between its neighbours."""
    if scale.unit == "box":
        return all(meets(branch.place, child.place) for child in told)
    follow = all(earlier.place[0] <= later.place[0] for earlier, later in pairwise(told)) and all(
        later.place[0] <= earlier.place[-1] + max(scale.step, scale.ease) for earlier, later in pairwise(told)
    )
    begins = any(meets(branch.place, child.place) for child in told)
    free = (before is None or before[0] <= wide[0]) and (after is None or wide[-1] <= after[0])
    return follow and begins and free


def _fits(branch: Branch, outer: Place, scale: Scale) -> bool:
    """Whether something is left of every place in `branch` when it is cut to `outer`."""
    return all(_is_place(cut(each.place, outer), scale) for each in branch.walk())


def _is_place(place: Place, scale: Scale) -> bool:
    return all(low < high or (scale.step and low == high) for low, high in zip(lows(place), highs(place), strict=True))


def _without(branch: Branch, strays: Sequence[Branch], state: _Settling) -> Iterator[Branch]:
    """The children of `branch` that it holds, those of its strays among them; the others become faults."""
    for child in branch.below:
        if child not in strays:
            yield child
            continue
        state.faults.append(_stray(child, branch, state))
        for below in child.below:
            if holds(branch.place, below.place):
                yield below
            else:
                state.faults.extend(_stray(each, branch, state) for each in below.walk())


def _stray(child: Branch, parent: Branch, state: _Settling) -> Fault:
    inner, outer = (state.scale.told(moved(each.claim.place, -each.claim.shift)) for each in (child, parent))
    reason = f"{inner} is not inside its parent {parent.claim.title!r}, {outer}"
    return Fault(child.claim.path, reason, child.claim.title)
