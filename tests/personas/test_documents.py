"""The pages about guardians and patterns name all that is shipped, and their examples work."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest

from citekit.adapters.personas.markdown_files import PersonaFiles

DOCS = Path(__file__).parents[2] / "docs"


def page(name: str) -> str:
    return (DOCS / name).read_text("utf-8")


def example(name: str, language: str) -> str:
    found = re.search(rf"^( *)```{language}\n(.*?)^\1```", page(name), re.DOTALL | re.MULTILINE)
    assert found is not None
    return textwrap.dedent(found[2])


def test_every_guardian_is_in_the_table() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (\S+) \| (.*), the .* \| (.*) \|$", page("reference/guardians.md"), re.MULTILINE)

    assert [
        (each.id, each.emoji, each.name, ", ".join(each.specialties)) for each in PersonaFiles().guardians()
    ] == rows


def test_every_pattern_is_in_the_table() -> None:
    rows = re.findall(r"^\| (\w+) \| `(\w+)` \| (.*?) \| ([\d.]+)", page("reference/patterns.md"), re.MULTILINE)

    assert [(each.category, each.id, each.name, f"{each.temperature:g}") for each in PersonaFiles().patterns()] == rows


def test_the_examples_work(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "owl.md").write_text(example("how-to/add-a-guardian.md", "markdown"), "utf-8")
    (tmp_path / "patterns.json").write_text(example("reference/patterns.md", "json"), "utf-8")
    personas = PersonaFiles(tmp_path)

    assert ("Owl", "socratic", []) == (personas.guardian("owl").name, personas.pattern("teaching").id, caplog.records)
