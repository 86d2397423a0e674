"""What the documents say is so: their links lead somewhere, and the tutorial's commands run."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

from citekit.entrypoints.cli.program import ALIASES, COMMANDS
from citekit.wire.locations import LOCATION_FIELDS
from tests.services import gemini_faults, openai_faults

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_relative_links_lead_to_files(document: Path) -> None:
    links = re.findall(r"\]\((?![a-z]+:|#)([^)#]+)", document.read_text("utf-8"))

    assert [] == [link for link in links if not (document.parent / link).exists()]


def test_every_fault_of_a_service_is_in_the_table() -> None:
    page = (ROOT / "docs" / "reference" / "model-faults.md").read_text("utf-8")
    names = [*(fault.name for fault in gemini_faults.faults()), *(fault.name for fault in openai_faults.FAULTS)]

    assert [] == [name for name in names if f"| {name} |" not in page]


def commands(document: Path) -> list[list[str]]:
    """The `citekit` commands of the console blocks of a document."""
    blocks = re.findall(r"```console\n(.*?)```", document.read_text("utf-8"), re.DOTALL)
    lines = [line.removeprefix("$ ") for block in blocks for line in block.splitlines()]
    return [shlex.split(line, comments=True) for line in lines if line.startswith("citekit ")]


@pytest.mark.parametrize("document", DOCUMENTS[2:], ids=lambda path: str(path.relative_to(ROOT)))
def test_every_command_that_is_named_is_one(document: Path) -> None:
    text = document.read_text("utf-8")
    named = re.findall(r"(?:`|^ *(?:[-*] )?(?:\$ )?)citekit +([a-z][a-z-]*)", text, re.MULTILINE)
    code = "".join(re.findall(r"^```.*?^```|`[^`\n]+`", text, re.MULTILINE | re.DOTALL))

    assert [] == [name for name in named if name not in COMMANDS and name not in ALIASES and f"citekit {name}" in code]


def test_every_field_of_a_place_is_explained() -> None:
    page = (ROOT / "docs" / "reference" / "maps.md").read_text("utf-8")

    assert [] == [field for field in LOCATION_FIELDS if f"`{field}`" not in page]


@pytest.mark.long
def test_the_commands_of_the_tutorial_run_one_after_the_other(tmp_path: Path) -> None:
    (tmp_path / "r-intro.pdf").write_bytes((files("citekit") / "samples" / "r-intro.pdf").read_bytes())
    found = commands(ROOT / "docs" / "tutorial" / "first-evidence.md")

    for command in found:
        done = subprocess.run(
            [sys.executable, "-m", *command], cwd=tmp_path, capture_output=True, text=True, timeout=120
        )
        assert 0 == done.returncode, (command, done.stderr)
        assert done.stdout.strip(), command

    assert 10 <= len(found)
    assert (tmp_path / ".citekit_output" / "r-intro_preface.pdf").exists()


@pytest.mark.long
def test_the_sdk_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its names stand for the samples: a book, and a lecture with a part called demo."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lectures").mkdir()
    for name, sample in (("book.pdf", "r-intro.pdf"), ("lectures/lecture.mp4", "run.mp4")):
        (tmp_path / name).write_bytes((files("citekit") / "samples" / sample).read_bytes())
    code = re.search(r"```python\n(.*?)```", (ROOT / "docs" / "reference" / "sdk.md").read_text("utf-8"), re.DOTALL)
    assert code is not None

    exec(code[1].replace('"chapter_2"', '"preface"').replace('"demo"', '"scene_1"'), {})

    assert (tmp_path / "library" / ".citekit_output" / "book_preface.pdf").exists()
