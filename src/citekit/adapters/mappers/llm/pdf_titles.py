"""Checks whether titles are on the pages of a PDF that the model names.

The comparison uses letters and digits only, in compatibility form (Unicode NFKC, which splits ligatures) and without
case, so that line breaks, hyphens, and spacing do not matter.
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
from citekit.domain.vocabulary import APPENDIX, CHAPTER, PART, SECTION, any_of

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


@lru_cache(maxsize=100_000)
def folded_heading(text: str) -> str:
    """`text` folded, without the number at its beginning, unless nothing else is left."""
    return folded(_NUMBERED.sub("", text)) or folded(text)


@frozen
class PageText:
    """A page: its lines folded as headings, and its whole text folded."""

    lines: tuple[str, ...]
    whole: str


@define
class PdfText:
    """The pages of a PDF, and an index of the pages where a line (or two or three consecutive lines) is a given title.

    `known_titles` are titles with pages from the file itself (bookmarks); they count like lines on these pages.
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
        """The pages with a line that is exactly `title`; for a running header, the first page of each run."""
        found = sorted({*self._at.get(folded_heading(title), ()), *self._at.get(folded(title), ())})
        return [page for n, page in enumerate(found) if n == 0 or found[n - 1] < page - 1]

    def says(self, title: str, page: int) -> bool:
        """Whether a line of `page` is exactly `title`, even as a running header."""
        return page in self._at.get(folded_heading(title), ()) or page in self._at.get(folded(title), ())

    def mentions(self, title: str, page: int) -> bool:
        """Whether `page` holds the words of `title` somewhere, or a line that is similar to it."""
        if not 1 <= page <= len(self.pages):
            return False
        wanted = folded_heading(title)
        text = self.pages[page - 1]
        return (len(wanted) >= _DISTINCTIVE and wanted in text.whole) or any(
            _is_similar(wanted, line) for line in text.lines
        )

    def has_text(self, page: int) -> bool:
        """Whether `page` has text to compare; a scan has none."""
        return 1 <= page <= len(self.pages) and len(self.pages[page - 1].whole) >= _MIN_TEXT


def pdf_text(pages: Iterable[Sequence[str]], marks: Sequence[tuple[str, int]]) -> PdfText:
    """The text of a PDF whose pages have these lines; `marks` are the known titles of `PdfText`."""
    return PdfText([_page_text(lines) for lines in pages], marks)


def _page_text(lines: Sequence[str]) -> PageText:
    whole = "".join(folded(line) for line in lines)
    return PageText(tuple(kept for line in lines if (kept := folded_heading(line))), whole)


def _joined_lines(lines: Sequence[str]) -> Iterator[str]:
    """Each line, and each two or three consecutive lines joined, up to 200 characters."""
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
    """The proposals that stay after their titles were compared with the pages, and the faults of those that are
    elsewhere."""

    proposals: Sequence[ProposedNode]
    faults: Sequence[Fault]
    notes: Sequence[str] = ()


def page_offset(proposals: Sequence[ProposedNode], text: PdfText) -> int:
    """The offset that the pages of most proposals share; 0 if there is none.

    Models produce an offset when they use printed page numbers, or continue to count in a part of a file.
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
    """Move each proposal to the page with its title, if that is a neighbor of its page.

    It is a fault if the title is a heading on other pages of `window` (the part of the file that the model got), but
    not on its own page. A title that is no heading anywhere stays: `check_titles` decides whether its words are in the
    file.
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
    notes = [f"Sections that were moved to the adjacent page, which has their title: {moves}."] if moves else []
    return PageMatch(kept, faults, notes)


def _title_page(title: str, page: int, text: PdfText, contents: frozenset[int], window: tuple[int, int]) -> int | None:
    """The page with `title`: `page`, else a neighbor. A page with the title as a line precedes one that only mentions
    it."""
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
    page_numbers = ", ".join(str(page - int(proposal.shift)) for page in pages[:4])
    reason = f"the title is not on page {int(proposal.span[0] - proposal.shift)}; it heads page {page_numbers}"
    return Fault(f"{proposal.path}.first_page", reason, proposal.title)


def _toc_pages(proposals: Sequence[ProposedNode], text: PdfText) -> frozenset[int]:
    """Pages that only list titles: most titles on them are also headings of other pages."""
    titles = {proposal.title for proposal in proposals if len(folded_heading(proposal.title)) >= _MIN_LETTERS}
    headed = {title: text.headed(title) for title in titles}
    listed: Counter[int] = Counter()
    for title in titles:
        wanted = folded_heading(title)
        for number, page in enumerate(text.pages, 1):
            if len(headed[title]) > (number in headed[title]) and wanted in page.whole:
                listed[number] += 1
    enough = max(_MIN_TOC_TITLES, len(titles) * 2 // 5)
    return frozenset(page for page, count in listed.items() if count >= enough)
