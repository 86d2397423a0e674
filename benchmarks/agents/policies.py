"""Fixed policies of a scripted agent with CiteKit's tools. The document is known, its page is not."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from benchmarks.agents.outcome import Trace
from benchmarks.agents.questions import WORDS, Question, search_words
from benchmarks.agents.tools import Tools, pages_in
from citekit.domain.words import words_of

LIMIT = 5
"""The number of matches or passages that a search asks for."""

_ABSENT = re.compile(r"^Not in the searched text: (.+)$", re.MULTILINE)
_CITABLE = re.compile(r"^\d*\.?\s*(?:exact|normalised)\s*$", re.MULTILINE)

Policy = Callable[[Tools, str, Question], Trace]


def find_and_quote(tools: Tools, resource_id: str, question: Question) -> Trace:
    """findText until it finds something, then verifyQuote of the first line that it shows."""
    trace = Trace()
    answer, words = _find(tools, trace, resource_id, question)
    if trace.pages:
        _quote(tools, trace, resource_id, best_line(_shown(answer, trace.pages[0]), words))
    return trace


def find_read_and_quote(tools: Tools, resource_id: str, question: Question) -> Trace:
    """findText until it finds something, then readText of the first page, then verifyQuote of its best line."""
    trace = Trace()
    _, words = _find(tools, trace, resource_id, question)
    if trace.pages:
        _read_and_quote(tools, trace, resource_id, words)
    return trace


def query_read_and_quote(tools: Tools, resource_id: str, question: Question) -> Trace:
    """alexandria_query with the whole question and the title of the document, then as above."""
    trace = Trace()
    title = question.document.removesuffix(".pdf")
    arguments = {"query": question.text, "title": title, "limit": LIMIT, "threshold": 0.0, "guardian": "none"}
    trace.show(pages_in(trace.answered(tools.text("alexandria_query", arguments))))
    if trace.pages:
        _read_and_quote(tools, trace, resource_id, search_words(question.text, question.document))
    return trace


POLICIES: Mapping[str, Policy] = {
    "findText, verifyQuote": find_and_quote,
    "findText, readText, verifyQuote": find_read_and_quote,
    "alexandria_query, readText, verifyQuote": query_read_and_quote,
}


def _find(tools: Tools, trace: Trace, resource_id: str, question: Question) -> tuple[str, list[str]]:
    """Search until something is found: without the words that an answer calls absent, or else with one word fewer."""
    left = search_words(question.text, question.document)
    count, answer, words = WORDS, "", left
    while left and not trace.pages:
        words = left[:count]
        arguments = {"query": " ".join(words), "resource_ids": [resource_id], "limit": LIMIT}
        answer = trace.answered(tools.text("findText", arguments))
        trace.show(pages_in(answer))
        absent = _ABSENT.search(answer)
        if absent:
            left = [word for word in left if word not in words_of(absent[1])]
        else:
            count = len(words) - 1
            left = left[:count]
    return answer, words


def _shown(answer: str, page: int) -> list[str]:
    """The matching lines below the address of a page."""
    lines: list[str] = []
    inside = False
    for line in answer.splitlines():
        if "#pages=" in line and not line.startswith(" "):
            inside = f"#pages={page}" == (re.search(r"#pages=\d+", line) or [""])[0]
        elif inside and line.startswith("  > "):
            lines.append(line.removeprefix("  > "))
    return lines


def _read_and_quote(tools: Tools, trace: Trace, resource_id: str, words: Sequence[str]) -> None:
    part = {"resource_id": resource_id, "node_id": f"pages={trace.pages[0]}"}
    text = trace.answered(tools.text("readText", part))
    lines = [line.strip() for line in text.splitlines()[1:] if not line.strip().startswith(("[", "##"))]
    _quote(tools, trace, resource_id, best_line(lines, words))


def _quote(tools: Tools, trace: Trace, resource_id: str, line: str) -> None:
    trace.page = trace.pages[0]
    if not line:
        return
    part = {"resource_id": resource_id, "node_id": f"pages={trace.page}", "quotes": [line.replace(" | ", " ")]}
    trace.quoted = bool(_CITABLE.search(trace.answered(tools.text("verifyQuote", part))))


def best_line(lines: Sequence[str], words: Sequence[str]) -> str:
    """The line with the most different words of the search, the first of several, in at most 200 characters."""
    wanted = set(words)
    best = max(lines, key=lambda line: len(wanted & set(words_of(line))), default="")
    return best if len(best) <= 200 else best[:200].rpartition(" ")[0]
