"""Lists of quotes, and quotes without a resource, checked by the official Python client of a real server process."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from mcp_types import TextContent

from citekit.entrypoints.mcp.verify_quote_tool import ANSWER
from tests.mcp.server_process import Served, node


def answered(served: Served, **arguments: Any) -> tuple[dict[str, Any], str]:
    result = served.call("verifyQuote", **arguments)
    assert not result.is_error, result.content
    assert result.structured_content is not None
    jsonschema.validate(result.structured_content, ANSWER)
    assert isinstance(result.content[0], TextContent)
    return result.structured_content, result.content[0].text


def test_each_quote_of_a_list_gets_its_verdict_with_the_whole_line(served: Served) -> None:
    quotes: list[Any] = [
        "line 35",
        {"quote": "LINE 36", "node_id": "lines=36"},
        {"quote": "line 35", "node_id": "text://notes#lines=1-9"},
        {"quote": "zeppelin"},
        {"quote": "line 1", "resource_id": "none"},
        {"quote": "..."},
    ]
    plain, text = answered(served, resource_id="notes", quotes=quotes)

    verdicts = plain["verdicts"]
    assert ["exact", "normalised", "elsewhere", "absent"] == [each["finding"] for each in verdicts[:4]]
    assert ("text://notes#lines=35", "line 35") == tuple(verdicts[0]["places"][0][key] for key in ("address", "line"))
    assert all("error" in each for each in verdicts[4:])
    assert (
        "1. exact\ntext://notes#lines=35\n  > line 35\n2. normalised\ntext://notes#lines=36  (differs in case)" in text
    )
    assert "4. absent" in text


def test_an_error_of_a_list_names_what_an_agent_can_do(served: Served) -> None:
    source = served.home.source("changing")
    served.home.add("changing", node("intro", 1, 20))
    source.write_text("# Notes\n\nOther words.\n")

    plain, _ = answered(served, resource_id="changing", quotes=["line 3", "line 4"])

    assert all("call resolve with remap: true" in each["error"] for each in plain["verdicts"])
    assert not any("--" in each["error"] for each in plain["verdicts"])


@pytest.mark.long
def test_a_quote_without_a_resource_is_looked_up_in_everything(served: Served) -> None:
    plain, _ = answered(served, quote="line 35")

    assert ("exact", True, "notes") == (plain["finding"], plain["holds"], plain["resource_id"])
    assert "text://notes#lines=35" == plain["places"][0]["address"]
    assert 1 <= plain["searched"]
    absent, _ = answered(served, quote="zeppelins over the hive")
    assert ("absent", False, None, []) == tuple(absent[key] for key in ("finding", "holds", "resource_id", "places"))


def test_the_text_of_one_verdict_has_the_finding_the_address_and_the_whole_line(served: Served) -> None:
    plain, text = answered(served, resource_id="notes", quote="line 35")

    assert {"address", "text", "line", "exact", "visible", "differences"} == set(plain["places"][0])
    assert "searched" not in plain
    assert text == "exact\ntext://notes#lines=35\n  > line 35"


def test_the_text_of_a_verdict_says_what_the_quote_leaves_out(served: Served) -> None:
    _, text = answered(served, resource_id="notes", quote="line 35 ... line 37")

    assert "  left out: line 36" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "exactly one of the arguments quote"),
        ({"quote": "a", "quotes": ["b"]}, "exactly one of the arguments quote"),
        ({"quotes": []}, "from 1 to 20"),
        ({"quotes": ["a"] * 21}, "from 1 to 20"),
        ({"quotes": "a"}, "a list of objects"),
        ({"quotes": [3]}, "quotes[0] must be an object"),
        ({"quotes": [{"node_id": "x"}]}, "requires the argument quote"),
        ({"quote": "line 35", "node_id": "body"}, "needs a resource_id"),
    ],
)
def test_bad_arguments_are_refused_in_one_sentence(served: Served, arguments: dict[str, Any], message: str) -> None:
    result = served.call("verifyQuote", **arguments)

    assert result.is_error
    assert isinstance(result.content[0], TextContent)
    assert message in result.content[0].text
