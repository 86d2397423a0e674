"""Answers a question with a model, and verifies the quotes of the answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from attrs import evolve, frozen

from citekit.application.rank_pages import RankPages
from citekit.application.verify_quote import VerifyQuote
from citekit.domain.address import Address
from citekit.domain.answering import (
    CheckedAnswer,
    CheckedQuote,
    CheckedStatement,
    Citation,
    Draft,
    Passage,
    unquoted_numbers,
)
from citekit.domain.errors import Cancelled, CiteKitError, FaultyAnswer, MapperUnavailable, in_a_note
from citekit.domain.library.excerpt import around
from citekit.domain.ports.answer_model import AnswerModel
from citekit.domain.progress import Progress, silent
from citekit.domain.quotes.quoted_passages import is_too_short
from citekit.domain.quotes.superscripts import visible_text
from citekit.domain.quotes.verdict import QuoteVerdict
from citekit.domain.ranking.ranked import RankedPage
from citekit.domain.text_search.limits import PASSAGES

LONGEST = 6_000
"""The maximum length of a passage in characters. A longer one is cut around the best lines."""


@frozen
class AnswerQuestion:
    """Finds the best pages, lets a model answer from them with quotes, and verifies the quotes.

    The model only chooses words. `verify` determines whether and where they occur.
    """

    rank: RankPages
    verify: VerifyQuote

    def __call__(
        self,
        question: str,
        resources: Sequence[str] = (),
        *,
        model: AnswerModel | None,
        limit: int = PASSAGES,
        roots: Sequence[Path] = (),
        progress: Progress = silent,
    ) -> CheckedAnswer:
        """Answer the question from the best `limit` pages of `resources` (default: all), or only return these pages if
        `model` is None.

        If statements have no quotes, or quotes that do not hold, the model is asked one more time, and the answer with
        more supported statements is used. Raise the errors of `RankPages` and, for the first request only,
        `MapperUnavailable` if the service fails and `FaultyAnswer` if its answer is unreadable.
        """
        found = self.rank(question, resources, limit=limit, roots=roots, progress=progress)
        passages = [_passage(page) for page in found.pages]
        name = None if model is None else model.name
        answer = CheckedAnswer(question=question, model=name, passages=passages, skipped=found.skipped)
        if model is None or not passages:
            return answer
        texts = [each.text for each in passages]
        with model.conversation() as conversation:
            draft = conversation.answer(question, texts, progress)
            answer = self._checked(answer, draft, roots, progress)
            if not answer.withheld:
                return answer
            try:
                second = conversation.correct(list(_faults(answer.withheld)), progress)
            except (FaultyAnswer, MapperUnavailable):
                return answer  # the first answer was paid for
        corrected = self._checked(answer, second, roots, progress)
        better = corrected if len(corrected.supported) >= len(answer.supported) else answer
        return evolve(better, cost=draft.cost + second.cost)

    def _checked(self, answer: CheckedAnswer, draft: Draft, roots: Sequence[Path], progress: Progress) -> CheckedAnswer:
        statements = []
        for each in draft.statements:
            quotes = [self._checked_quote(citation, answer.passages, roots, progress) for citation in each.citations]
            sources = (answer.question, *(quote.quote for quote in quotes))
            statements.append(CheckedStatement(each.text, quotes, unquoted_numbers(each.text, sources)))
        return evolve(answer, statements=statements, cost=draft.cost)

    def _checked_quote(
        self, citation: Citation, passages: Sequence[Passage], roots: Sequence[Path], progress: Progress
    ) -> CheckedQuote:
        """Check a quote in the passage that the model claims, then in the others: a wrong passage number is tolerated."""
        if is_too_short(citation.quote):
            return CheckedQuote(citation.quote, None, "too short to support a statement")
        claimed = passages[citation.passage - 1 : citation.passage] if citation.passage > 0 else []
        first: QuoteVerdict | None = None
        problem = ""
        for passage in (*claimed, *(each for each in passages if each not in claimed)):
            try:
                verdict = self.verify(passage.address, citation.quote, roots=roots, progress=progress)
            except Cancelled:
                raise
            except CiteKitError as error:
                problem = problem or in_a_note(error).rstrip(".")
                continue
            if verdict.holds:
                return CheckedQuote(citation.quote, verdict)
            first = first or verdict
        return CheckedQuote(citation.quote, first, "" if first else problem)


def _passage(page: RankedPage) -> Passage:
    start, end = around(page.block.text, page.start, page.end, LONGEST)
    return Passage(
        Address(page.resource_id, page.extent),
        visible_text(page.block.text[start:end]),
        page.text,
        Address(page.resource_id, page.location),
        page.score,
    )


def _faults(withheld: Sequence[CheckedStatement]) -> Iterator[str]:
    """Yield a sentence for the model about each quote that does not hold, and about each statement without quotes."""
    for statement in withheld:
        if not statement.quotes:
            yield f"The statement {statement.text!r} has no quote."
        for quote in statement.quotes:
            if not quote.holds:
                is_altered = quote.verdict is not None and quote.verdict.altered is not None
                shown = "it changes what the passage says" if is_altered else "no passage shows these words"
                yield f"The quote {quote.quote!r} does not hold: {quote.problem or shown}."
