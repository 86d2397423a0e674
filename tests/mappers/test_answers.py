"""The text of a reply as nodes, as far as it is complete, whatever it is."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citekit.adapters.mappers.llm.answers import NODE_LIMIT, join_answers, read_answer
from citekit.domain.errors import FaultyAnswer
from citekit.domain.source import Source
from citekit.domain.validation import map_issues
from tests.doubles.model_service import ScriptedService
from tests.made_files import make_all
from tests.mappers.model_talks import LOCAL, answer_of, model_mapper, nodes, recorded, source_of

GOOD = nodes(
    (1, 'The "first" {part}', 1, 4),
    (2, "Straße, naïve \\ 日本語 ]}", 1, 2),
    (2, "Second, [with brackets", 3, 4),
    (1, "Last", 5, 9),
    unit="line",
    title="A \"good\" answer",
)  # fmt: skip
TITLES = [node["title"] for node in json.loads(GOOD)["nodes"]]


def titles(text: str) -> list[Any]:
    return [item.record and item.record["title"] for item in read_answer(text).items]


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"```json\n{GOOD}\n```",
        f"Here is the map [of the file]:\n\n```\n{GOOD}\n```\nAnything else?",
        f"<think>Levels {{1, 2}}?</think>{GOOD}",
        f"\ufeff{GOOD}",
        json.dumps(json.loads(GOOD)["nodes"]),
        json.dumps({"map": json.loads(GOOD)}),
        json.dumps({"document": "x", "sections": json.loads(GOOD)["nodes"]}),
        GOOD.replace("}, {", "} {"),
        GOOD.replace("}]}", "},]}"),
        json.dumps(json.loads(GOOD), indent=2, ensure_ascii=False),
    ],
)
def test_an_answer_is_found_in_surrounding_text(text: str) -> None:
    assert TITLES == titles(text)
    assert not read_answer(text).truncated


@pytest.mark.parametrize("indent", [None, 2])
def test_only_complete_nodes_of_a_truncated_text_are_read(indent: int | None) -> None:
    text = json.dumps(json.loads(GOOD), indent=indent, ensure_ascii=False)
    records = [dict(item.record or {}) for item in read_answer(text).items]
    seen = set()

    for end in range(len(text)):
        answer = read_answer(text[:end])
        found = [item.record for item in answer.items]
        assert records[: len(found)] == found
        assert answer.truncated or answer.error is not None or len(found) == len(records)
        seen.add(len(found))

    assert set(range(len(records) + 1)) == seen


@given(st.integers(1, len(GOOD) - 1), st.integers(0, 4))
def test_a_tail_completes_what_broke_off_without_repeats(end: int, repeated: int) -> None:
    head = read_answer(GOOD[:end])
    whole = read_answer(GOOD)
    rest = json.dumps(json.loads(GOOD)["nodes"][max(0, len(head.items) - repeated) :])

    both = join_answers(head, read_answer(rest))

    assert [item.record for item in whole.items] == [item.record for item in both.items]
    assert [f"nodes[{n}]" for n in range(len(TITLES))] == [item.path for item in both.items]


def test_a_node_that_is_no_json_costs_only_itself() -> None:
    broken = GOOD.replace('"title": "Last"', '"title": Last')

    answer = read_answer(broken)

    assert [True, True, True, False] == [item.record is not None for item in answer.items]
    assert "is not valid JSON" in answer.items[3].error


def test_levels_come_from_nesting_where_none_are_written() -> None:
    text = json.dumps({"nodes": [{"title": "A", "children": [{"title": "B", "children": [{"title": "C"}]}]}]})

    assert [1, 2, 3] == [item.level for item in read_answer(text).items]


def test_levels_come_from_dotted_ids_as_in_0_2() -> None:
    assert [1, 2, 2, 1, 2] == [item.level for item in read_answer(recorded("document_as_0_2.txt")).items]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "it is empty"),
        ("No.", "begins with 'No.'"),
        ("{}", "it contains no list of nodes"),
        ('{"title": "x", "nod', "is not valid JSON"),
        ('{"nodes": [{"title": "half', "is not valid JSON"),
        ("[" * 100_000, "is not valid JSON"),
        ('[{"a":' * 50_000, "nested too deeply"),
        ('{"error": "quota"}', "it contains no list of nodes"),
    ],
)
def test_what_is_no_answer_says_why(text: str, reason: str) -> None:
    answer = read_answer(text)

    assert reason in (answer.error or "")
    assert () == answer.items


def test_more_nodes_than_anybody_reads_are_not_read() -> None:
    text = json.dumps([{"title": str(n), "pages": [1]} for n in range(NODE_LIMIT + 500)])

    assert NODE_LIMIT == len(read_answer(text).items)


FIELDS = [
    "level", "title", "type", "summary", "first_page", "last_page", "pages", "first_line", "last_line", "lines", "start", "end",
    "bbox", "box_2d", "first_chapter", "last_chapter", "first_paragraph", "last_paragraph", "chapter", "chars", "location",
    "children", "id",
]  # fmt: skip
NUMBERS = st.integers(-3, 130) | st.integers(-(10**12), 10**400) | st.floats() | st.floats(-2, 1100)
WORDS = st.sampled_from(["PDDocument", "addPage", "3-7", "1:05", "0:03.5", "A", "Preface", "\x00\ud800", ""]) | st.text(
    max_size=12
)
SCALARS = st.none() | st.booleans() | NUMBERS | WORDS
PLAIN_NODES = st.recursive(
    st.dictionaries(st.sampled_from(FIELDS), SCALARS | st.lists(SCALARS, max_size=5), max_size=10),
    lambda inner: st.dictionaries(
        st.sampled_from(FIELDS),
        SCALARS | st.lists(NUMBERS, max_size=5) | inner | st.lists(inner, max_size=3),
        max_size=8,
    ),
    max_leaves=6,
)
NEARLY = st.fixed_dictionaries(
    {"level": st.integers(0, 5), "title": WORDS},
    optional={
        name: st.integers(-1, 12) | st.floats(-1, 8)
        for name in FIELDS
        if name.startswith(("first", "last")) or name in ("start", "end")
    }
    | {
        "bbox": st.lists(st.floats(-0.1, 1.1), min_size=3, max_size=5),
        "box_2d": st.lists(st.integers(-5, 1030), min_size=4, max_size=4),
    },
)
GARBAGE = (
    st.lists(PLAIN_NODES | NEARLY, max_size=8).map(lambda found: json.dumps({"title": "T", "nodes": found}))
    | st.lists(NEARLY, min_size=1, max_size=12).map(lambda found: json.dumps({"nodes": found}))
    | st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(WORDS, inner), max_leaves=8).map(json.dumps)
    | st.text()
)
SMALL = ("module.py", "notes.md", "book.epub", "imageTextN.png", "run.mp4", "lena.ogg", "crlf.txt")


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Source]:
    made = make_all(tmp_path_factory.mktemp("files"))
    return {name: source_of(made[name]) for name in SMALL}


@pytest.mark.long
@given(st.data(), st.sampled_from(SMALL), GARBAGE, GARBAGE)
def test_any_answer_gives_a_sound_map_or_one_clear_error(
    sources: dict[str, Source], data: st.DataObject, name: str, first: str, second: str
) -> None:
    cut = data.draw(st.integers(0, len(first)))
    service = ScriptedService([first[:cut] if cut % 3 == 0 else first, *[second] * 20])
    mapper = model_mapper(service)

    try:
        made = mapper.map(sources[name], "x")
    except FaultyAnswer as failure:
        assert failure.faults  # noqa: PT017 - an error is one of two right outcomes
        return

    assert [] == map_issues(made)
    assert made.node_count
    assert len(service.questions) <= 12


@given(st.data())
def test_a_good_answer_that_breaks_off_never_invents(sources: dict[str, Source], data: st.DataObject) -> None:
    source = sources["module.py"]
    known = LOCAL.map(source, "x")
    text = answer_of(known, source)
    cut = data.draw(st.integers(0, len(text)))
    mapper = model_mapper([text[:cut], *['{"nodes": []}'] * 3])

    try:
        made = mapper.map(source, "x")
    except FaultyAnswer:
        return

    real = {(node.title, node.location) for node in known.walk()}
    assert {(node.title, node.location) for node in made.walk()} <= real
