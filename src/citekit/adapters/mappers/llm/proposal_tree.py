"""Arranges proposed nodes as a tree in which every parent contains its children."""

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
    """A proposed node in a tree, with its span after repairs and its children."""

    proposal: ProposedNode
    span: Span
    children: list[Branch] = field(factory=list)

    def walk(self) -> Iterator[Branch]:
        """Yield this branch and its descendants in reading order."""
        yield self
        for branch in self.children:
            yield from branch.walk()


@define
class _TreeState:
    codec: LocationCodec
    faults: list[Fault] = field(factory=list)
    widened: int = 0


def build_tree(proposals: Sequence[ProposedNode], codec: LocationCodec) -> tuple[list[Branch], list[Fault], int]:
    """Return `proposals` as trees, the faults of the proposals that were left out, and the number of widened parents.

    The spans must be inside the file. Siblings are sorted by their starts, except in pictures. A child that extends
    beyond its parent is clipped within the codec's tolerance; otherwise, the parent is widened. If it cannot be
    widened, the child is a fault, and its own children that are inside the parent are attached to the parent.
    """
    state = _TreeState(codec)
    branches = _sorted_by_start(_nested(proposals), codec)
    _contain_children(branches, state)
    return branches, state.faults, state.widened


def _nested(proposals: Sequence[ProposedNode]) -> list[Branch]:
    roots: list[Branch] = []
    stack: list[tuple[int, list[Branch]]] = [(0, roots)]
    for proposal in proposals:
        while stack[-1][0] >= proposal.level:
            stack.pop()
        branch = Branch(proposal, proposal.span)
        stack[-1][1].append(branch)
        stack.append((proposal.level, branch.children))
    return roots


def _sorted_by_start(branches: list[Branch], codec: LocationCodec) -> list[Branch]:
    if codec.unit != "box":
        branches.sort(key=lambda branch: branch.span[0])
    return branches


def _contain_children(branches: list[Branch], state: _TreeState) -> None:
    """Make each of `branches`, which are sorted by position, contain its children."""
    for number, branch in enumerate(branches):
        if not branch.children:
            continue
        original = list(branch.children)
        _contain_children(_sorted_by_start(branch.children, state.codec), state)
        before = branches[number - 1].span if number else None
        after = next((other.span for other in branches[number + 1 :] if other.span[0] > branch.span[0]), None)
        _fit_children(branch, original, before, after, state)


def _fit_children(
    branch: Branch, original: Sequence[Branch], before: Span | None, after: Span | None, state: _TreeState
) -> None:
    for child in branch.children:
        if 0 < overhang(child.span, branch.span) <= state.codec.parent_tolerance and _survives_clipping(
            child, branch.span, state.codec
        ):
            for each in child.walk():
                each.span = clipped(each.span, branch.span)
    outside = [child for child in branch.children if not contains(branch.span, child.span)]
    if not outside:
        return
    wide = union([branch.span, *(child.span for child in branch.children)])
    if _may_widen(branch, original, wide, before, after, state.codec):
        branch.span = wide
        state.widened += 1
        return
    branch.children = _sorted_by_start(list(_children_inside(branch, outside, state)), state.codec)


def _may_widen(
    branch: Branch,
    original: Sequence[Branch],
    wide: Span,
    before: Span | None,
    after: Span | None,
    codec: LocationCodec,
) -> bool:
    """Return whether `branch` may be widened to the span `wide` to contain its children.

    The children, in the order of the answer (`original`), must follow one another without gaps, one of them must touch
    the branch, and `wide` must neither begin earlier than the span `before` nor end after the beginning of the span
    `after`. In pictures, each child must touch the branch.
    """
    if codec.unit == "box":
        return all(touches(branch.span, child.span) for child in original)
    follow = all(earlier.span[0] <= later.span[0] for earlier, later in pairwise(original)) and all(
        later.span[0] <= earlier.span[-1] + max(codec.step, codec.parent_tolerance)
        for earlier, later in pairwise(original)
    )
    begins = any(touches(branch.span, child.span) for child in original)
    free = (before is None or before[0] <= wide[0]) and (after is None or wide[-1] <= after[0])
    return follow and begins and free


def _survives_clipping(branch: Branch, outer: Span, codec: LocationCodec) -> bool:
    """Return whether the spans in `branch` are still valid after clipping to `outer`."""
    return all(_is_valid_span(clipped(each.span, outer), codec) for each in branch.walk())


def _is_valid_span(span: Span, codec: LocationCodec) -> bool:
    return all(low < high or (codec.step and low == high) for low, high in zip(lows(span), highs(span), strict=True))


def _children_inside(branch: Branch, outside: Sequence[Branch], state: _TreeState) -> Iterator[Branch]:
    """Yield the children of `branch` that are inside it, and add faults for the others (`outside`).

    Children of the others are yielded if they are inside `branch`.
    """
    for child in branch.children:
        if child not in outside:
            yield child
            continue
        state.faults.append(_outside_parent(child, branch, state))
        for children in child.children:
            if contains(branch.span, children.span):
                yield children
            else:
                state.faults.append(_outside_parent(children, branch, state))
                state.faults.extend(_below_omitted(each, children) for each in children.walk() if each is not children)


def _below_omitted(node: Branch, omitted: Branch) -> Fault:
    reason = f"it is below {omitted.proposal.title!r}, whose location is not valid"
    return Fault(node.proposal.path, reason, node.proposal.title)


def _outside_parent(child: Branch, parent: Branch, state: _TreeState) -> Fault:
    inner, outer = (state.codec.describe(shifted(each.span, -each.proposal.shift)) for each in (child, parent))
    own = contains(child.proposal.span, child.span)
    what = "the location" if own else "the location including its children"
    reason = f"{what} ({inner}) is not inside that of {parent.proposal.title!r} ({outer}), to which the node belongs"
    return Fault(child.proposal.path, reason, child.proposal.title)
