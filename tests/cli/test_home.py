"""`doctor`, `cache`, `demo`, `serve`: the home and what is in it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from citekit.entrypoints.cli.program import COMMANDS, SECTIONS
from tests.cli.program import Cli, plain_environment


@pytest.fixture
def used(cli: Cli) -> Cli:
    """A home with a map and a piece of evidence."""
    cli.write("code.py")
    assert cli("ingest", "code.py").code == 0
    assert cli("resolve", "code_py", "first").code == 0
    return cli


def test_a_healthy_home_is_called_healthy(used: Cli) -> None:
    before = used.everything()

    found = used.json("doctor")

    states = {finding["about"]: finding for finding in found["findings"]}
    assert found["healthy"]
    assert {"python", "citekit-evidence", "pymupdf", "av", "mapper", "home", "maps", "sources", "index"} <= set(states)
    assert states["mapper"]["text"].startswith("local")
    assert not [path for path in used.everything() ^ before if not path.startswith(".citekit_cache/index")]


def test_a_person_reads_a_line_for_each_topic_and_all_on_request(used: Cli) -> None:
    brief = used("doctor").out.splitlines()
    noted = [line for line in brief[5:-1] if line.startswith("note")]

    assert ["program", "extras", "mapper", "home", "clients"] == [line.split()[1] for line in brief[:5]]
    assert "CiteKit 1." in brief[0]
    assert "Python 3." in brief[0]
    assert "library" in brief[1]
    assert str(used.here) in brief[3]
    assert "maps: 1 of 1 can be read" in brief[3]
    assert len(brief) <= 6 + 2 * len(noted)
    names = [line.split()[1] for line in used("doctor", "-v").out.splitlines()[:-1]]
    assert {"pymupdf", "wordllama"} <= set(names)
    assert 1 == names.count("wordllama")


@pytest.mark.long
def test_what_is_broken_is_named_with_its_remedy(used: Cli) -> None:
    used.write(".resource_maps/torn.json", "{")
    used.write(".citekit_cache/index-1/cache.db", b"not a database" * 1000)
    used.write("code.py", "# other\n")
    left = [used.write(f"{folder}/.0123.tmp", "x") for folder in (".resource_maps", ".citekit_library/index/books")]
    for path in left:
        os.utime(path, (0, 0))

    answer = used("doctor", "--json")

    found = {finding["about"]: finding for finding in answer.document["findings"]}
    assert (1, False) == (answer.code, answer.document["healthy"])
    assert {"map 'torn'": "broken", "index": "broken", "sources": "noted", "leftovers": "noted"} == {
        about: found[about]["health"] for about in ("map 'torn'", "index", "sources", "leftovers")
    }
    assert not [each for each in found.values() if each["health"] != "fine" and not each["remedy"]]
    assert f"2 temporary files or folders of killed processes, such as {min(left)}" == found["leftovers"]["text"]


@pytest.mark.long
def test_a_person_reads_what_is_wrong(used: Cli) -> None:
    used.write(".resource_maps/torn.json", "{")
    used.write(".resource_maps/zz.json", '{"resource_id": "zz", "metadata": {"map_version": 99}}')

    answer = used("doctor")

    assert "BROKEN  map 'torn'" in answer.out
    assert "remedy: citekit remove torn" in answer.out
    assert "was written by a later version of CiteKit" in answer.out
    assert "remedy: pip install --upgrade citekit-evidence" in answer.out
    assert answer.err.startswith("Error: 2 problems found: map 'torn': ")


def test_the_store_says_how_full_it_is(used: Cli) -> None:
    stats = used.json("cache", "stats")

    assert (1, 10 * 10**9, str(used.here / ".citekit_cache")) == (stats["objects"], stats["limit"], stats["folder"])


def test_damage_is_found_and_made_good(used: Cli) -> None:
    [thing] = [path for path in (used.here / ".citekit_cache").rglob("objects/*/*") if path.is_file()]
    thing.chmod(0o644)
    thing.write_text("edited")

    found = used.json("cache", "verify")
    again = used.json("resolve", "code_py", "first")

    assert (1, 1) == (found["checked"], len(found["damaged"]))
    assert "def first" in Path(again["output_path"]).read_text("utf-8")


@pytest.mark.long
def test_room_is_made(used: Cli) -> None:
    [laid] = [path for path in (used.here / ".citekit_output").iterdir() if path.is_file()]
    kept = used.json("cache", "prune")
    laid.unlink()

    gone = used.json("cache", "clear")

    assert (0, 1) == (kept["freed"], kept["objects"])
    assert (True, 0) == (gone["freed"] > 0, gone["objects"])
    assert 2 == used("cache", "prune", "--limit", "little").code


def test_a_file_in_the_output_folder_stays_and_its_bytes_are_not_said_to_be_freed(used: Cli) -> None:
    [laid] = [path for path in (used.here / ".citekit_output").iterdir() if path.is_file()]

    gone = used.json("cache", "clear")

    assert (0, 0, True) == (gone["freed"], gone["objects"], laid.is_file())


def test_the_demonstration_maps_and_cuts_what_it_is_given(cli: Cli) -> None:
    cli.write("code.py")
    cli.write("words.txt", "FIRST\n=====\n\nSome words.\n\nSECOND\n======\n\nMore words.\n")

    shown = cli.json("demo", "code.py", "words.txt", "--home", "home")

    assert ["code_py", "words_txt"] == [each["resource_id"] for each in shown["resources"]]
    assert not [each for each in shown["resources"] if not Path(each["output_path"]).is_file()]
    assert str(cli.here / "home") == shown["home"]


@pytest.mark.long
def test_the_demonstration_of_the_samples_shows_paths_addresses_and_times(cli: Cli) -> None:
    answer = cli("demo", "--home", "home")

    assert (0, "") == (answer.code, answer.err)
    assert 4 <= answer.out.count("  first    ") == answer.out.count("  again    ")
    assert answer.out.count("  first    ") + 1 == answer.out.count("  address  ")
    assert "├─ " in answer.out
    assert "address  doc://r-intro#pages=17\n" in answer.out
    assert "Missing values are" in answer.out
    shutil.rmtree(cli.here / "home")


@pytest.mark.long
def test_a_server_ends_when_its_client_leaves(cli: Cli) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "citekit", "serve", "--home", "home"],
        cwd=cli.here,
        env=plain_environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )

    assert (0, b"") == (done.returncode, done.stdout)
    assert set() == cli.everything()


def test_the_program_alone_prints_its_help_by_section(cli: Cli) -> None:
    alone = cli()

    assert (2, "") == (alone.code, alone.out)
    assert alone.err.splitlines() == cli("--help").out.splitlines()
    assert sorted(COMMANDS) == sorted(name for names in SECTIONS.values() for name in names)
