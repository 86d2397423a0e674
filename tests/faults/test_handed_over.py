"""Forged caches; also `python -m tests.faults handed_over`."""

from __future__ import annotations

import pytest

from tests.faults.handed_over import FORGERIES, wrong_with
from tests.faults.links import Place


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place.filled(tmp_path_factory.mktemp("forged").resolve())


@pytest.mark.parametrize("handed_over", [False, True], ids=["in place", "handed over"])
@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_cache_changes_no_answer(place: Place, name: str, *, handed_over: bool) -> None:
    assert wrong_with(place, FORGERIES[name], handed_over=handed_over) is None
