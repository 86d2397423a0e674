from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citekit.domain.errors import ResourceIdRefused
from citekit.domain.ids import (
    NODE_ID_LIMIT,
    RESOURCE_ID_LIMIT,
    SEGMENT_LIMIT,
    STORED_ID_LIMIT,
    check_resource_id,
    node_id,
    resource_id,
    slug,
    stored_name,
    unique,
)
from tests.strategies import resource_ids

ANY_TEXT = st.text(max_size=300)


@given(ANY_TEXT, st.booleans())
def test_a_slug_is_one_short_segment(title: str, keep_case: bool) -> None:
    segment = slug(title, keep_case=keep_case)

    assert len(segment) <= SEGMENT_LIMIT
    assert not set(segment) & set("./\\ \0-")
    assert segment == slug(title, keep_case=keep_case)


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Big-O Notation (part 2)", "big_o_notation_part_2"),
        ("  Über Größe  ", "über_grösse"),
        ("ﬁrst ﬂoor", "first_floor"),
        ("第一章 始まり", "第一章_始まり"),
        ("हिन्दी भाषा", "हिन्दी_भाषा"),
        ("İstanbul", "i̇stanbul"),
        ("e\u0301te\u0301", "été"),
        ("../../etc/passwd", "etc_passwd"),
        ("!!!", ""),
    ],
)
def test_letters_of_every_script_stay_whole(title: str, expected: str) -> None:
    assert expected == slug(title)


@given(st.lists(st.tuples(st.integers(0, 5), ANY_TEXT), max_size=30))
def test_node_ids_are_unique_short_and_hierarchical(titles: list[tuple[int, str]]) -> None:
    ids = [""]
    for parent, title in titles:
        ids.append(node_id(ids[parent % len(ids)], title, ids))

    assert len(ids) == len(set(ids))
    assert all(len(name.encode()) <= NODE_ID_LIMIT for name in ids)
    assert all(".." not in name and "/" not in name and not name.startswith(".") for name in ids)


def test_the_same_titles_give_the_same_ids() -> None:
    assert node_id("chapter_1", "Big O notation", ()) == "chapter_1.big_o_notation"
    assert node_id("chapter_1", "???", {"chapter_1.part"}) == "chapter_1.part_2"
    assert unique("a", {"a", "a_2"}) == "a_3"


def test_a_path_that_is_too_long_ends_in_a_digest_that_tells_it_from_others() -> None:
    parent = "x" * 100

    one, other = (node_id(parent, f"the same long beginning {end}", ()) for end in "ab")

    assert one != other
    assert one == node_id(parent, "the same long beginning a", ())


@given(ANY_TEXT, st.booleans())
def test_every_file_name_gives_an_id_that_can_be_stored(name: str, keep_extension: bool) -> None:
    made = resource_id(name, keep_extension=keep_extension)

    assert made == check_resource_id(made)
    assert len(made.encode()) <= RESOURCE_ID_LIMIT
    assert len(stored_name(unique(made, {made}))) <= STORED_ID_LIMIT


@pytest.mark.parametrize(
    ("name", "keep", "expected"),
    [
        ("Research Paper v1.pdf", False, "research_paper_v1"),
        ("utils.py", True, "utils_py"),
        (".bashrc", False, "bashrc"),
        ("a.b.pdf", False, "a_b"),
        ("???.pdf", False, "resource"),
        ("..", False, "resource"),
    ],
)
def test_a_resource_id_is_the_slug_of_its_file_name(name: str, keep: bool, expected: str) -> None:
    assert expected == resource_id(name, keep_extension=keep)


def test_two_long_file_names_of_one_beginning_stay_apart() -> None:
    one, other = (resource_id("漢" * 80 + end + ".pdf") for end in "ab")

    assert one != other


@given(resource_ids(), resource_ids())
def test_stored_names_are_file_names_and_differ_where_the_ids_do(one: str, other: str) -> None:
    assert re.fullmatch(r"[A-Za-z0-9_~%-][A-Za-z0-9._~%-]*", stored_name(one))
    assert len(stored_name(one)) <= STORED_ID_LIMIT
    assert (one == other) == (stored_name(one) == stored_name(other))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  ",
        ".",
        "..",
        "a/b",
        "a\\b",
        "a\0b",
        "a\nb",
        "a\x7fb",
        "a\u202eb",
        "a\u200bb",
        "\ud800",
        "x" * 10_000,
        "漢" * 67,
    ],
)
def test_an_id_that_cannot_be_stored_is_refused(text: str) -> None:
    with pytest.raises(ResourceIdRefused) as caught:
        check_resource_id(text)

    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("text", ["a", "utils_py", "Über größe", "a..b", "...", "-x", "日本語", "a%2Fb", "con"])
def test_odd_but_harmless_ids_are_taken(text: str) -> None:
    assert text == check_resource_id(text)
