"""Maps as files that people and other programs touch as well."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from attrs import evolve

from citekit.adapters.libraries.sqlite.key_value_cache import Index
from citekit.adapters.storage.json_maps import JsonMapStore
from citekit.adapters.storage.map_files import SIZE_LIMIT
from citekit.domain.digest import Digest
from citekit.domain.errors import FaultyAnswer, HomeUnwritable, MapCorrupt, MapTooNew, ResourceMissing
from citekit.domain.locations import Lines
from citekit.domain.mapper_identity import MapperIdentity
from citekit.domain.modality import Modality
from citekit.domain.node import Node
from citekit.domain.resource_map import ResourceMap
from citekit.wire import maps


def a_map(resource_id: str = "notes", title: str = "Notes", nodes: int = 1) -> ResourceMap:
    each = tuple(Node(f"n{number}", "N", "section", Lines(number + 1, number + 1)) for number in range(nodes))
    metadata = {"source_hash": "ab" * 32, "mapper": {"name": "local", "version": "1"}}
    when = datetime(2026, 1, 1, tzinfo=UTC)
    return ResourceMap(resource_id, Modality.TEXT, title, "/notes.txt", each, when, metadata)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / ".resource_maps"
    folder.mkdir()
    return folder


def test_reading_an_absent_folder_makes_nothing(tmp_path: Path) -> None:
    store = JsonMapStore(tmp_path / "home" / ".resource_maps", Index(tmp_path / "home" / "index"))

    with pytest.raises(ResourceMissing):
        store.get("notes")

    assert ([], []) == (list(store.ids()), list(tmp_path.iterdir()))
    assert store.find_mapped(Digest("ab" * 32), MapperIdentity("local", "1")) is None


def test_a_map_that_somebody_edits_is_read_again(folder: Path) -> None:
    store = JsonMapStore(folder)
    store.put(a_map())
    before = store.get("notes").title
    path = folder / "notes.json"
    path.write_text(path.read_text().replace("Notes", "Other"))

    after = store.get("notes").title

    assert ("Notes", "Other") == (before, after)


def test_a_map_that_another_store_writes_appears(folder: Path) -> None:
    one, other = JsonMapStore(folder), JsonMapStore(folder)
    one.put(a_map())
    one.get("notes")
    other.put(a_map(title="Newer"))
    other.put(a_map("second"))

    assert ("Newer", ["notes", "second"]) == (one.get("notes").title, list(one.ids()))


SOON = 0.1
"""Seconds after which a map that was written is believed to be unchanged."""


@pytest.mark.parametrize("mtime", [1_700_000_000, 2e9 * 2], ids=["past", "future"])
def test_an_unchanged_map_is_parsed_once(folder: Path, mtime: float) -> None:
    store = JsonMapStore(folder)
    store.put(a_map())
    os.utime(folder / "notes.json", (mtime, mtime))
    time.sleep(SOON)

    assert store.get("notes") is store.get("notes")


def test_a_map_under_a_plain_name_is_parsed_once_until_one_takes_its_place(folder: Path) -> None:
    (folder / "my notes.json").write_text(maps.to_json(a_map("my notes")))
    time.sleep(SOON)
    store = JsonMapStore(folder)
    first, second = store.get("my notes"), store.get("my notes")

    JsonMapStore(folder).put(a_map("my notes", title="Newer"))

    assert first is second
    assert "Newer" == store.get("my notes").title


def test_a_map_behind_a_link_is_parsed_once_until_the_link_or_its_target_changes(folder: Path) -> None:
    (folder / "one.json").write_text(maps.to_json(a_map("one", title="One")))
    (folder / "two.json").write_text(maps.to_json(a_map("two", title="Two")))
    (folder / "alias.json").symlink_to("one.json")
    time.sleep(SOON)
    store = JsonMapStore(folder)
    first, second = store.get("alias"), store.get("alias")
    (folder / "one.json").write_text(maps.to_json(a_map("one", title="Edited")))
    edited = store.get("alias").title
    (folder / "alias.json").unlink()
    (folder / "alias.json").symlink_to("two.json")

    assert first is second
    assert ("Edited", "Two") == (edited, store.get("alias").title)


def test_an_edit_of_a_map_that_puts_the_time_of_change_back_is_noticed(folder: Path) -> None:
    store, path = JsonMapStore(folder), folder / "notes.json"
    store.put(a_map())
    time.sleep(SOON)
    before, status = store.get("notes").title, path.stat()
    path.write_text(path.read_text().replace("Notes", "Other"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))

    assert ("Notes", "Other") == (before, store.get("notes").title)


def test_the_name_of_the_file_is_the_id(folder: Path) -> None:
    (folder / "copy.json").write_text(maps.to_json(a_map("notes")))

    found = JsonMapStore(folder).get("copy")

    assert a_map("copy") == found


@pytest.mark.parametrize("name", ["my notes", "résumé", "100%", "a%41"])
def test_a_file_put_there_by_hand_under_a_plain_name_counts(folder: Path, name: str) -> None:
    (folder / f"{name}.json").write_text(maps.to_json(a_map("notes")))
    store = JsonMapStore(folder)

    ids, found = list(store.ids()), store.get(name)
    store.remove(name)

    assert ([name], name, []) == (ids, found.resource_id, list(store.ids()))


def test_temporary_hidden_and_foreign_files_are_no_maps(folder: Path) -> None:
    for name in (".abc.tmp", ".hidden.json", "readme.txt", "notes.json.bak"):
        (folder / name).write_text("{}")
    (folder / "folder.json").mkdir()

    assert [] == list(JsonMapStore(folder).ids())


def test_the_leftovers_of_killed_writers_are_cleaned_at_the_first_put(folder: Path) -> None:
    old, new = folder / ".old.tmp", folder / ".new.tmp"
    for path in (old, new):
        path.write_text("half")
    os.utime(old, (1, 1))

    JsonMapStore(folder).put(a_map())

    assert [".new.tmp", "notes.json"] == sorted(path.name for path in folder.iterdir())


def test_the_leftovers_of_killed_writers_of_editions_are_cleaned(folder: Path) -> None:
    store = JsonMapStore(folder)
    left = folder / ".editions" / "notes" / ".old.tmp"
    left.parent.mkdir(parents=True)
    left.write_text("half")
    os.utime(left, (1, 1))

    for version in ("1", "2"):
        metadata = {**a_map().metadata, "mapper": {"name": "local", "version": version}}
        store.put(evolve(a_map(), metadata=metadata))

    assert (False, 2) == (left.exists(), len(store.editions("notes")))


DAMAGE = {
    "truncated": maps.to_json(a_map())[:200].encode(),
    "empty": b"",
    "no JSON": b"not json",
    "no object": b"[]",
    "deep": b"[" * 200_000,
    "not UTF-8": b"\xff\xfe\x00",
    "another version": maps.to_json(a_map()).replace('"map_version": 1', '"map_version": 99').encode(),
    "two nodes of one id": json.dumps(
        {"resource_id": "notes", "type": "text", "nodes": [{"id": "a", "location": {"lines": [1, 2]}}] * 2}
    ).encode(),
    "a node without a location": b'{"resource_id": "notes", "type": "text", "nodes": [{"id": "a"}]}',
    "NaN": maps.to_json(a_map()).replace('"map_version": 1', '"map_version": NaN').encode(),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_map_is_one_clear_error_that_names_the_file(folder: Path, damage: str) -> None:
    (folder / "notes.json").write_bytes(DAMAGE[damage])
    store = JsonMapStore(folder)

    with pytest.raises(MapCorrupt, match=r"notes\.json"):
        store.get("notes")
    assert ["notes"] == list(store.ids())


def test_a_map_of_a_later_version_is_not_called_damaged(folder: Path) -> None:
    (folder / "notes.json").write_bytes(DAMAGE["another version"])

    with pytest.raises(MapTooNew, match=r"written by a later version of CiteKit. Update CiteKit") as caught:
        JsonMapStore(folder).get("notes")
    assert "damaged" not in str(caught.value)


def test_an_enormous_map_is_refused_unread(folder: Path) -> None:
    with (folder / "notes.json").open("wb") as file:
        file.truncate(SIZE_LIMIT + 1)

    with pytest.raises(MapCorrupt, match="larger than the limit of 256 MB"):
        JsonMapStore(folder).get("notes")


def test_a_link_that_leads_out_is_refused_and_one_inside_is_followed(folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "secret.json"
    outside.write_text(maps.to_json(a_map()))
    (folder / "out.json").symlink_to(outside)
    (folder / "notes.json").write_text(maps.to_json(a_map()))
    (folder / "alias.json").symlink_to("notes.json")
    store = JsonMapStore(folder)

    with pytest.raises(MapCorrupt, match="a symbolic link to a file outside"):
        store.get("out")
    assert "alias" == store.get("alias").resource_id


def test_a_link_replaced_by_put_leaves_its_target_alone(folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "secret.json"
    outside.write_text("untouched")
    (folder / "notes.json").symlink_to(outside)
    store = JsonMapStore(folder)

    store.put(a_map())

    assert ("untouched", a_map()) == (outside.read_text(), store.get("notes"))


def test_a_pipe_among_the_maps_blocks_nobody(folder: Path) -> None:
    os.mkfifo(folder / "notes.json")

    with pytest.raises(MapCorrupt, match="not a regular file"):
        JsonMapStore(folder).get("notes")


def test_a_map_that_json_cannot_hold_is_refused_and_the_old_one_stays(folder: Path) -> None:
    store = JsonMapStore(folder)
    store.put(a_map())

    for title in ("\ud800",):
        with pytest.raises(FaultyAnswer):
            store.put(a_map(title=title))
    assert a_map() == store.get("notes")


def test_a_folder_that_cannot_be_made_is_a_home_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file")

    with pytest.raises(HomeUnwritable, match="not a folder"):
        JsonMapStore(tmp_path / "home" / ".resource_maps").put(a_map())


def test_a_stale_hint_never_gives_a_wrong_map(folder: Path, tmp_path: Path) -> None:
    store = JsonMapStore(folder, Index(tmp_path / "index"))
    store.put(a_map())
    (folder / "notes.json").write_text(maps.to_json(a_map()).replace("ab" * 32, "cd" * 32))

    source = a_map().source_digest
    assert source is not None
    assert store.find_mapped(source, MapperIdentity("local", "1")) is None


def test_the_hint_is_shared_and_its_loss_does_no_harm(folder: Path, tmp_path: Path) -> None:
    JsonMapStore(folder, Index(tmp_path / "index")).put(a_map())
    source = a_map().source_digest
    assert source is not None

    shared = JsonMapStore(folder, Index(tmp_path / "index")).find_mapped(source, MapperIdentity("local", "1"))
    lost = JsonMapStore(folder, Index(tmp_path / "other")).find_mapped(source, MapperIdentity("local", "1"))

    assert (a_map(), None) == (shared, lost)


def test_a_stale_hint_of_a_path_never_gives_a_wrong_id(folder: Path, tmp_path: Path) -> None:
    store = JsonMapStore(folder, Index(tmp_path / "index"))
    store.put(a_map("one"))
    store.put(a_map("two"))
    (folder / "one.json").write_text(maps.to_json(a_map("one")).replace("/notes.txt", "/other.txt"))
    (folder / "two.json").write_text("torn")

    found = list(store.find_source("/notes.txt")), list(JsonMapStore(folder).find_source("/notes.txt"))

    assert ([], []) == found


def test_ids_are_the_same_object_until_a_map_comes_or_goes(folder: Path) -> None:
    store = JsonMapStore(folder)
    store.put(a_map())
    time.sleep(SOON)
    first, at_hand = store.ids(), store.cached_ids()
    store.put(a_map(title="Newer"))
    second = store.ids()
    store.put(a_map("second"))

    assert first is at_hand
    assert first is second
    assert (None, ("notes", "second")) == (store.cached_ids(), store.ids())


def test_nearest_ids_are_found_among_very_many(folder: Path) -> None:
    for number in range(3000):
        (folder / f"resource_{number:04d}.json").touch()
    (folder / "lecture_one.json").touch()

    with pytest.raises(ResourceMissing) as caught:
        JsonMapStore(folder).get("lecture_on")

    assert ("lecture_one",) == caught.value.nearest


WRITER = """
import sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from test_json_maps import a_map
from citekit.adapters.storage.json_maps import JsonMapStore
store = JsonMapStore(Path(sys.argv[1]))
number = 0
while True:
    store.put(a_map(title=sys.argv[2] * 50, nodes=400))
    number += 1
    if number == 1:
        print("writing", flush=True)
