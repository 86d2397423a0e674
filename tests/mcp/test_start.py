"""What the server imports before its first request."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.imports import LATER, imported

QUOTES = "citekit.domain.quotes."


@pytest.mark.long
def test_the_server_starts_without_what_only_some_tools_need(tmp_path: Path) -> None:
    found = imported(["-m", "citekit", "--home", str(tmp_path), "serve"])

    assert {f"{QUOTES}verdict_finding"} == {name for name in found.names if name.startswith(QUOTES)}
    assert "citekit.domain.text_search.matching" not in found.names
    assert {"mcp"} == found.tops & LATER
