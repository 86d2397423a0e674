"""What a policy paid for a question, and what it saw."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from attrs import define, field, frozen

from benchmarks.agents.questions import Question

TURNED = 3
"""The number of different pages of a search answer that count as shown."""


@define
class Trace:
    """The calls for one question. `pages` are those that the searches showed, best first, `page` the one that was read
    or quoted, and `quoted` whether the check of the quote succeeded.
    """

    calls: int = 0
    characters: int = 0
    pages: list[int] = field(factory=list)
    page: int | None = None
    quoted: bool = False

    def answered(self, text: str) -> str:
        """Count a call and its answer, and return the answer."""
        self.calls += 1
        self.characters += len(text)
        return text

    def show(self, pages: Sequence[int]) -> None:
        """Remember the pages of a search answer."""
        self.pages += [each for each in pages if each not in self.pages]


@frozen
class Totals:
    """Figures of a policy over all questions."""

    questions: int
    page_first: int
    page_shown: int
    quoted: int
    calls: float
    characters: float
    characters_median: float

    @classmethod
    def of(cls, questions: Sequence[Question], traces: Sequence[Trace]) -> Totals:
        """Sum the traces up, one for each question. A quote counts only if it is on a right page."""
        pairs = list(zip(questions, traces, strict=True))
        return cls(
            questions=len(pairs),
            page_first=sum(trace.page in question.pages for question, trace in pairs),
            page_shown=sum(bool(question.pages & set(trace.pages[:TURNED])) for question, trace in pairs),
            quoted=sum(trace.quoted and trace.page in question.pages for question, trace in pairs),
            calls=statistics.fmean(trace.calls for trace in traces),
            characters=statistics.fmean(trace.characters for trace in traces),
            characters_median=statistics.median(trace.characters for trace in traces),
        )
