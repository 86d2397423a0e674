"""`citekit sync` and `citekit rename`: what is new, changed, moved, or gone, and IDs that change."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.program import Cli


def write(path: Path, text: str, age: float = 60) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    then = time.time() - age
    os.utime(path, (then, then))
    return path


@pytest.fixture
def folder(cli: Cli) -> Path:
    write(cli.here / "docs" / "one.md", "# One\n\nFirst.\n")
    write(cli.here / "docs" / "deep" / "two.md", "# Two\n\nSecond.\n")
    return cli.here / "docs"


def states(cli: Cli, *words: str) -> tuple[int, dict[str, tuple[str, str | None]]]:
    done = cli("sync", "docs", "--json", *words)
    found = json.loads(done.out)["files"]
    return done.code, {Path(each["path"]).name: (each["state"], each["resource_id"]) for each in found}


def test_new_changed_moved_and_gone_files_are_told_apart(cli: Cli, folder: Path) -> None:
    assert (0, {"one.md": ("new", "one_md"), "two.md": ("new", "two_md")}) == states(cli)
    assert (0, {}) == states(cli)
    write(folder / "one.md", "# One\n\nFirst, again.\n", age=30)
    (folder / "deep" / "two.md").rename(folder / "other name.md")
    assert (0, {"one.md": ("changed", "one_md"), "other name.md": ("moved", "two_md")}) == states(cli)
    (folder / "one.md").unlink()
    assert (0, {"one.md": ("gone", "one_md")}) == states(cli)
    assert 0 == cli("structure", "one_md").code
    assert (0, {"one.md": ("removed", "one_md")}) == states(cli, "--prune")
    assert 1 == cli("structure", "one_md").code
    assert (0, {}) == states(cli)


def test_links_hidden_files_and_what_the_rules_exclude_are_left_out(cli: Cli, folder: Path) -> None:
    (folder / "link.md").symlink_to(write(cli.here / "elsewhere.md", "# Elsewhere\n"))
    (folder / "linked").symlink_to(cli.here)
    write(folder / ".hidden.md", "# Hidden\n")
    write(folder / "three.txt", "Three\n")
    assert {"one.md", "three.txt"} == set(states(cli, "--exclude", "deep")[1])
    assert {"two.md"} == set(states(cli, "--include", "deep/*.md")[1])


def test_a_file_that_may_still_be_written_waits(cli: Cli, folder: Path) -> None:
    write(folder / "three.md", "# Thr", age=-3600)
    os.utime(folder / "three.md")
    code, found = states(cli)
    assert ("being written", None) == found["three.md"]
    assert 1 == code


@pytest.mark.slow
def test_a_folder_of_a_hundred_thousand_files_is_watched(cli: Cli, folder: Path) -> None:
    for number in range(100):
        (folder / f"{number}").mkdir()
        for other in range(1000):
            (folder / f"{number}" / f"{other}.log").touch()
    words = [sys.executable, "-m", "citekit", "sync", "docs", "--watch", "--interval", "1", "--exclude", "*.log"]
    process = subprocess.Popen(words, cwd=cli.here, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert {"one.md", "two.md"} == {Path(process.stdout.readline().split()[1]).name for _ in range(2)}
        write(folder / "99" / "three.md", "# Three\n")
        assert any("three.md" in line for line in process.stdout)
    finally:
        process.terminate()
        process.wait()


def test_an_empty_folder_deletes_nothing(cli: Cli, folder: Path) -> None:
    states(cli)
    folder.rename(cli.here / "away")
    folder.mkdir()
    code, found = states(cli, "--prune")
    assert 1 == code
    assert {"failed"} == {state for state, _ in found.values()}
    assert 0 == cli("structure", "one_md").code
    assert 2 == cli("sync", "missing").code


def test_the_rules_of_the_home_are_used_and_stay_in_it(cli: Cli, folder: Path) -> None:
    (cli.here / "citekit.toml").write_text('[sync]\nfolders = ["docs"]\nexclude = ["deep"]\n')
    assert ["one.md"] == [Path(each["path"]).name for each in json.loads(cli("sync", "--json").out)["files"]]
    large = '[sync]\nfolders = ["docs"]\n' + "# a comment\n" * 100_000
    for text in (large, '[sync]\nfolders = ["/etc"]\n', "[sync]\nfolders = 3\n", "[sync]\nother = []\n", "not toml"):
        (cli.here / "citekit.toml").write_text(text)
        done = cli("sync")
        assert 2 == done.code
        assert 1 == len(done.err.strip().splitlines())


@pytest.mark.long
def test_a_renamed_resource_keeps_its_evidence_its_tags_and_its_name_in_a_sync(cli: Cli, folder: Path) -> None:
    states(cli)
    cli("tag", "one_md", "--add", "red")
    evidence = json.loads(cli("resolve", "text://one_md#lines=1-2", "--json").out)["output_path"]
    assert 0 == cli("rename", "one_md", "first").code
    assert "first" in cli("list", "--tag", "red").out
    assert 0 == cli("verify", evidence).code
    assert 0 == cli("resolve", "text://first#lines=1-2").code
    old = cli("resolve", "text://one_md#lines=1-2")
    assert 1 == old.code
    assert "Did you mean 'first'?" in old.err
    write(folder / "one.md", "# One\n\nFirst, again.\n", age=30)
    assert (0, {"one.md": ("changed", "first")}) == states(cli)
    assert 2 == cli("rename", "first", "two_md").code
    assert 2 == cli("rename", "first", "a/b").code


@pytest.mark.skipif("not hasattr(__import__('os'), 'mkfifo')", reason="needs POSIX")
@pytest.mark.parametrize("is_pipe", [True, False])
def test_a_pipe_or_a_link_in_place_of_the_settings_is_refused(cli: Cli, is_pipe: bool) -> None:
    path = cli.here / "citekit.toml"
    if is_pipe:
        os.mkfifo(path)
    else:
        (cli.here / "elsewhere.toml").write_text('[sync]\nfolders = ["docs"]\n')
        path.symlink_to("elsewhere.toml")

    refused = cli("sync")

    assert (2, True) == (refused.code, "citekit.toml cannot be read" in refused.err)
