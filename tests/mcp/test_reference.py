"""The page about the MCP server says what the server says."""

from __future__ import annotations

import runpy
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_the_reference_is_what_the_tools_say_now() -> None:
    page = runpy.run_path(str(DOCS / "generate_mcp.py"))["page"]()

    written = (DOCS / "reference" / "mcp.md").read_text(encoding="utf-8")

    assert page == written, "run: python docs/generate_mcp.py"
