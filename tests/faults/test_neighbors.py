"""Hostile files do not slow down requests about others, in short; `python -m tests.faults neighbors` measures more."""

from __future__ import annotations

import sys

import pytest

from tests.faults.neighbors import GENEROUS, p95, run
from tests.faults.table import BRIEF


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the processor time of a child is only known there")
def test_six_hostile_files_do_not_delay_requests_about_others() -> None:
    """One undisturbed run of three is enough: other programs on the machine may disturb a run, hostile files would disturb all."""
    slow: list[str] = []
    for _ in range(3):
        slow = [f"{row.what}: {row.note}" for row in run(BRIEF) if not row.kept]
        if not slow:
            return

    raise AssertionError(f"more than {GENEROUS} times as long: {slow}")


def test_the_95th_percentile_is_one_of_the_last() -> None:
    assert 95 == p95(range(101))
