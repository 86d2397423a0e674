"""What leads out of the folders that may be read, in short."""

from __future__ import annotations

from tests.faults.outside import run
from tests.faults.table import Scale


def test_no_argument_of_any_tool_leads_out() -> None:
    (row,) = run(Scale(seconds=1.0, inputs=60))

    assert row.kept, row
    assert 60 == row.tried
