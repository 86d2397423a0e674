"""What a release consists of: one version, valid manifests, a bundle that has all that runs, and pinned hashes."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path

import jsonschema
import pytest

from release.__main__ import problems
from release.artifacts import ROOT, manifest, project, server_json, write_bundle

SCHEMAS = Path(__file__).parent / "schemas"


def schema(name: str) -> object:
    return json.loads((SCHEMAS / name).read_text("utf-8"))


def pins(name: str) -> dict[str, str]:
    lines = (ROOT / name).read_text("utf-8").splitlines()
    found = (re.match(r"([A-Za-z0-9._-]+)==([^\s;]+)", line) for line in lines)
    return {re.sub(r"[-_.]+", "-", each[1]).lower(): each[2] for each in found if each}


def test_the_entry_for_the_registry_is_valid_and_starts_the_server() -> None:
    entry = server_json("io.github.someone/citekit")
    jsonschema.validate(entry, schema("server.schema.json"))
    (package,) = entry["packages"]
    assert [package["version"], entry["version"]] == [project()["version"]] * 2
    words = [each.get("value") for each in package["runtimeArguments"] + package["packageArguments"]]
    assert [f"citekit-evidence[media]=={project()['version']}", "citekit", "serve", "{folder}"] == words
    assert "citekit" in project()["scripts"]
    assert "media" in project()["optional-dependencies"]


@pytest.mark.long
def test_the_bundle_is_valid_and_the_same_every_time(tmp_path: Path) -> None:
    one, other = tmp_path / "one.mcpb", tmp_path / "other.mcpb"
    write_bundle(one)
    write_bundle(other)
    assert one.read_bytes() == other.read_bytes()
    with zipfile.ZipFile(one) as archive:
        names = set(archive.namelist())
        found = json.loads(archive.read("manifest.json"))
    jsonschema.validate(found, schema("mcpb-manifest-v0.4.schema.json"))
    assert found == manifest()
    assert found["version"] == project()["version"]
    assert {found["server"]["entry_point"], "pyproject.toml", "LICENSE", "README.md"} <= names
    assert not any("__pycache__" in name for name in names)


def test_a_release_with_another_version_than_its_files_or_its_changelog_is_not_ready(tmp_path: Path) -> None:
    for name in ("x-0.0.1-py3-none-any.whl", "x-0.0.1.tar.gz", "x-0.0.1.mcpb"):
        (tmp_path / name).touch()
    assert 3 == len([each for each in problems(tmp_path) if "exactly one file" in each])


def test_the_hashes_are_those_of_the_locked_versions() -> None:
    hashed, locked = pins("requirements.hashes"), pins("requirements.lock")
    assert {} == {name: version for name, version in hashed.items() if locked.get(name, version) != version}
    text = (ROOT / "requirements.hashes").read_text("utf-8")
    assert not re.search(r"index-url|find-links|https?://|file:", text)
    assert text.count("==") <= text.count("--hash=sha256:")
