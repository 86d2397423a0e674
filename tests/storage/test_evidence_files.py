"""The evidence store on disk: several processes, kills, full and read-only disks, planted data."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from citekit.adapters.libraries.sqlite.key_value_cache import Index
from citekit.adapters.storage import eviction
from citekit.adapters.storage.evidence_files import FileEvidenceStore
from citekit.adapters.system.home_seal import CODE_SIZE
from citekit.domain.digest import Digest
from citekit.domain.errors import ExtractionFailed, HomeUnwritable
from citekit.domain.evidence import Extraction
from tests.storage.pieces_of_evidence import EXTRACTION, key_of, writing

PRELUDE = """
import os, signal, sys, time
from pathlib import Path
from citekit.adapters.libraries.sqlite.key_value_cache import Index
from citekit.adapters.storage.evidence_files import FileEvidenceStore
from citekit.domain.digest import Digest
from citekit.domain.errors import HomeUnwritable
from citekit.domain.evidence import EvidenceKey, Extraction
from citekit.domain.locations import Pages

home = Path(sys.argv[1])
store = FileEvidenceStore(home / "evidence", Index(home / "index"), grace=0)
extraction = Extraction(suffix=".pdf", media_type="application/pdf", extent=Pages.of([1]))

def key_of(name):
    return EvidenceKey(Digest.of_bytes(name.encode()))
"""


def store_in(home: Path, limit: int = 10**9, grace: float = 0) -> FileEvidenceStore:
    return FileEvidenceStore(home / "evidence", Index(home / "index"), limit, grace=grace)


def start(home: Path, script: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", PRELUDE + script, str(home)], stdout=subprocess.PIPE, text=True)


def finish(process: subprocess.Popen[str]) -> str:
    said, _ = process.communicate(timeout=120)
    assert 0 == process.returncode
    return said


@pytest.mark.long
def test_of_eight_processes_one_makes(tmp_path: Path) -> None:
    script = """
def make(target):
    with open(home / "made.log", "a") as log:
        log.write("made\\n")
    time.sleep(0.3)
    target.write_bytes(b"alpha" * 1000)
    return extraction
found = store.obtain(key_of("a"), make)
print(found.made_now, found.digest)
"""
    processes = [start(tmp_path, script) for _ in range(8)]

    said = [finish(process).split() for process in processes]

    assert "made\n" == (tmp_path / "made.log").read_text()
    assert ["False"] * 7 + ["True"] == sorted(made for made, _ in said)
    assert {Digest.of_bytes(b"alpha" * 1000).hex} == {digest for _, digest in said}


def test_evidence_is_found_from_another_process(tmp_path: Path) -> None:
    made = store_in(tmp_path).obtain(key_of("a"), writing(b"alpha"))

    said = finish(start(tmp_path, 'found = store.find(key_of("a")); print(found.path, found.extraction == extraction)'))

    assert f"{made.path} True\n" == said


def test_a_maker_that_is_killed_lets_go_of_the_lock_and_leaves_no_torn_object(tmp_path: Path) -> None:
    script = """
def make(target):
    target.write_bytes(b"half")
    print("half", flush=True)
    time.sleep(600)
store.obtain(key_of("a"), make)
"""
    process = start(tmp_path, script)
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    store = store_in(tmp_path)
    left = len(list((tmp_path / "evidence" / "making").iterdir()))

    found = store.find(key_of("a"))
    made = store.obtain(key_of("a"), writing(b"whole"))

    assert (None, b"whole") == (found, made.path.read_bytes())
    assert (1, []) == (left, list((tmp_path / "evidence" / "making").iterdir()))


def test_verify_cleans_up_after_the_killed_but_not_after_the_living(tmp_path: Path) -> None:
    script = """
def make(target):
    target.write_bytes(b"half")
    print("half", flush=True)
    if sys.stdin.readline() == "go\\n":
        target.write_bytes(b"whole")
    return extraction
