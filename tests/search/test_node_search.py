"""The index of nodes in SQLite: it follows the maps, and whatever becomes of its file, the answers are right."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from attrs import define
from hypothesis import given

from citekit.adapters.libraries.sqlite import cache_file
from citekit.adapters.search.node_search import sqlite_index
from citekit.adapters.search.node_search.scanning import ScanningNodeIndex
from citekit.adapters.search.node_search.sqlite_index import SqliteNodeIndex
from citekit.adapters.storage.json_maps import JsonMapStore
from citekit.adapters.system import file_locks
from citekit.domain.locations import Lines
from citekit.domain.modality import Modality
from citekit.domain.node import Node
from citekit.domain.resource_map import ResourceMap
from citekit.domain.words import words_of
from tests.doubles.stores import InMemoryMapStore
from tests.strategies import resource_maps


def titled(resource_id: str, *titles: str) -> ResourceMap:
    nodes = tuple(Node(f"n{at}", title, "section", Lines(at, at)) for at, title in enumerate(titles, 1))
    return ResourceMap(resource_id, Modality.TEXT, resource_id, "/a.txt", nodes, datetime(2026, 1, 1, tzinfo=UTC))


def asked(index: SqliteNodeIndex | ScanningNodeIndex, question: str) -> list[str]:
    return [f"{hit.resource_id} {hit.head.title}" for hit in index.best(words_of(question), limit=20)]


@define
class Home:
    """Three maps in files, an index that knows them, and no other way to an answer than the index."""

    folder: Path
    maps: JsonMapStore
    index: SqliteNodeIndex

    @property
    def database(self) -> Path:
        """The file of the index."""
        return self.folder / "cache" / "words" / sqlite_index.DATABASE

    def file(self, resource_id: str) -> Path:
        """The file of a map."""
        return self.folder / "maps" / f"{resource_id}.json"

    def another(self, patience: float = 5.0) -> SqliteNodeIndex:
        """The index of another program, so to say."""
        return SqliteNodeIndex(JsonMapStore(self.folder / "maps"), self.folder / "cache" / "words", patience=patience)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.setattr(cache_file, "PAUSE", 0.0)
    maps = JsonMapStore(tmp_path / "maps")
    for name in ("a", "b", "c"):
        maps.put(titled(name, "Trees", "Fresh grass"))
    index = SqliteNodeIndex(maps, tmp_path / "cache" / "words", patience=5.0)
    assert ["a Trees", "b Trees", "c Trees"] == asked(index, "trees")
    return Home(tmp_path, maps, index)


@pytest.fixture
def only_indexed(monkeypatch: pytest.MonkeyPatch) -> None:
    def scanned(*_: object, **__: object) -> None:
        raise AssertionError("the maps were scanned")

    monkeypatch.setattr(ScanningNodeIndex, "best", scanned)


def edit(path: Path, old: str, new: str) -> None:
    """Write into the file itself, as many bytes as there were."""
    with path.open("r+b") as file:
        data = file.read()
        file.seek(0)
        file.write(data.replace(old.encode(), new.encode()))


def _replace(path: Path, text: str) -> None:
    """Replace a file, so that its folder shows the change at once."""
    beside = path.with_suffix(".new")
    beside.write_text(text)
    beside.replace(path)


@pytest.mark.usefixtures("only_indexed")
class TestFollowing:
    def test_an_edit_in_place_of_the_same_size_within_the_same_second(self, home: Home) -> None:
        for word in ("Ferns", "Roses", "Weeds"):
            home.maps.put(titled("b", "Trees"))
            before = asked(home.index, "trees")
            edit(home.file("b"), "Trees", word)

            assert (["a Trees", "b Trees", "c Trees"], [f"b {word}"]) == (before, asked(home.index, word))
            assert ["a Trees", "c Trees"] == asked(home.index, "trees")

    def test_an_edit_whose_times_were_put_back(self, home: Home) -> None:
        path = home.file("b")
        times = path.stat()
        edit(path, "Trees", "Ferns")
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

        assert ["b Ferns"] == asked(home.index, "ferns")

    def test_a_file_of_the_same_times_put_in_place_by_renaming(self, home: Home) -> None:
        path, other = home.file("b"), home.folder / "other"
        times = path.stat()
        other.write_text(path.read_text().replace("Trees", "Ferns"))
        os.utime(other, ns=(times.st_atime_ns, times.st_mtime_ns))
        other.replace(path)

        assert ["b Ferns"] == asked(home.index, "ferns")

    def test_no_stale_hit_is_told_though_the_maps_are_not_looked_at_one_by_one(
        self, home: Home, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sqlite_index, "LOOK_RATE", 1e-9)
        time.sleep(0.06)  # the folder's times can tell of another change
        asked(home.index, "trees")
        edit(home.file("b"), "Trees", "Ferns")

        assert ["a Trees", "c Trees"] == asked(home.index, "trees")
        assert ["b Ferns"] == asked(home.index, "ferns")

    def test_unchanged_maps_are_not_read_again(self, home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
        time.sleep(0.06)
        asked(home.index, "trees")
        monkeypatch.setattr(JsonMapStore, "get", None)

        assert ["a Trees", "b Trees", "c Trees"] == asked(home.another(), "trees")
        assert ["a Fresh grass", "b Fresh grass", "c Fresh grass"] == asked(home.index, "gras")

    def test_another_program_need_not_look_at_maps_that_were_looked_at_lately(
        self, home: Home, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sqlite_index, "LOOK_RATE", 0.001)
        time.sleep(0.06)  # the folder's times can tell of another change
        asked(home.index, "trees")
        monkeypatch.setattr(JsonMapStore, "versions", None)

        assert ["a Trees", "b Trees", "c Trees"] == asked(home.another(), "trees")

    def test_another_program_looks_again_where_a_map_came_or_the_look_is_old(
        self, home: Home, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        time.sleep(0.06)
        asked(home.index, "trees")
        edit(home.file("b"), "Trees", "Ferns")
        time.sleep(0.06)  # longer than a look holds for three maps
        old = asked(home.another(), "ferns")
        monkeypatch.setattr(sqlite_index, "LOOK_RATE", 0.001)
        asked(home.index, "trees")
        JsonMapStore(home.folder / "maps").put(titled("d", "Ferns"))

        assert (["b Ferns"], ["b Ferns", "d Ferns"]) == (old, asked(home.another(), "ferns"))

    def test_after_the_clock_was_set_back_the_maps_are_looked_at_again(
        self, home: Home, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sqlite_index, "LOOK_RATE", 0.001)
        time.sleep(0.06)
        asked(home.index, "trees")
        with closing(sqlite3.connect(home.database)) as connection, connection:
            assert 1 == connection.execute("UPDATE look SET at = at + 3600").rowcount
        edit(home.file("b"), "Trees", "Ferns")

        assert ["b Ferns"] == asked(home.another(), "ferns")
        with closing(sqlite3.connect(home.database)) as connection:
            assert connection.execute("SELECT at FROM look").fetchone()[0] <= time.time()

    def test_an_index_of_an_older_form_is_made_anew(self, home: Home) -> None:
        with closing(sqlite3.connect(home.database)) as connection, connection:
            connection.execute("DROP TABLE look")
            connection.execute("PRAGMA user_version = 12345")

        assert ["a Trees", "b Trees", "c Trees"] == asked(home.another(), "trees")

    def test_another_process_puts_and_removes_maps(self, home: Home) -> None:
        others = JsonMapStore(home.folder / "maps")
        others.put(titled("d", "Trees"))
        others.remove("a")

        assert ["b Trees", "c Trees", "d Trees"] == asked(home.index, "trees")

    def test_two_indexes_of_one_folder_take_turns(self, home: Home) -> None:
        other = home.another()
        for n in range(10):
            home.maps.put(titled("b", f"Trees {n}"))

            assert [f"b Trees {n}"] == asked((home.index, other)[n % 2], f"tree {n}")

    def test_a_map_that_is_damaged_and_mended(self, home: Home) -> None:
        text = home.file("b").read_text()
        _replace(home.file("b"), text[:-20])
        damaged = asked(home.index, "trees")
        _replace(home.file("b"), text)

        assert (["a Trees", "c Trees"], ["a Trees", "b Trees", "c Trees"]) == (damaged, asked(home.index, "trees"))

    def test_a_title_that_is_not_valid_unicode(self, home: Home) -> None:
        home.file("b").write_text(home.file("b").read_text().replace("Trees", "Ferns \\ud800 here"))

        assert ["b Ferns \ud800 here"] == asked(home.index, "fern here")

    def test_many_threads_at_once(self, home: Home) -> None:
        shutil.rmtree(home.folder / "cache")
        index = home.another()

        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda _: asked(index, "trees"), range(40)))

        assert [["a Trees", "b Trees", "c Trees"]] * 40 == answers

    def test_words_that_another_python_folded_are_folded_again(self, home: Home) -> None:
        with closing(sqlite3.connect(home.database)) as connection, connection:
            connection.execute("PRAGMA user_version = 1")
        index = home.another()

        assert ["a Trees", "b Trees", "c Trees"] == asked(index, "trees")
        with closing(sqlite3.connect(home.database)) as connection:
            assert [(sqlite_index.TABLES.form,)] == connection.execute("PRAGMA user_version").fetchall()

    def test_the_cache_is_deleted_while_maps_need_not_be_looked_at(
        self, home: Home, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sqlite_index, "LOOK_RATE", 0.001)
        time.sleep(0.06)
        asked(home.index, "trees")
        shutil.rmtree(home.folder / "cache")

        assert ["a Trees", "b Trees", "c Trees"] == asked(home.index, "trees")

    def test_the_cache_is_deleted_while_the_program_runs(self, home: Home) -> None:
        shutil.rmtree(home.folder / "cache")

        assert ["a Trees", "b Trees", "c Trees"] == asked(home.index, "trees")
        assert home.database.is_file()


def garbled(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[4096:] = os.urandom(len(data) - 4096)
    path.write_bytes(data)


def foreign(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE node (other)")


def without_a_table(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DROP TABLE word")


DAMAGES = {
    "garbled": garbled,
    "cut": lambda path: os.truncate(path, 6000),
    "empty": lambda path: os.truncate(path, 0),
    "no database": lambda path: path.write_text("hello " * 2000),
    "foreign": foreign,
    "without a table": without_a_table,
    "a later version": lambda path: later(path),
}


def later(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")


class TestDamage:
    @pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
    def test_a_damaged_index_gives_right_answers_and_is_made_anew(
        self, home: Home, damage: Callable[[Path], object], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        home.index.close()
        for each in home.database.parent.glob("*-*"):
            each.unlink()
        damage(home.database)

        for _ in range(3):
            assert ["a Trees", "b Trees", "c Trees"] == asked(home.index, "trees")
        monkeypatch.setattr(ScanningNodeIndex, "best", None)
        assert ["a Trees", "b Trees", "c Trees"] == asked(home.index, "trees")
        assert [home.database.parent] == [each for each in (home.folder / "cache").iterdir() if each.is_dir()]

    def test_while_another_program_holds_the_file_the_maps_are_read(self, home: Home) -> None:
        home.index.close()
        with closing(sqlite3.connect(home.database, isolation_level=None)) as holder:
            holder.execute("PRAGMA locking_mode = EXCLUSIVE")
            holder.execute("BEGIN EXCLUSIVE")
            held = asked(home.another(patience=0.05), "trees")

        assert ["a Trees", "b Trees", "c Trees"] == held == asked(home.another(), "trees")

    def test_while_another_program_writes_what_is_known_is_still_told(
        self, home: Home, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        time.sleep(0.06)
        asked(home.index, "trees")
        with closing(sqlite3.connect(home.database, isolation_level=None)) as holder:
            holder.execute("BEGIN IMMEDIATE")
            home.maps.put(titled("d", "Trees"))
            written = asked(home.another(patience=0.05), "trees")
            home.maps.remove("d")
            monkeypatch.setattr(ScanningNodeIndex, "best", None)
            known = asked(home.another(patience=0.05), "trees")

        assert ["a Trees", "b Trees", "c Trees", "d Trees"] == [*known, "d Trees"] == written

    def test_who_waits_for_another_program_that_writes_is_told(
        self, home: Home, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        monkeypatch.setattr(file_locks, "SILENCE", 0.0)
        monkeypatch.setattr(sqlite_index, "BREATH", 0.05)
        asked(home.index, "trees")
        with closing(sqlite3.connect(home.database, isolation_level=None)) as holder:
            holder.execute("BEGIN IMMEDIATE")
            home.maps.put(titled("d", "Trees"))
            found = asked(home.another(patience=0.2), "trees")

        assert "d Trees" in found
        assert [
            "The node search index is in use by another program. Waiting up to 0.2 seconds; after that, the search reads every map instead."
        ] == caplog.messages

    def test_where_nothing_can_be_written_the_maps_are_read(self, home: Home) -> None:
        (home.folder / "file").write_text("no folder")
        index = SqliteNodeIndex(home.maps, home.folder / "file" / "words")

        assert ["a Trees", "b Trees", "c Trees"] == asked(index, "trees")

    def test_without_fts5_the_maps_are_read(self, home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sqlite_index, "has_fts5", lambda: False)
        shutil.rmtree(home.folder / "cache")

        assert ["a Trees", "b Trees", "c Trees"] == asked(home.index, "trees")
        assert not home.database.exists()

    def test_this_sqlite_has_fts5(self) -> None:
        assert sqlite_index.has_fts5()


BUILDER = """
import os, signal, sys
from pathlib import Path
from citekit.adapters.search.node_search import sqlite_index as sqlite
from citekit.adapters.storage.json_maps import JsonMapStore
from citekit.domain.words import words_of

