"""The built distribution works without the clone: what is in it, and a run of it in a folder of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import anyio
import pytest
from mcp import Client, StdioServerParameters

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built in isolation as pip does it for a user."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(ROOT)]
    try:
        built = subprocess.run(command, capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        pytest.skip("the package index does not answer")
    if "Could not find a version" in built.stderr or "ConnectionError" in built.stderr:
        pytest.skip("the build backend cannot be downloaded")
    assert 0 == built.returncode, built.stderr[-2000:]
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with only the content of the wheel. Its dependencies are those of this environment."""
    folder = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def environment(installed: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(installed), "XDG_DATA_HOME": "/nonexistent"}


def run(installed: Path, home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-m", "citekit", *words],
        capture_output=True,
        text=True,
        cwd=home,
        env=environment(installed),
        timeout=120,
    )


def test_the_wheel_has_everything_that_runs_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        metadata = archive.read(next(name for name in names if name.endswith("METADATA"))).decode()
    static = ROOT / "src" / "citekit"
    wanted = {
        str(path.relative_to(ROOT / "src"))
        for path in static.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert wanted == {name for name in names if not re.match(r"citekit_evidence-[\d.]+\.dist-info/", name)}
    assert "Name: citekit-evidence\n" in metadata
    assert "License-Expression: MIT\n" in metadata


def test_it_runs_from_the_wheel_alone(installed: Path, tmp_path: Path) -> None:
    where = run(installed, tmp_path, "--version")
    assert re.fullmatch(r"citekit \d+\.\d+\.\d+\n", where.stdout), where.stderr
    demo = run(installed, tmp_path, "demo")
    assert 0 == demo.returncode, demo.stderr
    (tmp_path / "notes.md").write_text("# Bees\n\nHoney.\n")
    assert 0 == run(installed, tmp_path, "ingest", "notes.md").returncode
    doctor = run(installed, tmp_path, "doctor", "--json")
    assert "citekit-evidence" in doctor.stdout

    async def titles() -> list[str]:
        started = StdioServerParameters(
            command=sys.executable,
            args=["-P", "-m", "citekit", "serve", "--home", str(tmp_path)],
            env=environment(installed),
        )
        async with Client(started) as client:
            found = await client.call_tool("getStructure", {"resource_id": "notes_md"})
            return [node["title"] for node in (found.structured_content or {})["nodes"]]

    assert ["Bees"] == anyio.run(titles)


def test_the_viewer_runs_from_the_wheel_alone(installed: Path, tmp_path: Path) -> None:
    static = "s.files('citekit.entrypoints.web').joinpath('static').iterdir()"
    code = f"import citekit.entrypoints.web.server as s; print(s.__file__, len(list({static})))"
    found = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, env=environment(installed), cwd=tmp_path
    )
    path, count = found.stdout.split()
    assert path.startswith(str(installed)), found.stderr
    assert int(count) > 10


def test_the_version_is_said_once(wheel: Path) -> None:
    version = wheel.name.split("-")[1]
    changelog = (ROOT / "CHANGELOG.md").read_text()
    assert version == (re.search(r"(?m)^## (\d+\.\d+\.\d+)", changelog) or [""])[1]


def test_the_source_distribution_has_the_tests_and_the_licenses(tmp_path: Path) -> None:
    hatch = pytest.importorskip("hatchling.builders.sdist", reason="hatchling is not installed")
    path = next(iter(hatch.SdistBuilder(str(ROOT)).build(directory=str(tmp_path))))
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"LICENSE", "README.md", "CHANGELOG.md", "pyproject.toml", "tests/conftest.py"} <= names
    assert not any(".venv" in name or "__pycache__" in name for name in names)


def test_names_of_extras_are_those_of_the_distribution() -> None:
    """No message and no page tells a user to install another project's distribution."""
    wrong = re.compile(r"pip install ['\"]?citekit(?!-evidence)\b")
    told = [*(ROOT / "src").rglob("*.py"), *(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]
    assert [] == [path.name for path in told if wrong.search(path.read_text("utf-8"))]


def test_doctor_notices_the_distribution_of_the_other_project(installed: Path, tmp_path: Path) -> None:
    other = tmp_path / "other" / "citekit-0.2.1.dist-info"
    other.mkdir(parents=True)
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: citekit\nVersion: 0.2.1\n")
    told = subprocess.run(
        [sys.executable, "-P", "-m", "citekit", "doctor"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**environment(installed), "PYTHONPATH": f"{installed}{os.pathsep}{other.parent}"},
    )
    assert 1 == told.returncode
    assert "citekit 0.2.1 of another project" in told.stdout
    assert "pip uninstall citekit citekit-evidence" in told.stdout
