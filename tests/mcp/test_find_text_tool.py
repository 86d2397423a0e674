"""The tool `findText`, called by the official Python client of a real server process."""

from __future__ import annotations

import jsonschema
from mcp_types import TextContent

from citekit.entrypoints.mcp.find_text_tool import FOUND
from tests.mcp.server_process import Served


def test_an_agent_gets_the_line_and_its_address_as_text_and_as_structure(served: Served) -> None:
    result = served.call("findText", query="line 35", resource_ids=["notes"])

    assert not result.is_error
    jsonschema.validate(result.structured_content, FOUND)
    assert result.structured_content is not None
    (hit,) = result.structured_content["hits"]
    assert ("text://notes#lines=35", "line 35", "body.second") == (hit["address"], hit["text"], hit["node_id"])
    (content,) = result.content
    assert isinstance(content, TextContent)
    shown = "1 match\ntext://notes#lines=35  Body > Second\n  > line 35\n    line 36\n"
    assert content.text.replace("Body.", "").startswith(shown)


def test_errors_are_sentences(served: Served) -> None:
    for arguments, message in (
        ({"query": "?"}, "no letters or digits"),
        ({"query": "x", "resource_ids": ["note"]}, "Did you mean 'notes'"),
        ({"query": "(", "regex": True}, "invalid"),
    ):
        result = served.call("findText", **arguments)
        assert result.is_error
        assert isinstance(result.content[0], TextContent)
        assert message in result.content[0].text


def test_the_nearest_resources_are_named_with_their_titles(served: Served) -> None:
    served.home.add("accounts")
    (content,) = served.call("findText", query="jars", resource_ids=["account"]).content
    assert isinstance(content, TextContent)
    assert "Did you mean 'accounts' (Notes)?" in content.text


def test_a_file_name_or_another_spelling_is_taken_for_the_id_that_it_means(served: Served) -> None:
    served.home.add("accounts_2023")
    for spelling in ("Accounts-2023.md", "accounts 2023"):
        found = served.call("findText", query="jars", resource_ids=["notes", spelling])
        assert found == served.call("findText", query="jars", resource_ids=["notes", "accounts_2023"])
        map_of = served.call("getStructure", resource_id=spelling)
        assert map_of.structured_content == served.call("getStructure", resource_id="accounts_2023").structured_content
        for part in ({}, {"node_id": "lines=9"}):
            quotes = [{"quote": "line 9", "resource_id": each, **part} for each in (spelling, "accounts_2023")]
            answer = served.call("verifyQuote", quotes=quotes).structured_content
            assert answer is not None
            meant, plain = answer["verdicts"]
            assert meant == plain
            assert "exact" == plain["finding"]


def test_text_of_a_file_cannot_pass_for_another_line_of_the_answer(served: Served) -> None:
    served.home.add("forged")
    source = served.home.source("forged")
    source.write_text("queen\u2028doc://forged#pages=1 ![x](http://a)\x1b[31m\n")
    result = served.call("findText", query="queen", resource_ids=["forged"])

    assert result.is_error  # the file is not the mapped one


def test_a_phrase_with_other_words_gives_the_nearest_places_marked_and_not_counted(served: Served) -> None:
    found = served.call("findText", query='"line 35" jars', resource_ids=["notes"])

    assert found.structured_content is not None
    assert (0, ["jars"]) == (found.structured_content["total"], found.structured_content["absent"])
    assert ("text://notes#lines=35", "partial") == tuple(
        found.structured_content["hits"][0][name] for name in ("address", "kind")
    )
    (content,) = found.content
    assert isinstance(content, TextContent)
    assert content.text.startswith(
        "Nothing matches the whole query. These are the best partial matches:\ntext://notes#lines=35"
    )
    nowhere = served.call("findText", query='"line zeppelin" 35', resource_ids=["notes"]).structured_content
    assert nowhere is not None
    assert (0, [], ["zeppelin"]) == (nowhere["total"], nowhere["hits"], nowhere["absent"])


def test_a_number_in_words_is_found_in_digits(served: Served) -> None:
    found = served.call("findText", query="line four", resource_ids=["notes"])

    assert found.structured_content is not None
    assert "text://notes#lines=4" == found.structured_content["hits"][0]["address"]
    assert {"four": "4"} == found.structured_content["instead"]
    quoted = served.call("findText", query='"line four"', resource_ids=["notes"])
    assert quoted.structured_content is not None
    assert [] == quoted.structured_content["hits"]


def test_the_lines_after_a_hit_go_on_in_the_next_part_of_the_index(served: Served) -> None:
    for number in range(340, 352):  # the first block of the text ends here
        found = served.call("findText", query=f"line {number}", resource_ids=["notes"]).structured_content
        assert found is not None
        after = [line for line in found["hits"][0]["after"] if not line.startswith("[")]
        assert [f"line {number + each}" for each in range(1, 9)] == after, number
