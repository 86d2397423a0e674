"""Recognizes the statements of a financial report, in questions and headings.

Their names come from the International Financial Reporting Standards (IAS 1) and from company filings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

_STATEMENTS: Mapping[str, str] = {
    "position": r"balance[\s-]+sheets?|statements?\s+of\s+financial\s+(?:position|condition)|bilanz|konzernbilanz|bilan"
    r"|balance\s+general|stato\s+patrimoniale",
    "income": r"income\s+statements?|profit\s+and\s+loss(?:\s+(?:statement|account)s?)?|p\s?&\s?l"
    r"|statements?\s+of\s+(?:(?:consolidated|comprehensive|net)\s+)*(?:income|operations|earnings)(?:\s+\(loss\))?"
    r"|gewinn-?\s+und\s+verlustrechnung|compte\s+de\s+résultat|cuenta\s+de\s+resultados|conto\s+economico",
    "cash": r"cash[\s-]+flows?\s+statements?|statements?\s+of\s+(?:consolidated\s+)?cash[\s-]+flows?|kapitalflussrechnung"
    r"|tableau\s+des\s+flux\s+de\s+trésorerie|rendiconto\s+finanziario",
}  # fmt: skip
_NAMES = "|".join(f"(?P<{kind}>{names})" for kind, names in _STATEMENTS.items())
_IN_QUESTION = re.compile(rf"(?<!\w)(?:{_NAMES})(?!\w)", re.IGNORECASE)
_HEADING = (
    r"\W*(?:(?:condensed|consolidated|consolidating|unaudited|interim|combined|company|group|supplemental)\s+)*"
    rf"(?:{_NAMES})(?:\s*[\(\u2014\u2013-].{{0,60}}|,?\s+(?:for|as\s+of|at)\s.{{0,60}})?\W*"
)
"""Compiled on first use, because only indexing needs it."""

_LONGEST = 160
_ITEMS: Mapping[str, re.Pattern[str]] = {
    "position": re.compile(
        r"current assets|current liabilities|total assets|equity|receivable|payable|inventories|debt"
    ),
    "income": re.compile(r"sales|revenue|income|gross profit|cost of|earnings per share|interest expense"),
    "cash": re.compile(r"operating activities|purchases of property|dividends paid|depreciation amortization"),
}


def statements_named(question: str) -> Iterator[str]:
    """Yield the kinds of statements that a question names."""
    for found in _IN_QUESTION.finditer(question):
        if found.lastgroup is not None:
            yield found.lastgroup


def statements_with(items: str) -> Iterator[str]:
    """Yield the kinds of statements that have one of the `items` of a metric."""
    return (kind for kind, pattern in _ITEMS.items() if pattern.search(items))


def statement_of(line: str) -> str | None:
    """Return the kind of statement whose heading `line` is, or None."""
    found = re.fullmatch(_HEADING, line, re.IGNORECASE) if len(line) <= _LONGEST else None
    return found.lastgroup if found is not None else None
