"""Every test that a document names is there, and every promise names one."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "docs" / "explanation" / "threat-model.md", ROOT / "docs" / "reference" / "promises.md"]
NAMED = re.compile(r"`(tests/[\w/]+\.py)((?:::\w+)*)`")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_test_that_a_page_names_is_there(page: Path) -> None:
    named = NAMED.findall(page.read_text("utf-8"))

    missing = [f"{file}{names}" for file, names in named if not _has(ROOT / file, names)]

    assert len(named) > 20
    assert [] == missing


def test_every_promise_names_a_test() -> None:
    promised, _, _ = PAGES[1].read_text("utf-8").partition("## What was tried")
    rows = [line for line in promised.splitlines() if line.startswith("| ")]
    promises = [row for row in rows if not row.startswith(("| promise", "| ---"))]

    assert [] == [row for row in promises if not NAMED.search(row)]


@cache
def _statements(file: Path) -> Sequence[ast.stmt]:
    return ast.parse(file.read_bytes()).body


def _has(file: Path, names: str) -> bool:
    """Whether pytest finds a test of that name: in its class, where it has one."""
    if not file.is_file():
        return False
    inside = _statements(file)
    for name in names.split("::")[1:]:
        found = [each for each in inside if isinstance(each, ast.FunctionDef | ast.ClassDef) and each.name == name]
        if not found or not name.lower().startswith("test"):
            return False
        inside = found[0].body
    return True
