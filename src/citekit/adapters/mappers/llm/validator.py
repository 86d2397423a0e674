"""An answer held against the file: what of it is right, what could be put right without asking, what is wrong."""

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
    "Page numbers were told {pages} too {way} throughout (printed numbers, not those of the file), which the titles on the "
    "pages show; they were put right."
)


@frozen
class ValidatedAnswer:
    """A sound tree, the faults of what is not in it, and sentences about what was put right.

    `sought` titles could be looked for in the text of the file, and `found` of them are there.
    """

    branches: Sequence[Branch]
    faults: Sequence[Fault]
    notes: Sequence[str]
    sought: int = 0
    found: int = 0

    @property
    def is_invented(self) -> bool:
        """Whether fewer than a third of the titles are in the file."""
        return self.found * 3 < self.sought


@frozen(kw_only=True)
class AnswerValidator:
    """What answers about one file are validated against: its `scale`, its text, the definitions in its lines."""

    scale: LocationCodec
    default_type: str
    pdf: PdfText | None = None
    text: TitleContext | None = None
    known: Mapping[str, Sequence[Definition]] = field(factory=dict)
    code: bool = False

    def examine(self, items: Sequence[RawNode], piece: Window) -> ValidatedAnswer:
        """What the nodes of an answer about `piece` are worth."""
        claims, faults = read_proposals(items, self.scale, self.default_type)
        shift = _shift(claims, piece)
        claims, notes = self._counted([claim.moved(shift) for claim in claims], shift)
        claims, wrong = self._snapped(claims, notes)
        faults += wrong
        claims, wrong, cuts = clip_to_window(claims, self.scale, piece.window)
        faults += wrong
        if cuts:
            notes.append(f"Places that reached just beyond the end and were cut to it: {cuts}.")
        claims, misplaced = self._titled(claims, piece, notes)
        faults += misplaced
        claims = _without_duplicates(claims, notes)
        claims, grounded = self._grounded(claims)
        faults += grounded.faults
        branches, wrong, widened = build_tree(claims, self.scale)
        faults += wrong
        if widened:
            notes.append(f"Parts that were widened to hold the parts below them: {widened}.")
        sought, found = grounded.sought + len(misplaced), grounded.found
        return ValidatedAnswer(branches, faults, notes, sought, found)

    def _counted(self, claims: list[ProposedNode], shift: float) -> tuple[list[ProposedNode], list[str]]:
        """The claims with a constant offset of their pages put right; one that is right as it stands stays."""
        by = page_offset(claims, self.pdf) if self.pdf is not None else 0
        if self.pdf is None or not by:
            return claims, []
        moved = [claim if _heads_page(claim, by, self.pdf) else claim.moved(by) for claim in claims]
        told = min(by, by + int(shift), key=abs)  # by how much it was wrong about the piece, or about the whole file
        return moved, [_OFFSET.format(pages=abs(told), way="low" if told > 0 else "high")] if told else []

    def _snapped(self, claims: list[ProposedNode], notes: list[str]) -> tuple[list[ProposedNode], list[Fault]]:
        if not self.known:
            return claims, []
        claims, faults, moves = snap_to_definitions(claims, self.known, code=self.code)
        if moves:
            notes.append(f"Parts that were put on the exact lines of what they name: {moves}.")
        return claims, faults

    def _titled(
        self, claims: list[ProposedNode], piece: Window, notes: list[str]
    ) -> tuple[list[ProposedNode], Sequence[Fault]]:
        if self.pdf is None:
            return claims, []
        checked = match_pages(claims, self.pdf, (int(piece.window[0]), int(piece.window[1])))
        notes.extend(checked.notes)
        return list(checked.claims), checked.faults

    def _grounded(self, claims: list[ProposedNode]) -> tuple[list[ProposedNode], TitleCheck]:
        """The claims whose titles are in the text; what was below another one moves up to where that was."""
        if self.text is None:
            return claims, TitleCheck(0, 0, ())
        grounded = check_titles(claims, self.text, lambda claim: self.scale.told(shifted(claim.place, -claim.shift)))
        return _remove_nodes(claims, {fault.node for fault in grounded.faults}), grounded


def _without_duplicates(claims: Sequence[ProposedNode], notes: list[str]) -> list[ProposedNode]:
    """The claims without those that repeat the title and the place of an earlier one."""
    kept = {(folded(claim.title) or claim.title, claim.place): claim for claim in reversed(claims)}
    unique = [claim for claim in claims if kept[folded(claim.title) or claim.title, claim.place] is claim]
    if len(unique) < len(claims):
        notes.append(f"Duplicates (same title, same place) that were left out: {len(claims) - len(unique)}.")
    return unique


def _remove_nodes(claims: Sequence[ProposedNode], gone: set[str]) -> list[ProposedNode]:
    """The claims but those at the paths `gone`; each level below one of these is one less."""
    kept: list[ProposedNode] = []
    above: list[int] = []
    for claim in claims:
        while above and claim.level <= above[-1]:
            above.pop()
        if claim.path in gone:
            above.append(claim.level)
        else:
            kept.append(evolve(claim, level=claim.level - len(above)))
    return kept


def _shift(claims: Sequence[ProposedNode], piece: Window) -> float:
    """What is added to the numbers of an answer about `piece`; nothing where they can only be those of the whole file."""
    if not piece.shift or not claims:
        return piece.shift
    length = piece.window[-1] - piece.shift
    whole = all(piece.window[0] <= claim.place[0] and claim.place[-1] <= piece.window[-1] for claim in claims)
    return 0 if whole and any(claim.place[-1] > length for claim in claims) else piece.shift


def _heads_page(claim: ProposedNode, by: int, text: PdfText) -> bool:
    page = int(claim.place[0])
    return text.says(claim.title, page) and not text.says(claim.title, page + by)


def merge_windows(trees: Sequence[Sequence[Branch]]) -> list[Branch]:
    """The trees of pieces in a row as one; a part that goes on in the next piece under the same title is one part."""
    whole: list[Branch] = []
    for tree in trees:
        rest = list(tree)
        if whole and rest and _continues(whole[-1], rest[0]):
            first = rest.pop(0)
            last = whole[-1]
            half = len(last.place) // 2
            last.place = (*last.place[:half], *first.place[half:])
            last.claim = evolve(last.claim, named=())
            last.below = merge_windows([last.below, first.below])
        whole += rest
    return whole


def _continues(one: Branch, other: Branch) -> bool:
    titles = [branch.claim.title.casefold().removesuffix("(continued)").strip() for branch in (one, other)]
    return titles[0] == titles[1] and one.place[-1] <= other.place[-1]
