"""`citekit list`: what is remembered says the same as what is read."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citekit.adapters.libraries.sqlite.key_value_cache import Index
from citekit.adapters.sources.known_digests import KnownDigests
from citekit.container import INDEX, bootstrap
from citekit.domain.digest import Digest
from citekit.domain.errors import RequestRefused
from citekit.settings import VARIABLES, settings_from
from citekit.settings.home import TAKEN_AS_WRITTEN, home_of
from tests.cli.program import Answer, Cli
from tests.cli.remembering import remember

FORMS = [(), ("--json",)]


def changed(cli: Cli) -> None:
    """Every kind of trouble beside one good map."""
    names = ("good.py", "edited.py", "gone.py", "damaged.py", "plain.py", "touched.py", "same.py", "odd.py")
    paths = [cli.write(name, f"def {name[:-3]}():\n    return 1\n") for name in names]
    assert cli("ingest", *names).code == 0
    maps = cli.here / ".resource_maps"
    cli.write("edited.py", "def edited():\n    return 22\n")
    cli.write("same.py", "def same():\n    return 2\n")  # of the same size
    paths[2].unlink()
    (maps / "damaged_py.json").write_text("{", "utf-8")
    rewrite(maps / "plain_py.json", metadata={})
    rewrite(maps / "odd_py.json", source_path=f"{cli.here}//./odd.py/")
    shutil.copy(maps / "good_py.json", maps / "Größe.json")
    os.utime(paths[5], (1, 1))
    remember(cli.here, *(path for path in paths if path.exists() and path.name != "touched.py"))


def rewrite(path: Path, **fields: object) -> None:
    """Change fields of a map, as somebody with an editor would."""
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), **fields}), "utf-8")


def read_anew(cli: Cli, *arguments: str) -> Answer:
    """The answer where nothing is remembered."""
    shutil.rmtree(cli.here / ".citekit_cache", ignore_errors=True)
    return cli(*arguments)


@pytest.mark.parametrize("form", FORMS)
def test_a_remembered_listing_says_what_a_new_one_says(cli: Cli, form: tuple[str, ...]) -> None:
    changed(cli)

    first, second = cli("list", *form), cli("list", *form)
    anew = read_anew(cli, "list", *form)

    assert first == second == anew


def test_the_state_of_each_source_is_told(cli: Cli) -> None:
    changed(cli)

    found = {row["resource_id"]: row["source"] for row in cli.json("list")["resources"]}

    assert {
        "Größe": "unchanged",
        "damaged_py": "damaged",
        "edited_py": "changed",
        "gone_py": "missing",
        "good_py": "unchanged",
        "odd_py": "unchanged",
        "plain_py": "unknown",
        "same_py": "changed",
        "touched_py": "unchanged",
    } == found


def test_the_states_are_those_that_resolving_goes_by(cli: Cli) -> None:
    changed(cli)
    app = bootstrap(home=cli.here)

    rows = [row for row in cli.json("list")["resources"] if row["source"] in ("unchanged", "changed", "missing")]

    assert len(rows) == 7
    for row in rows:
        stale = app.locate.staleness(app.maps.get(row["resource_id"]))
        assert (stale is None) is (row["source"] == "unchanged")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("home", [".", "nowhere", "a_file"])
def test_a_home_without_maps_is_told_and_left_as_it_is(cli: Cli, home: str, form: tuple[str, ...]) -> None:
    cli.write("a_file", "x")
    before = cli.everything()

    answer = cli("--home", home, "list", *form)

    assert before == cli.everything()
    if home != "a_file":
        place = str((cli.here / home).absolute()).removesuffix("/.")
        assert (0, "") == (answer.code, answer.err)
        assert answer.document == {"resources": []} if form else f"There are no maps yet in {place}" in answer.out
    assert (", which does not exist" in answer.out) is (not form and home == "nowhere")


def test_a_folder_of_maps_that_cannot_be_read_is_one_clear_error(cli: Cli) -> None:
    cli.write(".resource_maps", "no folder")

    answer = cli("list")

    assert 1 == answer.code
    assert "The folder of maps cannot be read" in answer.err


@pytest.mark.long
@pytest.mark.parametrize("damage", [b"no database", b""])
def test_damaged_caches_change_no_answer(cli: Cli, damage: bytes) -> None:
    changed(cli)
    expected = cli("list")
    for path in (cli.here / ".citekit_cache").rglob("*.db*"):
        path.write_bytes(damage)

    assert expected == cli("list") == cli("list")


def test_a_digest_is_known_as_long_as_the_file_looks_the_same(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"abc")
    remember(tmp_path, path)
    digests = KnownDigests(str(tmp_path / ".citekit_cache" / INDEX))

    known = digests.get(path.stat())
    path.write_bytes(b"abd")

    assert (Digest.of_bytes(b"abc").hex, None) == (known, digests.get(path.stat()))
    digests.close()


@pytest.mark.parametrize("row", [{"sha256": "f" * 63}, {"since": 1.0}, {"sha256": "F" * 64}, {}])
def test_a_row_that_is_no_digest_is_not_believed(tmp_path: Path, row: dict[str, object]) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"abc")
    status = path.stat()
    index = Index(tmp_path / INDEX)
    key = f"state:{status.st_dev}:{status.st_ino}:{status.st_size}:{status.st_mtime_ns}:{status.st_ctime_ns}"
    assert index.put(key, row)
    digests = KnownDigests(str(tmp_path / INDEX))

    assert digests.get(status) is None
    digests.close()
    index.close()


VALUES = st.sampled_from(
    ["1", "0", "x", "-1", "10G", "~", "~nobody-here/a", "relative/folder", "/absolute", "pyav", "int8"]
)


@settings(max_examples=100)
@given(st.dictionaries(st.sampled_from(sorted(VARIABLES)), VALUES, max_size=4), st.none() | VALUES)
def test_the_home_alone_is_the_home_of_the_settings(environment: dict[str, str], home: str | None) -> None:
    assert outcome(lambda: str(settings_from(environment, home).home)) == outcome(lambda: home_of(environment, home))


def outcome(read: Callable[[], str]) -> str:
    """What is read, or why it is refused."""
    try:
        return read()
    except RequestRefused as refused:
        return f"refused: {refused}"


@given(st.sampled_from(sorted(TAKEN_AS_WRITTEN - {"CITEKIT_HOME"})), st.text(min_size=1))
def test_what_is_taken_as_written_is_never_refused(name: str, value: str) -> None:
    assert settings_from({name: value}).home.is_absolute()