print(store.obtain(key_of("living"), make).path.read_bytes())
"""
    living = subprocess.Popen(
        [sys.executable, "-c", PRELUDE + script, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert living.stdout is not None
    living.stdout.readline()
    dead = tmp_path / "evidence" / "making" / f"{'f' * 64}-00000000"
    dead.mkdir()
    (dead / "evidence").write_bytes(b"half")

    leftovers = store_in(tmp_path).verify().leftovers
    said, _ = living.communicate("go\n", timeout=60)

    assert (1, "b'whole'\n", False) == (leftovers, said, dead.exists())


@pytest.mark.long
def test_processes_that_are_killed_anywhere_leave_only_whole_objects(tmp_path: Path) -> None:
    script = """
number = 0
print("working", flush=True)
while True:
    number += 1
    data = str(number % 40).encode() * 20000
    def make(target):
        target.write_bytes(data)
        return extraction
    store.obtain(key_of(f"{number % 40}"), make)
    if number % 7 == 0:
        store.prune(300_000)
"""
    chance = random.Random(11)
    for _ in range(2):
        processes = [start(tmp_path, script) for _ in range(2)]
        for process in processes:
            assert process.stdout is not None
            process.stdout.readline()
        time.sleep(chance.uniform(0.05, 0.3))
        for process in processes:
            process.send_signal(signal.SIGKILL)
            process.wait()
            assert process.stdout is not None
            process.stdout.close()

    store = store_in(tmp_path)
    check = store.verify()

    assert (True, []) == (check.checked > 0, list(check.healed))
    for number in range(40):
        data = str(number).encode() * 20000
        assert data == store.obtain(key_of(f"{number}"), writing(data)).path.read_bytes()


def test_a_full_disk_is_said_and_nothing_is_stored(tmp_path: Path) -> None:
    script = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))
def make(target):
    target.write_bytes(b"x" * 2_000_000)
    return extraction
try:
    store.obtain(key_of("a"), make)
except HomeUnwritable as error:
    print(str(error).endswith("larger than the system allows."))
"""
    said = finish(start(tmp_path, script))

    assert ("True\n", 0) == (said, store_in(tmp_path).stats().objects)
    assert [] == list((tmp_path / "evidence" / "making").iterdir())


def test_a_full_disk_that_a_driver_noticed_is_said_as_such(tmp_path: Path) -> None:
    def make(target: Path) -> Extraction:
        try:
            with open("/dev/full", "wb", buffering=0) as file:
                file.write(b"x")
        except OSError as error:
            raise ExtractionFailed("The clip could not be cut.") from error
        return EXTRACTION

    with pytest.raises(HomeUnwritable, match="the disk is full"):
        store_in(tmp_path).obtain(key_of("a"), make)