class Store(JsonMapStore):
    read = 0
    def get(self, resource_id):
        Store.read += 1
        if Store.read == int(sys.argv[2]):
            os.kill(os.getpid(), signal.SIGKILL)
        return super().get(resource_id)

sqlite.TURN = float(sys.argv[3])
home = Path(sys.argv[1])
index = sqlite.SqliteNodeIndex(Store(home / "maps"), home / "cache" / "words")
print([hit.resource_id for hit in index.best(words_of("trees"), limit=100)])
"""


def built(home: Home, killed_at: int, turn: float) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", BUILDER, str(home.folder), str(killed_at), str(turn)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@pytest.mark.usefixtures("only_indexed")
class TestProcesses:
    @pytest.mark.long
    @pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
    @pytest.mark.parametrize("turn", [0.0, 10.0])
    def test_a_killed_builder_leaves_nothing_wrong(self, home: Home, turn: float) -> None:
        shutil.rmtree(home.folder / "cache")
        for n in range(20):
            home.maps.put(titled(f"m{n}", "Trees" if n % 2 else "Grass"))

        with built(home, 10, turn) as killed:
            killed.wait(60)

        assert -signal.SIGKILL == killed.returncode
        assert asked_by_scanning(home) == asked(home.index, "trees")

    @pytest.mark.long
    def test_processes_that_build_at_once_agree(self, home: Home) -> None:
        shutil.rmtree(home.folder / "cache")
        for n in range(30):
            home.maps.put(titled(f"m{n}", "Trees"))

        both = [built(home, 10**6, 0.0) for _ in range(2)]
        answers = [each.communicate(timeout=60)[0].strip() for each in both]

        assert [str([f"{name}" for name in home.maps.ids()])] * 2 == answers


def asked_by_scanning(home: Home) -> list[str]:
    found = [(name, node) for name in home.maps.ids() for node in home.maps.get(name).walk()]
    return [f"{name} {node.title}" for name, node in found if node.title == "Trees"][:20]


@pytest.mark.long
@given(resource_maps())
def test_nodes_of_any_map_are_told_as_they_are(
    tmp_path_factory: pytest.TempPathFactory, resource_map: ResourceMap
) -> None:
    maps = InMemoryMapStore()
    maps.put(resource_map)
    questions = [words_of(f"{node.title} {node.summary}")[:4] for node in resource_map.walk()][:5]
    index = SqliteNodeIndex(maps, tmp_path_factory.mktemp("home") / "words")

    told = [index.best(words, limit=100) for words in questions]

    assert [ScanningNodeIndex(maps).best(words, limit=100) for words in questions] == told
    index.close()


@pytest.mark.skipif(sys.platform == "win32", reason="the number of open files is limited otherwise there")
def test_a_map_that_could_not_be_opened_for_a_moment_is_found_afterwards(home: Home) -> None:
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    JsonMapStore(home.folder / "maps").put(titled("d", "Trees"))
    time.sleep(0.1)  # until another change of the file would show
    resource.setrlimit(resource.RLIMIT_NOFILE, (1, hard))
    try:
        meanwhile = home.index.best(["trees"], limit=20, resources=["d"])
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    assert [] == meanwhile
    assert ["d"] == [hit.resource_id for hit in home.index.best(["trees"], limit=20, resources=["d"])]
    assert ["a Trees", "b Trees", "c Trees", "d Trees"] == asked(home.index, "trees")


def test_an_id_that_no_map_can_have_finds_nothing(home: Home) -> None:
    found = home.index.best(["trees"], limit=20, resources=["\udc80", "a"])

    assert ["a"] == [hit.resource_id for hit in found]
