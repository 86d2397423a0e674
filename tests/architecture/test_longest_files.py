"""The list of the files that are run first names files that there are."""

from __future__ import annotations

from pathlib import Path

from tests.longest_files import LONGEST


def test_every_file_that_is_run_first_exists_once() -> None:
    tests = Path(__file__).parents[1]

    assert [] == [name for name in LONGEST if not (tests / name).is_file()]
    assert len(set(LONGEST)) == len(LONGEST)
