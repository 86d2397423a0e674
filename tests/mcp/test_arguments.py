"""Arguments of a call against the schema of its tool."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from citekit.domain.errors import RequestRefused
from citekit.entrypoints.mcp import ingest_tool, list_resources_tool, structure_tool, tools
from citekit.entrypoints.mcp.arguments import checked

TOOLS = [
    ingest_tool.INGEST,
    list_resources_tool.LIST_RESOURCES,
    structure_tool.GET_STRUCTURE,
    tools.GET_NODE,
    tools.RESOLVE,
]
NAMES = sorted({name for tool in TOOLS for name in tool.input_schema["properties"]} | {"other"})
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 3),
    st.floats(allow_nan=False),
    st.sampled_from(["pdf", "text", ""]),
    st.text(),
    st.lists(st.integers(), max_size=2),
    st.dictionaries(st.text(), st.integers(), max_size=1),
)


@given(st.sampled_from(TOOLS), st.dictionaries(st.sampled_from(NAMES), VALUES))
def test_arguments_are_taken_where_the_schema_takes_them_nulls_aside(
    tool: Any, given_arguments: dict[str, Any]
) -> None:
    said = {name: value for name, value in given_arguments.items() if value is not None}
    strict = {**tool.input_schema, "additionalProperties": False}  # left out of the schema that agents pay for
    valid = jsonschema.Draft202012Validator(strict).is_valid(said)

    if not valid:
        with pytest.raises(RequestRefused):
            checked(tool.name, tool.input_schema, given_arguments)
    else:
        assert said == checked(tool.name, tool.input_schema, given_arguments)


def test_no_arguments_at_all_are_none() -> None:
    assert {} == checked("listResources", list_resources_tool.LIST_RESOURCES.input_schema, None)
