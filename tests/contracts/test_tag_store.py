"""What stores of tags promise."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citekit.adapters.storage.tags import FileTags
from citekit.adapters.system.file_locks import FileLocks
from citekit.domain.errors import IndexCorrupt, RequestRefused
from citekit.domain.ports.tag_store import TagStore
from citekit.domain.tags import COUNT, LENGTH, changed_tags


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / ".resource_maps" / ".tags" / "tags.json"


@pytest.fixture
def tags(path: Path, tmp_path: Path) -> TagStore:
    return FileTags(path, FileLocks(tmp_path / "locks"))


def test_tags_are_added_and_removed_whatever_their_case(tags: TagStore, path: Path, tmp_path: Path) -> None:
    assert {} == tags.all()
    assert {"a": ("Bees", "hive"), "b": ("Bees", "hive")} == tags.change(["a", "b"], ["hive", " Bees "])
    assert {"a": ("Bees",)} == tags.change(["a"], ["bees"], ["HIVE"])
    assert {"a": ("Bees",), "b": ("Bees", "hive")} == FileTags(path, FileLocks(tmp_path / "locks")).all()
    tags.drop("b")
    tags.drop("c")
    tags.change(["a"], remove=["bees", "unknown"])
    assert {} == tags.all()


@pytest.mark.parametrize("wrong", ["", "  ", "x" * (LENGTH + 1), "a\x1b[31m", "a\u202eb"])
def test_a_wrong_tag_changes_nothing(tags: TagStore, wrong: str) -> None:
    tags.change(["a"], ["one"])
    with pytest.raises(RequestRefused, match="A tag must have"):
        tags.change(["a", "b"], ["two", wrong])
    with pytest.raises(RequestRefused, match="at most"):
        tags.change(["a"], map(str, range(COUNT)))
    assert {"a": ("one",)} == tags.all()


@pytest.mark.parametrize("content", ["", "[1]", '{"a": "b"}', '{"a": [1]}', "[" * 100_000, "\udcff"])
def test_a_damaged_file_is_told_and_kept(tags: TagStore, path: Path, content: str) -> None:
    path.parent.mkdir(parents=True)
    path.write_bytes(content.encode("utf-8", "surrogateescape"))
    before = path.read_bytes()
    with pytest.raises(IndexCorrupt, match="Repair or delete the file"):
        tags.all()
    with pytest.raises(IndexCorrupt):
        tags.change(["a"], ["one"])
    assert before == path.read_bytes()


def test_changes_at_the_same_time_are_all_kept(path: Path, tmp_path: Path) -> None:
    def change(number: int) -> None:
        FileTags(path, FileLocks(tmp_path / "locks")).change([f"r{number % 4}"], [f"t{number}"])

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(change, range(40)))
    assert 40 == sum(map(len, json.loads(path.read_text()).values()))


@given(
    st.lists(st.text("aAbB ", min_size=1), max_size=5), st.lists(st.text("aAbB", min_size=1)), st.lists(st.text("aAbB"))
)
def test_changed_tags_are_sorted_and_differ_in_more_than_case(
    had: list[str], add: list[str], remove: list[str]
) -> None:
    before = changed_tags((), [each for each in had if each.strip()])
    after = changed_tags(before, add, remove)
    folded = [each.casefold() for each in after]
    assert sorted(set(folded)) == folded
    assert set(folded).isdisjoint(each.casefold() for each in remove)
    wanted = {each.casefold() for each in (*before, *add)} - {each.casefold() for each in remove}
    assert wanted == set(folded)
    assert after == changed_tags(after)
