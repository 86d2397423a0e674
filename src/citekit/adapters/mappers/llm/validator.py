"""Validates the nodes of an answer against the file.

Faults with one safe correction are repaired; the others are reported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import evolve, field, frozen

from citekit.adapters.mappers.llm.answers import RawNode
from citekit.adapters.mappers.llm.location_codec import LocationCodec, shifted
from citekit.adapters.mappers.llm.pdf_titles import PdfText, match_pages, page_offset
from citekit.adapters.mappers.llm.proposal_tree import Branch, build_tree
from citekit.adapters.mappers.llm.proposals import Fault, ProposedNode, clip_to_window, read_proposals
from citekit.adapters.mappers.llm.snapping import Definition, snap_to_definitions
from citekit.adapters.mappers.llm.title_context import TitleCheck, TitleContext, check_titles
from citekit.adapters.mappers.llm.title_words import folded
from citekit.adapters.mappers.llm.windows import Window

_OFFSET = (
    "Most page numbers of the model were too {way} by {pages}, as the titles on the pages show (the model probably gave "
    "printed page numbers, not positions in the file). These numbers were corrected."
)


@frozen
class ValidatedAnswer:
    """The result of validating an answer: valid nodes as trees, the faults of invalid nodes, and notes about repairs.

    `titles_unchecked` counts the titles of nodes without text.
    """

    branches: Sequence[Branch]
    faults: Sequence[Fault]
    notes: Sequence[str]
    titles_checked: int = 0
    titles_found: int = 0
    titles_unchecked: int = 0

    @property
    def is_invented(self) -> bool:
        """Whether fewer than a third of the checked titles are in the file."""
        return self.titles_found * 3 < self.titles_checked


@frozen(kw_only=True)
class AnswerValidator:
    """Validates answers about one file.

    `pdf` and `text` contain its text, if it has any, and `definitions` its definitions and headings. `code` is whether
    it is source code. A node without a type gets `default_type`.
    """

    codec: LocationCodec
    default_type: str
    pdf: PdfText | None = None
    text: TitleContext | None = None
    definitions: Mapping[str, Sequence[Definition]] = field(factory=dict)
    code: bool = False

    def validate(self, items: Sequence[RawNode], window: Window) -> ValidatedAnswer:
        """Return the valid nodes of an answer about `window`, and the faults of the other nodes."""
        proposals, faults = read_proposals(items, self.codec, self.default_type)
        shift = _shift(proposals, window)
        proposals, notes = self._counted([proposal.moved(shift) for proposal in proposals], shift)
        proposals, wrong = self._snapped(proposals, notes)
        faults += wrong
        proposals, wrong, cuts = clip_to_window(proposals, self.codec, window.span)
        faults += wrong
        if cuts:
            notes.append(
                f"Locations that extended slightly beyond the file (or the part that was sent) and were shortened: {cuts}."
            )
        proposals, misplaced = self._titled(proposals, window, notes)
        faults += misplaced
        proposals = _without_duplicates(proposals, notes)
        proposals, grounded = self._grounded(proposals)
        faults += grounded.faults
        branches, wrong, widened = build_tree(proposals, self.codec)
        faults += wrong
        if widened:
            notes.append(f"Nodes that were widened to contain their children: {widened}.")
        titles_checked, found = grounded.titles_checked + len(misplaced), grounded.titles_found
        return ValidatedAnswer(branches, faults, notes, titles_checked, found, grounded.titles_unchecked)

    def _counted(self, proposals: list[ProposedNode], shift: float) -> tuple[list[ProposedNode], list[str]]:
        """Return the proposals, with pages corrected if most are wrong by the same offset, and notes for the user."""
        by = page_offset(proposals, self.pdf) if self.pdf is not None else 0
        if self.pdf is None or not by:
            return proposals, []
        moved = [proposal if _heads_page(proposal, by, self.pdf) else proposal.moved(by) for proposal in proposals]
        error = min(by, by + int(shift), key=abs)  # relative to the window, or to the whole file
        return moved, [_OFFSET.format(pages=abs(error), way="low" if error > 0 else "high")] if error else []

    def _snapped(self, proposals: list[ProposedNode], notes: list[str]) -> tuple[list[ProposedNode], list[Fault]]:
        if not self.definitions:
            return proposals, []
        proposals, faults, moves = snap_to_definitions(proposals, self.definitions, code=self.code)
        if moves:
            notes.append(f"Nodes that were moved to the exact lines of their definitions or headings: {moves}.")
        return proposals, faults

    def _titled(
        self, proposals: list[ProposedNode], window: Window, notes: list[str]
    ) -> tuple[list[ProposedNode], Sequence[Fault]]:
        if self.pdf is None:
            return proposals, []
        checked = match_pages(proposals, self.pdf, (int(window.span[0]), int(window.span[1])))
        notes.extend(checked.notes)
        return list(checked.proposals), checked.faults

    def _grounded(self, proposals: list[ProposedNode]) -> tuple[list[ProposedNode], TitleCheck]:
        """Return the proposals whose titles are in the text, or all if there is no text, and the result of the check."""
        if self.text is None:
            return proposals, TitleCheck(0, 0, (), len(proposals))
        grounded = check_titles(proposals, self.text, lambda each: self.codec.describe(shifted(each.span, -each.shift)))
        return _remove_nodes(proposals, {fault.node for fault in grounded.faults}), grounded


def _without_duplicates(proposals: Sequence[ProposedNode], notes: list[str]) -> list[ProposedNode]:
    """Return the proposals without those that repeat the title and the location of an earlier one, and add a note."""
    kept = {(folded(proposal.title) or proposal.title, proposal.span): proposal for proposal in reversed(proposals)}
    unique = [
        proposal for proposal in proposals if kept[folded(proposal.title) or proposal.title, proposal.span] is proposal
    ]
    if len(unique) < len(proposals):
        notes.append(f"Duplicate nodes (same title and location) that were left out: {len(proposals) - len(unique)}.")
    return unique


def _remove_nodes(proposals: Sequence[ProposedNode], gone: set[str]) -> list[ProposedNode]:
    """Return the proposals without those whose path is in `gone`. The descendants of removed ones move up one level."""
    kept: list[ProposedNode] = []
    above: list[int] = []
    for proposal in proposals:
        while above and proposal.level <= above[-1]:
            above.pop()
        if proposal.path in gone:
            above.append(proposal.level)
        else:
            kept.append(evolve(proposal, level=proposal.level - len(above)))
    return kept


def _shift(proposals: Sequence[ProposedNode], window: Window) -> float:
    """Return the number to add to the locations in an answer about `window` to get locations in the file.

    It is 0 if the model did not count from the start of the window.
    """
    if not window.shift or not proposals:
        return window.shift
    length = window.span[-1] - window.shift
    whole = all(window.span[0] <= proposal.span[0] and proposal.span[-1] <= window.span[-1] for proposal in proposals)
    return 0 if whole and any(proposal.span[-1] > length for proposal in proposals) else window.shift


def _heads_page(proposal: ProposedNode, by: int, text: PdfText) -> bool:
    page = int(proposal.span[0])
    return text.says(proposal.title, page) and not text.says(proposal.title, page + by)


def merge_windows(trees: Sequence[Sequence[Branch]]) -> list[Branch]:
    """Return the trees of consecutive windows as one list, with nodes that continue in the next window merged.

    These are the last node of a window and the first of the next if they have the same title, apart from case and
    "(continued)", and the second does not end before the first.
    """
    whole: list[Branch] = []
    for tree in trees:
        rest = list(tree)
        if whole and rest and _continues(whole[-1], rest[0]):
            first = rest.pop(0)
            last = whole[-1]
            half = len(last.span) // 2
            last.span = (*last.span[:half], *first.span[half:])
            last.proposal = evolve(last.proposal, listed_pages=())
            last.children = merge_windows([last.children, first.children])
        whole += rest
    return whole


def _continues(one: Branch, other: Branch) -> bool:
    titles = [branch.proposal.title.casefold().removesuffix("(continued)").strip() for branch in (one, other)]
    return titles[0] == titles[1] and one.span[-1] <= other.span[-1]
