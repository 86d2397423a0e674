"""Files are parsed in a child: what goes on around it makes no difference to who asked."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pymupdf
import pytest

from citekit import CiteKit
from tests.cli.program import plain_environment
from tests.representatives import representatives


@pytest.fixture
def pdf(tmp_path: Path) -> Path:
    """Three pages, in a folder of their own."""
    path = tmp_path / "files" / "paper.pdf"
    path.parent.mkdir()
    library: Any = pymupdf
    document = library.open()
    for number in (1, 2, 3):
        document.new_page().insert_text((72, 72), f"This is page {number}.")
    document.save(path)
    return path


def test_a_cache_that_was_deleted_is_written_to_again(
    tmp_path: Path, pdf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A child may write below the very folder that was there when it started; not below the one made anew."""
    temporary = tmp_path / "temporary"  # else all of this would lie below the one where a child may write
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setenv("CITEKIT_PARSERS", "subprocess")
    citekit = CiteKit(tmp_path / "home")
    citekit.ingest(pdf)
    citekit.resolve("doc://paper#pages=1")

    shutil.rmtree(tmp_path / "home" / ".citekit_cache")

    assert citekit.resolve("doc://paper#pages=2").output_path is not None


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="a shell of POSIX")
@pytest.mark.parametrize("closed", representatives(["<&- >&- 2>&-", "<&- 2>&-", "<&-", "2>&-", ">&-"], 2))
def test_standard_streams_that_the_shell_closed_are_not_needed(tmp_path: Path, pdf: Path, closed: str) -> None:
    home = tmp_path / "home"
    command = f'exec "$@" {closed}'

    ran = subprocess.run(
        ["sh", "-c", command, "sh", sys.executable, "-m", "citekit", "--home", str(home), "ingest", str(pdf)],
        env=plain_environment(),
        capture_output=True,
        check=False,
        timeout=60,
    )

    assert (1 if ">&-" in closed.replace("2>&-", "") else 0) == ran.returncode
    assert "paper" == json.loads((home / ".resource_maps" / "paper.json").read_text())["resource_id"]
