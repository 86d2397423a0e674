"""Both distributions, each installed by pip into an empty environment without the clone."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

import anyio
import pytest
from mcp import Client, StdioServerParameters

from tests.package.bare_environment import ROOT, run

pytestmark = pytest.mark.slow


def built(kind: str, folder: Path) -> Path:
    builders = pytest.importorskip(f"hatchling.builders.{kind}", reason="hatchling is not installed")
    builder = {"sdist": "SdistBuilder", "wheel": "WheelBuilder"}[kind]
    return Path(next(iter(getattr(builders, builder)(str(ROOT)).build(directory=str(folder)))))


@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_it_runs_where_only_the_distribution_is_installed(kind: str, tmp_path: Path) -> None:
    distribution = built(kind, tmp_path / "dist")
    venv.create(tmp_path / "venv", with_pip=False, symlinks=True)
    python = tmp_path / "venv" / "bin" / "python"
    command = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-compile"]
    installed = subprocess.run(
        [*command, "--constraint", str(ROOT / "requirements.lock"), str(distribution)],
        capture_output=True,
        text=True,
        env={**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
    )
    if "ConnectionError" in installed.stderr or "Could not find a version" in installed.stderr:
        pytest.skip("the package index does not answer")
    assert 0 == installed.returncode, installed.stderr[-2000:]

    home = tmp_path / "home"
    home.mkdir()
    (home / "notes.md").write_text("# Bees\n\nHoney.\n")
    assert "An Introduction to R" in run(python, home, "demo", "--home", str(home / "demo")).stdout
    assert 0 == run(python, home, "ingest", "notes.md").returncode
    doctor = run(python, home, "doctor")
    assert 0 == doctor.returncode, doctor.stdout

    async def titles() -> list[str]:
        words = ["-P", "-m", "citekit", "serve", "--home", str(home)]
        environment = {**os.environ, "XDG_DATA_HOME": "/nonexistent"}
        async with Client(StdioServerParameters(command=str(python), args=words, env=environment)) as client:
            found = await client.call_tool("getStructure", {"resource_id": "notes_md"})
            return [node["title"] for node in (found.structured_content or {})["nodes"]]

    assert ["Bees"] == anyio.run(titles)
