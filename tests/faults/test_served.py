"""Expensive files stay within their limits through the MCP server; `python -m tests.faults served` tries more."""

from __future__ import annotations

import sys

import pytest

from tests.faults.served import Call, run
from tests.faults.table import BRIEF


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="what processes cost is read from /proc")
def test_expensive_files_stay_within_their_limits_through_the_server() -> None:
    (row,) = run(BRIEF)

    assert row.kept, row.note


@pytest.mark.parametrize(
    ("call", "fault"),
    [
        (Call("map", 4.0, 100, "done", False, True), ""),
        (Call("map", 9.0, 100, "done", False, True), "map took 9.0 s, 100 MB"),
        (Call("map", 1.0, 4000, "done", False, True), "map took 1.0 s, 4000 MB"),
        (Call("map", 1.0, 100, "no\nTraceback", True, True), "map said 'no\\nTraceback'"),
        (Call("map", 1.0, 100, "done", False, False), "map kept another request from its answer"),
    ],
)
def test_a_call_that_is_not_as_promised_is_a_fault(call: Call, fault: str) -> None:
    assert fault == call.fault
