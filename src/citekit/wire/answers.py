"""Converts answers to questions to plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from citekit.wire.quotes import to_plain_with_lines

if TYPE_CHECKING:
    from citekit.domain.answering import CheckedAnswer, CheckedQuote, CheckedStatement


def to_plain(answer: CheckedAnswer) -> dict[str, Any]:
    """Return an answer as plain data.

    `statements` are those that have quotes, all of which hold; the others are `withheld`. `passages` are those for the
    model, best first: the address and the text of their best lines. `model` is null if no model was asked. `skipped` has the
    reason for each resource that could not be searched; it is missing if there are none.
    """
    return {
        "question": answer.question,
        "model": answer.model,
        "statements": [_statement(each) for each in answer.supported],
        "withheld": [_statement(each) for each in answer.withheld],
        "passages": [
            {"address": str(each.place), "score": round(each.score, 4), "text": each.best} for each in answer.passages
        ],
        "requests": answer.cost.requests,
        "input_tokens": answer.cost.input_tokens,
        "output_tokens": answer.cost.output_tokens,
        **({"skipped": dict(answer.skipped)} if answer.skipped else {}),
    }


def _statement(statement: CheckedStatement) -> dict[str, Any]:
    return {
        "text": statement.text,
        "quotes": [_quote(each) for each in statement.quotes],
        "unquoted_numbers": list(statement.unquoted),
    }


def _quote(quote: CheckedQuote) -> dict[str, Any]:
    plain: dict[str, Any] = {"quote": quote.quote, "holds": quote.holds}
    if quote.verdict is not None:
        verdict = to_plain_with_lines(quote.verdict)
        plain |= {name: verdict[name] for name in ("finding", "visible", "places", "near")}
    if quote.problem:
        plain["problem"] = quote.problem
    return plain
