"""Schemas by the rules of strict structured outputs, and answers held against them."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from citekit.adapters.mappers.llm.openai.strict_schema import may_match, strict, without_wrapping
from tests.services.openai_server import _not_strict, example

_LEAVES = st.one_of(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["string", "integer", "number"])},
        optional={"description": st.text(max_size=5), "title": st.just("T")},
    ),
    st.fixed_dictionaries({"type": st.just("string"), "enum": st.lists(st.text(max_size=3), min_size=1, unique=True)}),
)


def _larger(children: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    objects = st.dictionaries(st.text("abc", min_size=1, max_size=2), children, max_size=4).flatmap(
        lambda properties: st.lists(st.sampled_from([*properties] or [""]), unique=True).map(
            lambda names: {
                "type": "object",
                "properties": properties,
                "required": [name for name in names if name in properties],
                "propertyOrdering": list(properties),
            }
        )
    )
    arrays = st.fixed_dictionaries(
        {"type": st.just("array"), "items": children}, optional={"minItems": st.integers(0, 2)}
    )
    return objects | arrays


SCHEMAS = st.recursive(_LEAVES, _larger, max_leaves=10)


@given(SCHEMAS)
def test_every_schema_keeps_the_rules_of_strict_mode(schema: dict[str, Any]) -> None:
    assert _not_strict(strict(schema)) is None
    jsonschema.Draft202012Validator.check_schema(strict(schema))


@pytest.mark.long
@given(SCHEMAS)
def test_what_fits_the_strict_schema_fits_the_given_one_without_its_nulls(schema: dict[str, Any]) -> None:
    answer = example(strict(schema))

    jsonschema.validate(answer, strict(schema))
    jsonschema.validate(_without_nulls(answer), schema)


@pytest.mark.long
@given(SCHEMAS)
def test_making_a_schema_strict_twice_changes_nothing(schema: dict[str, Any]) -> None:
    assert strict(schema) == strict(strict(schema))


def test_an_optional_choice_may_be_null() -> None:
    schema = {"type": "object", "properties": {"kind": {"type": "string", "enum": ["a"]}}}

    kind = strict(schema)["properties"]["kind"]

    assert {"type": ["string", "null"], "enum": ["a", None]} == kind


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"nodes": []}', True),
        ('{"nodes": [{"a":', True),
        ('{"chapters": []}', False),
        ("[1]", False),
        ("Here is the outline", False),
        ("", False),
    ],
)
def test_an_answer_is_distinguished_from_prose_and_other_shapes(text: str, expected: bool) -> None:
    assert expected == may_match(text, {"type": "object", "required": ["nodes"]})


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1}',
        '```json\n{"a": 1}\n```',
        'Here it is:\n```\n{"a": 1}\n```\nGood luck!',
        '<think>{"a": 2}? No.</think>\n\n{"a": 1}',
        '  {"a": 1}\n',
    ],
)
def test_json_is_taken_out_of_what_models_put_around_it(text: str) -> None:
    assert '{"a": 1}' == without_wrapping(text)


def test_a_fence_inside_the_json_is_left_alone() -> None:
    assert '{"a": "```\\nx\\n```"}' == without_wrapping('{"a": "```\\nx\\n```"}')


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(inner) for name, inner in value.items() if inner is not None}
    return [_without_nulls(inner) for inner in value] if isinstance(value, list) else value
