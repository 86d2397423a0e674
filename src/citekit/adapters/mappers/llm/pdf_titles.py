"""Checks whether titles are on the pages of a PDF to which the model assigned them.

Only letters and digits are compared, without case and in compatibility form (Unicode NFKC, which splits ligatures).
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache

from attrs import define, evolve, field, frozen

from citekit.adapters.mappers.llm.proposals import Fault, ProposedNode
from citekit.adapters.mappers.llm.title_words import folded
from citekit.domain.phrases import series
from citekit.domain.vocabulary import APPENDIX, CHAPTER, PART, SECTION, TOC_HEADING, any_of

_NUMBERED = re.compile(
    rf"^\s*(?:(?:{any_of(CHAPTER, SECTION, PART, APPENDIX)})\s+)?"
    r"(?:\d{1,3}(?:\.\d{1,3})*|[ivxlc]{1,6}|[A-Z])(?:[.:)]|\s*[-–—]|(?=\s))\s*(?=\S)",
    re.I,
)
_MIN_LETTERS = 3
_DISTINCTIVE = 6
_SIMILARITY = 0.84
_LINES_OF_TITLE = 3
_MIN_TEXT = 20
_MIN_TOC_TITLES = 5
_MIN_TITLES_BELOW_HEADING = 2
_TOC_HEADINGS = frozenset(folded(heading) for heading in TOC_HEADING)


@lru_cache(maxsize=100_000)
def folded_heading(text: str) -> str:
    """Return the letters and digits of `text` for comparison, without a number at its beginning unless nothing else is
    left.
    """
    return folded(_NUMBERED.sub("", text)) or folded(text)


@frozen
class PageText:
    """The text of a page for comparison with titles: its lines without leading numbers, and the whole text."""

    lines: tuple[str, ...]
    whole: str


@define
class PdfText:
    """The pages of a PDF with an index of their lines, to find the pages on which a title is one to three lines.

    `known_titles` are (title, page) pairs that count as lines.
    """

    pages: Sequence[PageText]
    known_titles: Sequence[tuple[str, int]] = ()
    _at: dict[str, list[int]] = field(factory=lambda: defaultdict(list), init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        for number, page in enumerate(self.pages, 1):
            for line in dict.fromkeys(_joined_lines(page.lines)):
                self._at[line].append(number)
        for title, marked in self.known_titles:
            self._at[folded_heading(title)].append(marked)

    def headed(self, title: str) -> list[int]:
        """Return the pages (from 1) with a line that is exactly `title`, apart from its number.

        Of consecutive pages, such as those with a running header, only the first is returned.
        """
        found = sorted({*self._at.get(folded_heading(title), ()), *self._at.get(folded(title), ())})
        return [page for n, page in enumerate(found) if n == 0 or found[n - 1] < page - 1]

    def says(self, title: str, page: int) -> bool:
        """Return whether a line of `page` (from 1) is exactly `title`, apart from its number."""
        return page in self._at.get(folded_heading(title), ()) or page in self._at.get(folded(title), ())

    def mentions(self, title: str, page: int) -> bool:
        """Return whether `page` (from 1) contains `title` anywhere or has a line similar to it. Short titles do not
        count.
        """
        if not 1 <= page <= len(self.pages):
            return False
        wanted = folded_heading(title)
        text = self.pages[page - 1]
        return (len(wanted) >= _DISTINCTIVE and wanted in text.whole) or any(
            _is_similar(wanted, line) for line in text.lines
        )

    def has_text(self, page: int) -> bool:
        """Return whether `page` (from 1) has enough text to compare."""
        return 1 <= page <= len(self.pages) and len(self.pages[page - 1].whole) >= _MIN_TEXT


def pdf_text(pages: Iterable[Sequence[str]], marks: Sequence[tuple[str, int]]) -> PdfText:
    """Return the text of a PDF for comparison with titles, from the lines of its `pages`.

    `marks` are known titles as (title, page) pairs.
    """
    return PdfText([_page_text(lines) for lines in pages], marks)


def _page_text(lines: Sequence[str]) -> PageText:
    whole = "".join(folded(line) for line in lines)
    return PageText(tuple(kept for line in lines if (kept := folded_heading(line))), whole)


def _joined_lines(lines: Sequence[str]) -> Iterator[str]:
    """Yield each line and each two or three consecutive lines, joined, that have at most 200 characters."""
    for start in range(len(lines)):
        phrase = ""
        for line in lines[start : start + _LINES_OF_TITLE]:
            phrase += line
            if len(phrase) > 200:
                break
            yield phrase


def _is_similar(wanted: str, line: str) -> bool:
    if len(wanted) < _DISTINCTIVE or not 0.7 <= len(line) / len(wanted) <= 1.4:
        return False
    matcher = SequenceMatcher(None, wanted, line, autojunk=False)
    return matcher.quick_ratio() >= _SIMILARITY and matcher.ratio() >= _SIMILARITY


@frozen
class PageMatch:
    """The result of comparing titles with the pages of a PDF: the valid proposals, possibly moved, and faults."""

    proposals: Sequence[ProposedNode]
    faults: Sequence[Fault]
    notes: Sequence[str] = ()


def page_offset(proposals: Sequence[ProposedNode], text: PdfText) -> int:
    """Return the number to add to the pages of most proposals to correct them; 0 if there is no common offset.

    An offset arises if a model uses printed page numbers or continues the count of an earlier window.
    """
    contents = _toc_pages(proposals, text)
    votes: Counter[int] = Counter()
    voters = 0
    for proposal in proposals:
        pages = [page for page in text.headed(proposal.title) if page not in contents]
        if len(folded(proposal.title)) < _MIN_LETTERS or not pages:
            continue
        voters += 1
        votes.update({page - int(proposal.span[0]) for page in pages})
        if int(proposal.span[0]) not in contents and text.says(proposal.title, int(proposal.span[0])):
            votes[0] += 0 not in {page - int(proposal.span[0]) for page in pages}
    if not votes:
        return 0
    best, count = max(votes.items(), key=lambda vote: (vote[1], -abs(vote[0])))
    most = count >= 3 and count * 5 >= voters * 3 and votes[0] * 2 < count
    return best if most or (count == voters == 2 and not votes[0]) else 0


def match_pages(proposals: Sequence[ProposedNode], text: PdfText, window: tuple[int, int]) -> PageMatch:
    """Move each proposal to the page with its title if this is a neighbor of the proposed page.

    If neither the proposed page nor its neighbors have the title, the proposal is a fault if the title is a heading on
    other pages of `window` (the first and last page that the model received); otherwise, it stays unchanged. Proposals
    with very short titles, outside `window`, or on pages without text are not checked.
    """
    contents = _toc_pages(proposals, text)
    kept: list[ProposedNode] = []
    faults: list[Fault] = []
    moves = 0
    for proposal in proposals:
        page = int(proposal.span[0])
        if len(folded(proposal.title)) < _MIN_LETTERS or not window[0] <= page <= window[1] or not text.has_text(page):
            kept.append(proposal)
            continue
        right = _title_page(proposal.title, page, text, contents, window)
        if right is None:
            elsewhere = [p for p in text.headed(proposal.title) if p not in contents and window[0] <= p <= window[1]]
            if elsewhere:
                faults.append(_misplaced_fault(proposal, elsewhere))
            else:
                kept.append(proposal)
            continue
        moves += right != page
        kept.append(proposal if right == page else _moved_to(proposal, right))
    notes = [f"Nodes that were moved to an adjacent page that contains their title: {moves}."] if moves else []
    return PageMatch(kept, faults, notes)


def _title_page(title: str, page: int, text: PdfText, contents: frozenset[int], window: tuple[int, int]) -> int | None:
    """Return the page with `title`, which is `page` or a neighbor inside `window`; None if no such page has it.

    A page on which the title is a line is preferred. Pages of a table of contents (`contents`) are skipped.
    """
    near = [page] + [p for p in (page + 1, page - 1) if window[0] <= p <= window[1]]
    near = [p for p in near if p not in contents] or [page]
    headed = next((p for p in near if text.says(title, p)), None)
    if headed is not None:
        return headed
    return next((p for p in near if text.mentions(title, p)), None)


def _moved_to(proposal: ProposedNode, page: int) -> ProposedNode:
    first, last = page, max(page, int(proposal.span[1]))
    return evolve(proposal, span=(first, last), listed_pages=())


def _misplaced_fault(proposal: ProposedNode, pages: Sequence[int]) -> Fault:
    numbers = [*(str(page - int(proposal.shift)) for page in pages[:4]), *(["others"] if len(pages) > 4 else [])]
    found = f"{'page' if len(pages) == 1 else 'pages'} {series(numbers)}"
    reason = (
        f"the part does not begin on page {int(proposal.span[0] - proposal.shift)}; its title is a heading on {found}"
    )
    return Fault(f"{proposal.path}.first_page", reason, proposal.title)


def _toc_pages(proposals: Sequence[ProposedNode], text: PdfText) -> frozenset[int]:
    """Return the pages of a table of contents: those with many of the proposed titles that are headings on other pages."""
    titles = {proposal.title for proposal in proposals if len(folded_heading(proposal.title)) >= _MIN_LETTERS}
    headed = {title: text.headed(title) for title in titles}
    listed: Counter[int] = Counter()
    for title in titles:
        wanted = folded_heading(title)
        for number, page in enumerate(text.pages, 1):
            if len(headed[title]) > (number in headed[title]) and wanted in page.whole:
                listed[number] += 1
    enough = max(_MIN_TOC_TITLES, len(titles) * 2 // 5)
    return frozenset(
        page
        for page, count in listed.items()
        if count >= (_MIN_TITLES_BELOW_HEADING if _TOC_HEADINGS.intersection(text.pages[page - 1].lines) else enough)
    )
