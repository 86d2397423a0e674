"""Defines the answers of models to questions, and the results of verifying them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from attrs import field, frozen

from citekit.domain.address import Address
from citekit.domain.model_usage import Usage
from citekit.domain.quotes.verdict import QuoteVerdict

_NUMBER = re.compile(r"\d(?:[\d.,\u00a0\u202f]*\d)?")
_SEPARATORS = re.compile(r"[^\d]")
_DIGITS = 2


@frozen
class Passage:
    """A text that may answer a question, and its location. `best` are the lines that match best, and `place` is their
    location.
    """

    address: Address
    text: str = field(repr=False)
    best: str = field(repr=False)
    place: Address
    score: float


@frozen
class Citation:
    """A quote with which a model supports a statement, and the number (from 1) of the passage that the model quotes."""

    passage: int
    quote: str


@frozen
class Statement:
    """A sentence of a model's answer, and the quotes that support it according to the model."""

    text: str
    citations: Sequence[Citation] = field(converter=tuple[Citation, ...])


@frozen
class Draft:
    """A model's answer before verification. It has no statements if the passages do not answer the question."""

    statements: Sequence[Statement] = field(converter=tuple[Statement, ...])
    cost: Usage = field(factory=Usage)


@frozen
class CheckedQuote:
    """A quote of a model's answer and the verdict on it.

    The cited passage is checked first, then the others. `verdict` is the one for the first passage in which the quote
    holds, or else for the first checked passage. Without a verdict, `problem` is the reason.
    """

    quote: str
    verdict: QuoteVerdict | None
    problem: str = ""

    @property
    def holds(self) -> bool:
        """Whether readers see the quote in a passage."""
        return not self.problem and self.verdict is not None and self.verdict.holds


@frozen
class CheckedStatement:
    """A statement of a model's answer with its checked quotes.

    `unquoted` are the numbers of two or more digits in the statement that are neither in its quotes nor in the
    question.
    """

    text: str
    quotes: Sequence[CheckedQuote] = field(converter=tuple[CheckedQuote, ...])
    unquoted: Sequence[str] = field(default=(), converter=tuple[str, ...])

    @property
    def is_supported(self) -> bool:
        """Whether the statement has quotes and all of them hold."""
        return bool(self.quotes) and all(each.holds for each in self.quotes)


@frozen(kw_only=True)
class CheckedAnswer:
    """A model's answer to a question, with verified quotes.

    `passages` are those that the model saw, best first. `model` is None if no model was asked. `skipped` has the reason
    for each resource that could not be searched.
    """

    question: str
    model: str | None
    passages: Sequence[Passage] = field(converter=tuple[Passage, ...])
    statements: Sequence[CheckedStatement] = field(default=(), converter=tuple[CheckedStatement, ...])
    cost: Usage = field(factory=Usage)
    skipped: Mapping[str, str] = field(factory=dict)

    @property
    def supported(self) -> Sequence[CheckedStatement]:
        """The statements that have quotes and whose quotes all hold."""
        return [each for each in self.statements if each.is_supported]

    @property
    def withheld(self) -> Sequence[CheckedStatement]:
        """The statements that have no quotes or at least one quote that does not hold."""
        return [each for each in self.statements if not each.is_supported]


def unquoted_numbers(statement: str, sources: Sequence[str]) -> list[str]:
    """Return the numbers of two or more digits in `statement` that none of the `sources` contains.

    Separators are ignored, so 1,577.0 and 1577.0 are the same number.
    """
    known = {_digits(number) for source in sources for number in _NUMBER.findall(source)}
    found = dict.fromkeys(number for number in _NUMBER.findall(statement) if len(_digits(number)) >= _DIGITS)
    return [number for number in found if _digits(number) not in known]


def _digits(number: str) -> str:
    return _SEPARATORS.sub("", number)
