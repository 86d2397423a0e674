"""Every test that the threat model names is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "explanation" / "threat-model.md"
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", PAGE.read_text("utf-8"))))


@pytest.mark.parametrize(("file", "test"), NAMED)
def test_a_test_that_the_threat_model_names_is_there(file: str, test: str) -> None:
    text = (ROOT / file).read_text("utf-8")

    assert f"def {test}(" in text if test else "def test_" in text
    assert len(NAMED) > 20
