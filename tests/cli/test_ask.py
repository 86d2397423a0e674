"""`citekit ask` from a shell, with local servers that behave as the services document."""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.cli.program import Cli
from tests.services.gemini_server import KEY as GEMINI_KEY
from tests.services.gemini_server import GeminiServer
from tests.services.openai_server import KEY as OPENAI_KEY
from tests.services.openai_server import OpenAiServer, Step

QUOTE = "In winter, the hive eats honey."
ANSWER = json.dumps({"statements": [{"text": "It eats honey.", "quotes": [{"passage": 1, "quote": QUOTE}]}]})
INVENTED = ANSWER.replace(QUOTE, "In winter, the hive eats cake.")


@pytest.fixture
def bees(cli: Cli) -> Cli:
    cli.write("bees.md", f"# Bees\n\n## Winter food\n\n{QUOTE}\n")
    cli("ingest", "bees.md")
    return cli


@pytest.fixture
def gemini() -> Iterator[GeminiServer]:
    server = GeminiServer()
    server.answer = ANSWER
    yield server
    server.close()


def answers(text: str) -> Any:
    return lambda _body: text


def test_an_openai_model_answers_and_its_quote_is_verified(bees: Cli) -> None:
    with OpenAiServer(answer=answers(ANSWER)) as server:
        asked = ("ask", "What does the hive eat in winter?", "--base-url", server.url)
        shown = bees(*asked, OPENAI_API_KEY=OPENAI_KEY)
        plain = bees(*asked, "--json", OPENAI_API_KEY=OPENAI_KEY).document

    assert 0 == shown.code, shown.err
    assert ["It eats honey.", "  exact  text://bees_md#lines=5", f'  > "{QUOTE}"'] == shown.out.splitlines()[:3]
    assert "1 request" in shown.out.splitlines()[3]
    (statement,) = plain["statements"]
    assert ("exact", True) == (statement["quotes"][0]["finding"], statement["quotes"][0]["holds"])
    assert OPENAI_KEY not in json.dumps(plain)


@pytest.mark.long
def test_a_gemini_model_answers(bees: Cli, gemini: GeminiServer) -> None:
    shown = bees("ask", "What does the hive eat?", GEMINI_API_KEY=GEMINI_KEY, CITEKIT_BASE_URL=gemini.url)

    assert (0, "It eats honey.") == (shown.code, shown.out.splitlines()[0]), shown.err
    assert not gemini.of("upload")


@pytest.mark.long
def test_an_invented_quote_is_withheld_and_fails(bees: Cli) -> None:
    with OpenAiServer(answer=answers(INVENTED)) as server:
        shown = bees("ask", "What does the hive eat?", "--base-url", server.url, OPENAI_API_KEY=OPENAI_KEY)

    assert 1 == shown.code
    assert "Not supported by quotes" in shown.out.splitlines()[0]
    assert "no statement is supported" in shown.err
    assert 2 == len(server.requests)


@pytest.mark.long
def test_a_budget_and_a_service_that_fails(bees: Cli) -> None:
    with OpenAiServer(answer=answers(INVENTED)) as server:
        asked = ("ask", "What does the hive eat?", "--base-url", server.url, "--max-requests", "1")
        assert 1 == bees(*asked, OPENAI_API_KEY=OPENAI_KEY).code
    assert 1 == len(server.requests)
    with OpenAiServer(script=[Step(status=503)] * 3) as server:
        failed = bees(*asked[:2], "--base-url", server.url, OPENAI_API_KEY=OPENAI_KEY, CITEKIT_RETRIES="0")
    assert (1, "") == (failed.code, failed.out)
    assert "503" in failed.err
    assert "--service none" in failed.err


@pytest.mark.long
def test_without_a_model_the_best_pages_are_shown_and_a_note_says_why(bees: Cli) -> None:
    shown = bees("ask", "What does the hive eat in winter?")

    assert 0 == shown.code
    assert shown.out.startswith("text://bees_md#lines=5  ")  # the line that is shown, not the whole page
    assert QUOTE in shown.out
    assert "No model was asked" in shown.err
    assert "No model" not in bees("ask", "hive", "--service", "none").err


def test_nothing_to_answer_from(bees: Cli) -> None:
    assert "no letters or digits" in bees("ask", "???").err
    assert 1 == bees("ask", "hive", "--resource", "nothing").code
    assert 1 == bees("ask", "hive", "--home", "elsewhere").code