"""


def writer(folder: Path, title: str) -> subprocess.Popen[bytes]:
    script = WRITER.format(tests=str(Path(__file__).parent))
    process = subprocess.Popen([sys.executable, "-c", script, str(folder), title], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    return process


@pytest.mark.long
def test_writers_that_are_killed_leave_a_whole_map(folder: Path) -> None:
    store = JsonMapStore(folder)
    chance = random.Random(7)
    for _ in range(2):
        writers = [writer(folder, title) for title in "ab"]
        time.sleep(chance.uniform(0.0, 0.2))
        for process in writers:
            process.send_signal(signal.SIGKILL)
            process.wait()

        found = store.get("notes")

        assert (found.title[0] * 50, 400) == (found.title, found.node_count)


FULL = """
import resource, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from test_json_maps import a_map
from citekit.adapters.storage.json_maps import JsonMapStore
from citekit.domain.errors import HomeUnwritable
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
try:
    JsonMapStore(Path(sys.argv[1])).put(a_map(nodes=1000))
except HomeUnwritable as error:
    print(error)
"""


@pytest.mark.long
def test_a_full_disk_is_said_and_the_old_map_stays(folder: Path) -> None:
    store = JsonMapStore(folder)
    store.put(a_map())

    script = FULL.format(tests=str(Path(__file__).parent))
    said = subprocess.run([sys.executable, "-c", script, str(folder)], capture_output=True, text=True, check=True)

    assert f"Cannot write {folder / 'notes.json'}: the file would be larger than the system allows.\n" == said.stdout
    assert (a_map(), ["notes.json"]) == (store.get("notes"), [path.name for path in folder.iterdir()])
