"""The page about the architecture names every family of adapters and every port, and only modules that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "citekit"
PAGE = (ROOT / "docs" / "explanation" / "architecture.md").read_text("utf-8")
WITHIN_A_PORT = {"AnswerConversation", "IndexedDocument"}
"""Protocols of what a port returns."""


@pytest.mark.parametrize("family", sorted(each.parent.name for each in (PACKAGE / "adapters").glob("*/__init__.py")))
def test_every_family_of_adapters_is_described(family: str) -> None:
    assert re.search(rf"^\| `{family}/` \|", PAGE, re.MULTILINE)


def test_every_port_has_a_promise() -> None:
    protocols = {
        name
        for module in (PACKAGE / "domain" / "ports").glob("*.py")
        for name in re.findall(r"^class (\w+)\(.*Protocol\b", module.read_text("utf-8"), re.MULTILINE)
    }
    _, _, table = PAGE.partition("## Ports and their contracts")
    promised = set(re.findall(r"`(\w+)`", " ".join(re.findall(r"^\|([^|]*)\|", table, re.MULTILINE))))

    assert len(protocols) > 30
    assert protocols - promised == WITHIN_A_PORT


def test_every_module_that_is_named_exists() -> None:
    named = set(re.findall(r"`([\w/]+\.py)`", PAGE))
    places = (PACKAGE, PACKAGE / "adapters", PACKAGE / "adapters" / "formats", PACKAGE / "adapters" / "sources", ROOT)

    assert len(named) > 30
    assert {name for name in named if "/" in name and not any((place / name).is_file() for place in places)} == set()
