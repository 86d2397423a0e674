"""Forged caches; `python -m tests.faults handed_over` tries each of them in both ways."""

from __future__ import annotations

import json
import shutil

import pytest

from tests.faults.handed_over import FORGERIES, wrong_with
from tests.faults.links import Place
from tests.representatives import representatives


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place.filled(tmp_path_factory.mktemp("forged").resolve())


HANDED_OVER = ("texts for quotes", "cards of maps")
"""Forgeries that are also handed over: one in files and one in a database. All stores share the seal that finds this."""


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "handed_over"),
    representatives([*((name, True) for name in HANDED_OVER), *((name, False) for name in FORGERIES)], 4),
    ids=lambda each: each if isinstance(each, str) else ("in place", "handed over")[each],
)
def test_a_forged_cache_changes_no_answer(place: Place, name: str, *, handed_over: bool) -> None:
    assert wrong_with(place, FORGERIES[name], handed_over=handed_over) is None


@pytest.mark.long
def test_an_index_of_books_that_was_handed_over_only_ranks(place: Place) -> None:
    question = ("library", "query", "queen", "--threshold", "0", "--context", "comprehensive", "--json")
    shutil.rmtree(place.home, ignore_errors=True)
    shutil.copytree(place.template, place.home)

    before = json.loads(place.call(question).stdout.splitlines()[0])["out"]
    place.call((), (("library", "rebuild"),))
    after = json.loads(place.call(question).stdout.splitlines()[0])["out"]

    assert "nectar" not in before
    assert "library rebuild" in before
    assert "nectar" in after
    assert "library rebuild" not in after
