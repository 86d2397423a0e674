"""Answers that pass by the SDK arrive as those that go through it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from mcp_types import JSONRPCResponse, ResourceLink

from citekit.entrypoints.mcp.answers import Answer
from citekit.entrypoints.mcp.response_bypass import Parcels
from tests.mcp.server_process import Home, Wire, node

_TEXTS = st.text(st.characters(codec="utf-8"), max_size=30)
_PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | _TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXTS, inner, max_size=4),
    max_leaves=12,
)


def line_of(result: Any, request: int | str = 7) -> bytes:
    """A result as the wire writes it."""
    plain = result.model_dump(by_alias=True, mode="json", exclude_none=True)
    return JSONRPCResponse(jsonrpc="2.0", id=request, result=plain).model_dump_json(by_alias=True).encode()


@given(st.dictionaries(_TEXTS, _PLAIN, max_size=5), st.booleans(), _TEXTS)
def test_what_arrives_is_what_was_answered(plain: dict[str, Any], with_links: bool, name: str) -> None:
    answer = Answer.of(plain, (ResourceLink(uri="file:///a", name=name, description=f'"{name}"', mime_type="a/b"),))
    parcels = Parcels()
    parcels.expect(7)

    whole = line_of(answer.result(whole=with_links))
    filled = parcels.filled(7, line_of(parcels.hand_over(7, answer, whole=with_links)))

    assert json.loads(whole) == json.loads(filled)


def test_a_name_that_is_no_text_is_written_with_question_marks() -> None:
    answer = Answer.of({"title": "a\udcffb"})

    assert b'{"title":"a?b"}' == answer.data


def test_an_answer_that_was_withdrawn_meanwhile_says_nothing() -> None:
    parcels = Parcels()
    parcels.expect("a")
    line = line_of(parcels.hand_over("a", Answer.of({"secret": 1}), whole=True), "a")
    parcels.drop("a")

    written = json.loads(parcels.filled("a", line))

    assert [{"text": "{}", "type": "text"}] == written["result"]["content"]
    assert {} == written["result"]["structuredContent"]


def test_an_answer_that_nobody_expects_goes_as_it_is() -> None:
    answer = Answer.of({"a": 1})

    result = Parcels().hand_over(7, answer, whole=True)

    assert answer.result(whole=True) == result


def test_nothing_is_kept_of_what_was_sent() -> None:
    parcels = Parcels()
    parcels.expect(7)
    line = line_of(parcels.hand_over(7, Answer.of({"a": 1}), whole=True))

    first, second = parcels.filled(7, line), parcels.filled(7, line)

    assert b'{"a":1}' in first
    assert b'{"a":1}' not in second


def test_calls_that_are_asked_at_once_get_each_their_own_answer(home: Home, wire: Callable[..., Wire]) -> None:
    home.add("large", *(node(f"part_{number}", 1, 2, summary="x" * 300) for number in range(400)))
    client = wire()
    asked: dict[int, str | None] = {}
    for round_ in range(4):
        for name in ("intro", "body", "intro.aim"):
            asked[client.start("tools/call", _call("getNode", resource_id="notes", node_id=name))] = name
        asked[client.start("tools/call", _call("getStructure", resource_id="large"))] = "large"
        asked[client.start("tools/call", _call("getNode", resource_id="notes", node_id=f"none_{round_}"))] = None

    answers = {message["id"]: message["result"] for message in (client.read() for _ in asked)}

    assert set(asked) == set(answers)
    for number, about in asked.items():
        assert about == _named(answers[number])


def _call(tool: str, **arguments: object) -> dict[str, object]:
    return {"name": tool, "arguments": arguments}


def _named(result: dict[str, Any]) -> str | None:
    """What the answer is about: text and structure say the same."""
    if result.get("isError"):
        return None
    structure = result["structuredContent"]
    assert structure == json.loads(result["content"][0]["text"])
    return str(structure.get("id") or structure["resource_id"])


def test_answers_to_requests_of_one_id_are_not_mixed_up() -> None:
    parcels = Parcels()
    parcels.expect(7)
    first = line_of(parcels.hand_over(7, Answer.of({"a": 1}), whole=True))
    parcels.expect(7)
    second = line_of(parcels.hand_over(7, Answer.of({"b": 2}), whole=True))

    written = []
    for line in (second, first):
        written.append(json.loads(parcels.filled(7, line))["result"]["structuredContent"])
        parcels.drop(7)

    assert [{"b": 2}, {"a": 1}] == written
    assert {} == parcels._held