def test_a_home_that_cannot_be_made_finds_nothing_and_says_why_it_stores_nothing(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file")
    store = store_in(tmp_path / "home")

    assert store.find(key_of("a")) is None
    assert (0, 0, 0) == (store.stats().objects, store.prune(), store.verify().checked)
    with pytest.raises(HomeUnwritable, match="not a folder"):
        store.obtain(key_of("a"), writing(b"alpha"))


@pytest.fixture
def open_home() -> Iterator[Path]:
    """A home that a user other than root can reach."""
    with tempfile.TemporaryDirectory(prefix="citekit-test-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def test_a_read_only_home_is_still_read(open_home: Path) -> None:
    made = store_in(open_home).obtain(key_of("a"), writing(b"alpha"))
    folders = [each for each in (open_home, *open_home.rglob("*")) if each.is_dir()]
    for folder in folders:
        folder.chmod(0o555)
    script = """
import filelock, sqlite3
if os.getuid() == 0:
    os.setgid(65534); os.setuid(65534)
print(store.find(key_of("a")).path)
try:
    store.obtain(key_of("b"), lambda target: extraction)
except HomeUnwritable as error:
    print(error)
"""

    said = finish(start(open_home, script)).splitlines()
    for folder in folders:
        folder.chmod(0o755)

    assert str(made.path) == said[0]
    assert said[1].endswith("you are not permitted to write there.")


def test_objects_are_read_only_and_named_by_their_content(tmp_path: Path) -> None:
    made = store_in(tmp_path).obtain(key_of("a"), writing(b"alpha"))

    digest = Digest.of_bytes(b"alpha").hex
    assert (0o444, f"objects/{digest[:2]}/{digest[2:]}") == (
        made.path.stat().st_mode & 0o777,
        made.path.relative_to(tmp_path / "evidence").as_posix(),
    )


def test_a_maker_that_leaves_a_link_has_failed(tmp_path: Path) -> None:
    def make(target: Path) -> Extraction:
        target.symlink_to("/etc/passwd")
        return EXTRACTION

    with pytest.raises(ExtractionFailed, match="instead of a regular file"):
        store_in(tmp_path).obtain(key_of("a"), make)


def test_a_link_in_place_of_an_object_is_not_followed(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    made = store.obtain(key_of("a"), writing(b"alpha"))
    secret = tmp_path / "secret"
    secret.write_bytes(b"alpha")
    made.path.unlink()
    made.path.symlink_to(secret)

    found = store.find(key_of("a"))
    again = store.obtain(key_of("a"), writing(b"alpha"))

    assert (None, False, b"alpha") == (found, again.path.is_symlink(), secret.read_bytes())


def test_an_index_that_was_lost_costs_only_work(tmp_path: Path) -> None:
    one = store_in(tmp_path).obtain(key_of("a"), writing(b"alpha"))
    (tmp_path / "index").rename(tmp_path / "gone")
    store = store_in(tmp_path)

    again = store.obtain(key_of("a"), writing(b"alpha"))

    assert (one.path, True, 1) == (again.path, again.made_now, store.stats().objects)


def test_an_index_that_is_no_database_is_made_anew(tmp_path: Path) -> None:
    (tmp_path / "index").mkdir()
    (tmp_path / "index" / "evidence.db").write_bytes(b"this is no database " * 500)
    store = store_in(tmp_path)

    store.obtain(key_of("a"), writing(b"alpha"))

    assert store.find(key_of("a")) is not None
    assert not (tmp_path / "index.damaged").exists()


@pytest.mark.long
def test_without_any_index_evidence_is_made_every_time_and_still_bounded(tmp_path: Path) -> None:
    (tmp_path / "index").write_text("a file where the folder should be")
    store = store_in(tmp_path, limit=1000)

    for name in "abcdefghijklmnop":
        assert store.obtain(key_of(name), writing(name.encode() * 100)).made_now

    assert store.stats().size <= 1000


def test_without_any_index_all_objects_can_be_evicted_if_they_are_one_whole_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(eviction, "BATCH", 4)
    (tmp_path / "index").write_text("a file where the folder should be")
    store = store_in(tmp_path)
    contents = sorted((b"a", b"b", b"c", b"d"), key=lambda each: Digest.of_bytes(each).hex, reverse=True)
    for content in contents:
        store.obtain(key_of(content.decode()), writing(content))
        time.sleep(0.02)  # the object that comes last on the disk is the oldest

    store.prune(0)

    assert 0 == store.stats().objects


def test_a_whole_cache_that_is_deleted_while_it_is_used_is_made_anew(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    store.obtain(key_of("a"), writing(b"alpha"))
    subprocess.run(["rm", "-r", str(tmp_path / "evidence"), str(tmp_path / "index")], check=True)

    again = store.obtain(key_of("a"), writing(b"alpha"))

    assert (True, b"alpha") == (again.made_now, again.path.read_bytes())
    assert store_in(tmp_path).find(key_of("a")) is not None


def test_the_counter_of_the_size_is_put_right_by_verify(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    store.obtain(key_of("a"), writing(b"alpha"))
    change(tmp_path, "UPDATE total SET size = 1000000000000")

    store.verify()

    assert [(5,)] == rows(tmp_path, "total")


def test_no_lock_file_is_left(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    for number in range(20):
        store.obtain(key_of(str(number)), writing(str(number).encode()))
    store.verify()

    assert [] == list((tmp_path / "evidence" / "locks").iterdir())


def rows(home: Path, table: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(home / "index" / "evidence.db")) as connection:
        return connection.execute(f"SELECT * FROM {table}").fetchall()


def change(home: Path, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(home / "index" / "evidence.db")) as connection, connection:
        connection.execute(statement, values)


def test_evidence_that_was_linked_is_read_again_once(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    (tmp_path / "link").hardlink_to(store.obtain(key_of("a"), writing(b"alpha")).path)
    time.sleep(0.1)  # the file system may give two changes that are nearer the same time

    seen = [rows(tmp_path, "evidence") for _ in range(3) if store.find(key_of("a"))]

    assert seen[0] == seen[1] == seen[2]
    assert os.stat(tmp_path / "link").st_ctime_ns == json.loads(seen[0][0][-1][2 * CODE_SIZE :])["state"][-1]


def test_asking_for_evidence_does_not_touch_its_file(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    path = store.obtain(key_of("a"), writing(b"alpha")).path
    before = path.stat()

    FileEvidenceStore(tmp_path / "evidence", Index(tmp_path / "index"), clock=Tomorrow()).find(key_of("a"))

    assert (before.st_ctime_ns, before.st_mtime_ns) == (path.stat().st_ctime_ns, path.stat().st_mtime_ns)


class Tomorrow:
    """A clock that is a day ahead."""

    def now(self) -> datetime:
        return datetime.now(UTC) + timedelta(days=1)


def test_what_was_asked_for_just_now_is_not_dropped_to_make_room(tmp_path: Path) -> None:
    store = store_in(tmp_path, limit=100, grace=10)
    for name in "abc":
        store.obtain(key_of(name), writing(name.encode() * 80))
    later = FileEvidenceStore(tmp_path / "evidence", Index(tmp_path / "index"), 100, clock=Tomorrow(), grace=10)

    kept = (store.prune(0), store.stats().objects)
    later.find(key_of("b"))

    assert (0, 3) == kept
    assert (160, 1) == (later.prune(0), later.stats().objects)
    assert (80, 0) == (store.clear(), store.stats().objects)


@pytest.mark.long
def test_no_object_goes_between_asking_and_using_while_another_prunes(tmp_path: Path) -> None:
    script = """
store = FileEvidenceStore(home / "evidence", Index(home / "index"))
print("pruning", flush=True)
while True:
    store.prune(0)
"""
    process = start(tmp_path, script)
    assert process.stdout is not None
    process.stdout.readline()
    store = store_in(tmp_path, grace=10)

    gone = 0
    try:
        for turn in range(400):
            name = str(turn % 20)
            stored = store.obtain(key_of(name), writing(name.encode() * 100))
            try:
                (tmp_path / "link").hardlink_to(stored.path)
                (tmp_path / "link").unlink()
            except FileNotFoundError:
                gone += 1
    finally:
        process.kill()
        process.communicate()

    assert 0 == gone


def test_what_is_dropped_leaves_nothing_in_the_index(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    for name in "abc":
        store.obtain(key_of(name), writing(b"the same bytes"))
    store.obtain(key_of("other"), writing(b"other"))
    before = len(rows(tmp_path, "evidence")), len(rows(tmp_path, "object")), rows(tmp_path, "total")

    store.prune(0)

    assert (4, 2, [(19,)]) == before
    assert ([], [], [(0,)]) == (rows(tmp_path, "evidence"), rows(tmp_path, "object"), rows(tmp_path, "total"))


def test_a_key_that_means_another_object_now_is_not_forgotten_with_the_old_one(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    old = store.obtain(key_of("a"), writing(b"old")).path
    (tmp_path / "index" / "evidence.db").unlink()
    store_in(tmp_path).obtain(key_of("a"), writing(b"new"))
    old.unlink()

    store.verify()

    assert Digest.of_bytes(b"new") == store.obtain(key_of("a"), writing(b"never")).digest
