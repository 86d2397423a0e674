"""`Any` switches type checking off, so the number of its uses may only fall."""

from __future__ import annotations

import ast
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from tests.architecture.modules import nodes

SOURCES = Path(__file__).parents[2] / "src" / "citekit"
LIMITS: dict[str, int] = {
    ".": 1,
    "adapters/access": 6,
    "adapters/catalogs": 12,
    "adapters/clients": 9,
    "adapters/clusters": 3,
    "adapters/formats/data": 1,
    "adapters/formats/docx": 1,
    "adapters/formats/image": 8,
    "adapters/formats/media": 185,
    "adapters/formats/pdf": 460,
    "adapters/formats/pptx": 63,
    "adapters/formats/shared": 6,
    "adapters/formats/xlsx": 1,
    "adapters/importers": 8,
    "adapters/libraries": 115,
    "adapters/mappers": 69,
    "adapters/personas": 11,
    "adapters/sandbox": 20,
    "adapters/search": 85,
    "adapters/sources": 1,
    "adapters/storage": 3,
    "adapters/system": 2,
    "application": 4,
    "application/library": 6,
    "compat": 23,
    "container": 32,
    "domain": 9,
    "domain/exchange": 7,
    "domain/library": 3,
    "domain/text_search": 7,
    "entrypoints": 1,
    "entrypoints/cli": 65,
    "entrypoints/library": 65,
    "entrypoints/mcp": 87,
    "entrypoints/web": 11,
    "settings": 1,
    "wire": 141,
}
"""The highest number of uses in each folder. Lower a number after you remove uses."""


def uses(tree: ast.AST) -> int:
    """How often a module uses `Any`, without the import."""
    return sum(isinstance(node, ast.Name) and node.id == "Any" for node in nodes(tree))


def folder_of(path: Path) -> str:
    parts = path.relative_to(SOURCES).parts[:-1]
    return "/".join(parts[: 3 if parts[:2] == ("adapters", "formats") else 2]) or "."


MODULES = sorted(SOURCES.rglob("*.py"))


@cache
def counted() -> Counter[str]:
    """The uses in each folder. A module without the word has none, and is not parsed."""
    found: Counter[str] = Counter()
    for path in MODULES:
        code = path.read_bytes()
        found[folder_of(path)] += uses(ast.parse(code)) if b"Any" in code else 0
    return found


@pytest.mark.parametrize("folder", sorted(set(map(folder_of, MODULES))))
def test_no_folder_uses_any_more_often_than_before(folder: str) -> None:
    assert counted()[folder] <= LIMITS.get(folder, 0), (
        "Name the type, or use `object` for a value that is only passed on."
    )


def test_a_use_would_be_counted() -> None:
    assert 3 == uses(ast.parse("from typing import Any\nx: dict[str, Any]\ndef f(y: Any) -> list[Any]: ...\n"))
