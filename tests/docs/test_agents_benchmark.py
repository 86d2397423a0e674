"""The benchmark of agents: the rule for search words, and the policies on a small document."""

from __future__ import annotations

import pymupdf
import pytest

from benchmarks.agents import home, shell
from benchmarks.agents.outcome import Totals, Trace
from benchmarks.agents.policies import best_line, find_and_quote, find_read_and_quote
from benchmarks.agents.questions import Question, search_words, shorter_and_shorter
from benchmarks.agents.tools import Tools, server

QUESTION = Question(
    "hives_2020.pdf", "How many bees does the Queen of HIVES lay in spring? Round to two decimals.", {2}
)
PAGES = ("About this book", "The queen of the bees lays 1,500 eggs a day in spring", "Honey is made in summer")


@pytest.fixture(scope="module")
def material(tmp_path_factory: pytest.TempPathFactory) -> home.Material:
    folder = tmp_path_factory.mktemp("agents")
    with pymupdf.open() as document:  # type: ignore[no-untyped-call]
        for text in PAGES:
            document.new_page().insert_text((72, 72), text)
        document.save(folder / "hives_2020.pdf")
    return home.prepared([folder / "hives_2020.pdf"], set(), folder)


def test_the_words_of_a_search_come_from_the_question_alone() -> None:
    words = search_words(QUESTION.text, QUESTION.document)

    assert ["queen", "spring", "bees", "lay"] == words
    assert [["queen", "spring", "bees"], ["queen", "spring"], ["queen"]] == list(shorter_and_shorter(words))
    assert "queen bees" == best_line(["bees", "queen bees", "queen and bees"], words)


@pytest.mark.long
def test_the_policies_find_the_page_and_count_what_they_read(material: home.Material) -> None:
    with server(material.home) as client:
        tools = Tools(client)
        traces = [policy(tools, "hives_2020", QUESTION) for policy in (find_and_quote, find_read_and_quote)]
    traces += [shell.grep(material.pages / "hives_2020", QUESTION, reads=reads) for reads in (False, True)]

    assert [(2, True)] * 4 == [(trace.page, trace.quoted) for trace in traces]
    assert [2, 3, 2, 3] == [trace.calls for trace in traces]
    assert sum(map(sum, tools.sizes.values())) == sum(trace.characters for trace in traces[:2])


def test_a_quote_on_another_page_does_not_count() -> None:
    right, wrong = Trace(2, 300, [2], 2, quoted=True), Trace(4, 100, [3, 2], 3, quoted=True)

    totals = Totals.of([QUESTION, QUESTION], [right, wrong])

    assert (2, 1, 2, 1) == (totals.questions, totals.page_first, totals.page_shown, totals.quoted)
    assert (3, 200) == (totals.calls, totals.characters)
