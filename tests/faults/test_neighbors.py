"""Hostile files do not slow down requests about others, in short; `python -m tests.faults neighbors` measures more."""

from __future__ import annotations

import sys

import pytest

from tests.faults.neighbors import GENEROUS, p95, run
from tests.faults.table import BRIEF


@pytest.mark.skipif(sys.platform != "linux", reason="the processor time of a child is only known there")
def test_six_hostile_files_do_not_delay_requests_about_others() -> None:
    rows = run(BRIEF)

    assert [row.what for row in rows if not row.kept] == [], f"more than {GENEROUS} times: {rows}"


def test_the_95th_percentile_is_one_of_the_last() -> None:
    assert 95 == p95(range(101))
