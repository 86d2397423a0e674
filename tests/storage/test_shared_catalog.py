"""Homes on several machines that share an object store, and its catalog in PostgreSQL."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path

import pytest
from attrs import define, evolve, field
from hypothesis import given
from hypothesis import strategies as st

from citekit.adapters.libraries.postgres.database import Database
from citekit.adapters.search.node_search.postgres_index import PostgresNodeIndex
from citekit.adapters.search.node_search.sqlite_index import SqliteNodeIndex
from citekit.adapters.search.ranking_index.postgres_index import PostgresRankingIndex
from citekit.adapters.search.ranking_index.sqlite_index import SqliteRankingIndex
from citekit.adapters.search.text_index.postgres_index import PostgresTextIndex
from citekit.adapters.search.text_index.sqlite_index import SqliteTextIndex
from citekit.adapters.sources.allowed_folders import AllowedFolders
from citekit.adapters.storage.cataloged_maps import CatalogedMapStore, CatalogName
from citekit.adapters.storage.json_maps import JsonMapStore
from citekit.adapters.storage.object_store.folder import FolderObjectStore
from citekit.adapters.storage.shared_maps import CATALOG, SharedMapStore
from citekit.application.ingest_on_cluster import TEMPORARY
from citekit.container import bootstrap
from citekit.container.clusters import run
from citekit.container.container import Container
from citekit.container.http_access import container_of
from citekit.domain.digest import Digest
from citekit.domain.distribution import DISTRIBUTION
from citekit.domain.errors import CiteKitError, HomeUnwritable, RequestRefused, StoreUnavailable
from citekit.domain.jobs import IngestJob
from citekit.domain.mapper_identity import MapperIdentity
from citekit.domain.object_key import ListedObject, ObjectKey
from citekit.domain.ports.map_store import MapStore
from citekit.domain.resource_map import ResourceMap
from citekit.domain.subject import Subject
from citekit.settings import settings_from
from citekit.wire.errors import from_plain_error, to_plain_error
from tests.contracts.test_map_store import a_map
from tests.services.postgres_server import data_folder, in_new_schema, restart_server

ROOT = Path(__file__).parents[2]
QUERIES = [
    "citekit ingest",
    "bucket",
    "the home",
    '"shared store"',
    "worker killed",
    "how do I map a folder?",
    "nowhere",
]


@pytest.fixture
def machine(postgres: str, tmp_path: Path) -> Callable[[str], Container]:
    """Returns the use cases of a home on the machine with that name."""
    variables = {
        "CITEKIT_STORE": str(tmp_path / "store"),
        "CITEKIT_DATABASE": postgres,
        "CITEKIT_PARSERS": "inline",
    }
    return lambda name: bootstrap(settings_from(variables, tmp_path / name))


def ingested(app: Container, folder: Path) -> None:
    """Map and index the files of a folder."""
    results = list(app.ingest_many(sorted(folder.iterdir()), concurrency=1))
    assert [] == [each.error for each in results if each.error is not None]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    folder.mkdir()
    for path in sorted((ROOT / "docs/how-to").glob("*.md"))[:6]:
        (folder / path.name).write_bytes(path.read_bytes())
    return folder


def answers(app: Container) -> list[object]:
    """What the search in titles, the search in texts, and the look-up of quotes answer."""
    quotes = ["CiteKit neither stores nor prints", "Nothing of this is in any file"]
    return [
        *(app.search(each) for each in QUERIES[:5]),
        *(app.find_text(each) for each in QUERIES),
        app.find_text("CITEKIT_[A-Z]+", regex=True),
        app.find_text("citekit", list(app.maps.ids())[-2:]),
        *(app.look_up_quote(each) for each in quotes),
        *(app.rank_pages(each) for each in QUERIES),
        app.rank_pages("Where are the maps of a cluster?", list(app.maps.ids())[:3], limit=3),
        app.list_resources("a"),
        app.list_resources("how-to").total,
    ]


@pytest.mark.long
def test_a_shared_catalog_answers_like_the_home_of_one_machine(
    machine: Callable[[str], Container], files: Path, tmp_path: Path
) -> None:
    alone = bootstrap(settings_from({"CITEKIT_PARSERS": "inline"}, tmp_path / "alone"))
    first, second = machine("first"), machine("second")
    for app in (alone, first):
        ingested(app, files)

    assert (SqliteNodeIndex, PostgresNodeIndex) == (type(alone.nodes), type(second.nodes))
    assert (SqliteTextIndex, PostgresTextIndex) == (type(alone.text_index), type(second.text_index))
    assert (SqliteRankingIndex, PostgresRankingIndex) == (type(alone.ranking_index), type(second.ranking_index))
    expected = answers(alone)
    assert expected == answers(first)
    generation = first.text_index.generation()
    assert expected == answers(second)
    assert generation == second.text_index.generation()  # nothing was indexed again
    assert sorted(second.ranking_index.documents()) == list(second.maps.ids())
    assert not [
        path.name for path in (tmp_path / "second").rglob("*.db") if path.name in ("nodes.db", "text.db", "ranking.db")
    ]

    for app in (alone, second):
        app.remove(next(iter(app.maps.ids())))
    assert answers(alone) == answers(first)


@pytest.mark.long
def test_clients_with_fewer_permissions_get_the_same_answers_as_in_the_home_of_one_machine(
    machine: Callable[[str], Container], files: Path, tmp_path: Path
) -> None:
    alone = bootstrap(settings_from({"CITEKIT_PARSERS": "inline"}, tmp_path / "alone"))
    shared = machine("first")
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "secret.md").write_text("# Secret\n\nThe code of the bucket is 1234.\n")
    for app in (alone, shared):
        ingested(app, files)
        ingested(app, secret)
        app.find_text("bucket")  # the owner's search indexes the text of all files

    def seen(app: Container) -> object:
        client = Container(app.settings).for_clients()
        client.made["client_folders"] = only
        found = client.find_text("bucket")
        return (
            [(hit.address, hit.text) for hit in found.hits],
            sorted(found.skipped),
            client.find_text("code 1234").hits,
        )

    only = AllowedFolders([files])
    assert seen(alone) == seen(shared)
    assert "1234" not in str(seen(shared))


def test_a_subject_of_a_server_has_the_catalog_of_its_own_store_alone(
    machine: Callable[[str], Container], tmp_path: Path
) -> None:
    owner = machine("owner")
    owner.maps.put(a_map("secret"))
    at_home = Subject(name="ann", home=tmp_path / "ann", scopes=frozenset({"read"}))
    in_store = evolve(at_home, name="ben", home=tmp_path / "ben", store=str(tmp_path / "store-of-ben"))

    ann, ben = (container_of(owner.settings, each) for each in (at_home, in_store))
    ben.maps.put(a_map("own"))

    assert (JsonMapStore, SqliteNodeIndex, SqliteTextIndex) == (type(ann.maps), type(ann.nodes), type(ann.text_index))
    assert (CatalogedMapStore, PostgresTextIndex) == (type(ben.maps), type(ben.text_index))
    assert ([], ["own"], ["secret"]) == (list(ann.maps.ids()), list(ben.maps.ids()), list(owner.maps.ids()))
    assert ["own"] == [found.resource_id for found in ben.nodes.best(["one"], limit=5)]
    assert (None, None) == (ann.settings.library.database, ben.settings.library.database)


def test_a_subject_may_map_files_only_with_the_scope_and_if_the_owner_permits_it(
    machine: Callable[[str], Container], tmp_path: Path
) -> None:
    settings = machine("owner").settings
    reader = Subject(name="ann", home=tmp_path / "ann", scopes=frozenset({"read"}))
    writer = evolve(reader, scopes=frozenset({"read", "ingest"}))

    asked = ((True, reader), (True, writer), (False, writer))
    given = [container_of(evolve(settings, client_ingest=on), each).settings.client_ingest for on, each in asked]

    assert [False, True, False] == given


def test_the_catalog_of_another_store_cannot_be_used_by_copying_its_name(database: Database, tmp_path: Path) -> None:
    theirs, mine = FolderObjectStore(tmp_path / "theirs"), FolderObjectStore(tmp_path / "mine")
    CatalogedMapStore(theirs, "theirs", database).put(a_map("secret"))
    name = theirs.read(CATALOG)
    assert name is not None
    mine.put(CATALOG, name)

    for action in (CatalogedMapStore(mine, "mine", database).ids, CatalogName(mine, "mine", database)):
        with pytest.raises(RequestRefused, match=r"The catalog of mine belongs to theirs\. If this is the same store"):
            action()

    mine.remove(CATALOG)
    assert [] == list(CatalogedMapStore(mine, "mine", database).ids())


def test_a_worker_of_a_cluster_uses_the_catalog_that_the_job_names(
    machine: Callable[[str], Container], postgres: str, tmp_path: Path
) -> None:
    source = tmp_path / "notes.txt"
    source.write_text("One line.\n")
    owner = machine("owner")
    owner.maps.put(a_map())
    job = IngestJob(
        home=str(tmp_path / "worker"),
        path=str(source),
        version=version(DISTRIBUTION),
        settings={"store": str(tmp_path / "store"), "catalog": postgres},
    )

    done, refused = run(job), run(evolve(job, settings={"store": str(tmp_path / "store")}, force=True))

    assert (None, ["book", "notes_txt"]) == (done.error, list(owner.maps.ids()))
    assert refused.error is not None
    assert "Set CITEKIT_DATABASE to its database" in str(refused.error["text"])


@pytest.mark.parametrize("kind", [StoreUnavailable, HomeUnwritable])
def test_an_error_of_the_database_on_a_worker_is_one_after_which_its_job_is_repeated(kind: type[CiteKitError]) -> None:
    there = from_plain_error(to_plain_error(kind("Check CITEKIT_DATABASE and the server.")))

    assert isinstance(there, TEMPORARY)


def test_two_stores_in_one_database_share_nothing(postgres: str, database: Database, tmp_path: Path) -> None:
    one, two = (CatalogedMapStore(FolderObjectStore(tmp_path / name), name, database) for name in "ab")
    one.put(a_map("book"))

    assert (["book"], []) == (list(one.ids()), list(two.ids()))
    assert two.find_mapped(Digest(str(a_map().metadata["source_hash"])), MapperIdentity("local", "1")) is None


def test_a_store_with_maps_gets_its_catalog_with_the_first_use(database: Database, tmp_path: Path) -> None:
    objects = FolderObjectStore(tmp_path / "store")
    before = SharedMapStore(objects, "store")
    better = evolve(a_map(title="Better"), metadata={**a_map().metadata, "mapper": {"name": "x", "version": "1"}})
    for each in (a_map("gone"), a_map(), better, a_map("other")):
        before.put(each)
    before.remove("gone")
    objects.put(ObjectKey("maps/rbad/00000001"), b"{ half a m")

    after = CatalogedMapStore(objects, "store", database)

    assert ["bad", "book", "other"] == list(after.ids())
    assert [better, a_map()] == list(after.editions("book"))
    assert ["book", "other"] == [card.resource_id for card in after.cards()]
    assert ["book", "other"] == list(after.find_source("/books/book.pdf"))
    with pytest.raises(CiteKitError, match="bad"):
        after.card("bad")


def test_nothing_is_written_past_the_catalog(database: Database, tmp_path: Path) -> None:
    objects = FolderObjectStore(tmp_path / "store")
    CatalogedMapStore(objects, "store", database).put(a_map())
    without = SharedMapStore(objects, "store")

    actions: list[Callable[[], None]] = [
        lambda: without.put(a_map("other")),
        lambda: without.remove("book"),
        lambda: without.note_renamed("book", "other"),
    ]
    for action in actions:
        with pytest.raises(RequestRefused, match="Set CITEKIT_DATABASE to its database"):
            action()

    assert a_map() == without.get("book")
    objects.remove(CATALOG)
    SharedMapStore(objects, "store").put(a_map("other"))


class Killed(CatalogedMapStore):
    """Ends between the write of an object and its record, as a process that is killed."""

    def _note_written(self, resource_id: str, number: int, resource_map: ResourceMap | None) -> None:
        raise KeyboardInterrupt


@pytest.mark.parametrize("is_removal", [False, True])
@pytest.mark.parametrize("way", ["again", "collect"])
def test_an_object_of_a_killed_process_is_recorded_later(
    database: Database, tmp_path: Path, way: str, is_removal: bool
) -> None:
    objects = FolderObjectStore(tmp_path / "store")
    store = CatalogedMapStore(objects, "store", database)
    store.put(a_map(title="Old"))
    killed = Killed(objects, "store", database)
    change = partial(killed.remove, "book") if is_removal else partial(killed.put, a_map(title="New"))
    with pytest.raises(KeyboardInterrupt):
        change()
    assert "Old" == store.get("book").title

    if way == "collect":
        store.record_missing()
    elif is_removal:
        with pytest.raises(CiteKitError, match="book"):
            store.remove("book")
    else:
        store.put(a_map(title="New"))

    assert ([] if is_removal else ["New"]) == [store.get(each).title for each in store.ids()]
    assert ({} if is_removal else {"book": "2"}) == store.versions()
    store.put(a_map(title="Last"))
    assert ["Last"] == [card.title for card in store.cards()]


def test_machines_that_write_at_once_lose_nothing(database: Database, tmp_path: Path) -> None:
    objects = FolderObjectStore(tmp_path / "store")
    store = CatalogedMapStore(objects, "store", database)
    failed: list[BaseException] = []

    def write(number: int) -> None:
        mine = CatalogedMapStore(objects, "store", database)
        try:
            for at in range(5):
                mine.put(a_map(f"own-{number}-{at}"))
                mine.put(a_map("shared", title=f"{number} {at}"))
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert ([], 21, 21) == (failed, len(store.ids()), len(store.cards()))
    plain = SharedMapStore(objects, "store")
    assert (plain.ids(), dict(plain.versions())) == (store.ids(), dict(store.versions()))
    assert plain.get("shared") == store.get("shared")
    assert plain.cards() == store.cards()


MAPPERS = st.sampled_from([None, {"name": "local", "version": "1"}, {"name": "x", "version": "1", "model": "m"}])
PUTS = st.builds(
    lambda name, title, mapper, digest, path: evolve(
        a_map(name, title),
        source_path=path,
        metadata={"source_hash": digest * 64} | ({} if mapper is None else {"mapper": mapper}),
    ),
    st.sampled_from(["a", "é'; DROP TABLE citekit_resource", "100%s"]),
    st.sampled_from(["One", "%(two)s"]),
    MAPPERS,
    st.sampled_from("01"),
    st.sampled_from(["/x'", "/y\0"]),
)


def everything(store: MapStore) -> list[object]:
    """What every method says of a store, but for the errors."""
    names = list(store.ids())
    mappers = [MapperIdentity("local", "1"), MapperIdentity("x", "1", "m")]
    return [
        names,
        dict(store.versions()),
        list(store.cards()),
        [(store.card(each), store.get(each), list(store.editions(each))) for each in names],
        [[store.edition(each, mapper) for mapper in mappers] for each in names],
        [list(store.earlier_sources(each)) for each in names],
        [list(store.find_source(path)) for path in ("/x'", "/y\0", "/z")],
        [
            (found := store.find_mapped(Digest(digit * 64), mapper)) is not None and (found.mapper, found.source_digest)
            for digit in "01"
            for mapper in mappers
        ],
    ]


@pytest.mark.long
@given(changes=st.lists(PUTS | st.sampled_from(["a", "100%s"]), max_size=8))
def test_the_catalog_says_what_the_objects_say(
    database: Database, tmp_path_factory: pytest.TempPathFactory, changes: Sequence[ResourceMap | str]
) -> None:
    objects = FolderObjectStore(tmp_path_factory.mktemp("store") / "store")
    store = CatalogedMapStore(objects, "store", database)
    plain = SharedMapStore(FolderObjectStore(tmp_path_factory.mktemp("store") / "plain"), "store")
    for change in changes:
        for each in (store, plain):
            if isinstance(change, ResourceMap):
                each.put(change)
            elif change in each.ids():
                each.remove(change)

    assert everything(plain) == everything(store)
    objects.remove(CATALOG)
    assert everything(store) == everything(CatalogedMapStore(objects, "store", database))  # filled from the objects


@define
class CountingStore(FolderObjectStore):
    """Counts the requests."""

    requests: list[str] = field(factory=list)

    def read(self, key: ObjectKey, start: int = 0, length: int | None = None) -> bytes | None:
        self.requests.append(f"read {key}")
        return super().read(key, start, length)

    def listing(self, folder: str = "") -> Iterator[ListedObject]:
        self.requests.append(f"list {folder}")
        return super().listing(folder)

    def put(self, key: ObjectKey, data: bytes) -> bool:
        self.requests.append(f"put {key}")
        return super().put(key, data)


def test_a_new_file_takes_one_request_to_the_object_store_and_listings_none(
    machine: Callable[[str], Container], tmp_path: Path
) -> None:
    objects = CountingStore(tmp_path / "store")
    app = machine("first")
    app.made["objects"] = objects
    app.maps.ids()
    for name in ("one.md", "two.md"):
        (tmp_path / name).write_text(f"# {name}\n\nText.\n")
    objects.requests.clear()

    app.ingest(tmp_path / "one.md")
    assert ["put maps/rone_md/00000001"] == objects.requests
    app.ingest(tmp_path / "two.md")
    objects.requests.clear()

    assert ["one_md", "two_md"] == [each.resource_id for each in app.list_resources().resources]
    assert 1 == app.list_resources("two").total
    assert [] == objects.requests


@pytest.mark.long
def test_a_restart_of_postgresql_in_the_middle_costs_only_time(postgres: str, tmp_path: Path, files: Path) -> None:
    variables = {
        "CITEKIT_STORE": str(tmp_path / "store"),
        "CITEKIT_DATABASE": in_new_schema(postgres),
        "CITEKIT_PARSERS": "inline",
    }
    app = bootstrap(settings_from(variables, tmp_path / "home"))
    results, restarts = [], []
    for number, each in enumerate(app.ingest_many(sorted(files.iterdir()), concurrency=1)):
        results.append(each)
        if number in (1, 3):
            restarts.append(threading.Thread(target=restart_server, args=(data_folder(postgres),)))
            restarts[-1].start()
            time.sleep(0.05)
    for restart in restarts:
        restart.join()

    other = bootstrap(settings_from(variables, tmp_path / "other"))
    assert [] == [each.error for each in results if each.error is not None]
    assert 6 == len(results) == len(other.maps.ids()) == len(other.text_index.texts())
    assert other.find_text("citekit").total
    assert other.search("home")


@pytest.mark.long
def test_a_database_that_cannot_be_reached_is_one_clear_sentence_without_secrets(tmp_path: Path) -> None:
    pytest.importorskip("psycopg", reason="the extra 'scale' is not installed")
    source = tmp_path / "notes.txt"
    source.write_text("One line.\n")
    env = {
        **os.environ,
        "CITEKIT_STORE": str(tmp_path / "store"),
        "CITEKIT_DATABASE": "postgresql://nobody@127.0.0.1:9/none",
        "PGPASSWORD": "tell-nobody",
    }
    run = [sys.executable, "-m", "citekit", "--json", "--home", str(tmp_path / "home")]

    for command in (["ingest", str(source)], ["list"], ["find", "line"], ["search", "line"]):
        done = subprocess.run([*run, *command], env=env, timeout=120, capture_output=True, text=True)
        assert done.returncode
        assert "Check CITEKIT_DATABASE and the server" in done.stdout + done.stderr
        assert "tell-nobody" not in done.stdout + done.stderr
        assert "Traceback" not in done.stderr
    kept = [path for path in tmp_path.rglob("*") if path.is_file() and b"tell-nobody" in path.read_bytes()]
    assert [] == kept


@pytest.mark.long
def test_commands_use_the_catalog(postgres: str, tmp_path: Path) -> None:
    env = {**os.environ, "CITEKIT_STORE": str(tmp_path / "store"), "CITEKIT_DATABASE": in_new_schema(postgres)}
    run = [sys.executable, "-m", "citekit", "--json", "--home"]
    source = tmp_path / "notes.txt"
    source.write_text("One line about bees.\n")
    subprocess.run([*run, str(tmp_path / "a"), "ingest", str(source)], env=env, check=True, timeout=60)

    def asked(*words: str) -> str:
        done = subprocess.run(
            [*run, str(tmp_path / "b"), *words], env=env, check=True, timeout=60, capture_output=True, text=True
        )
        return json.dumps(json.loads(done.stdout))

    assert "notes_txt" in asked("list")
    assert "about bees" in asked("find", "bees")
    without = {name: value for name, value in env.items() if name != "CITEKIT_DATABASE"}
    refused = subprocess.run(
        [*run, str(tmp_path / "c"), "ingest", str(source), "--force"],
        env=without,
        timeout=60,
        capture_output=True,
        text=True,
    )
    assert refused.returncode
    assert "CITEKIT_DATABASE" in refused.stdout + refused.stderr


def test_an_unreachable_database_raises_and_writes_no_object_that_nobody_finds(tmp_path: Path) -> None:
    pytest.importorskip("psycopg", reason="the extra 'scale' is not installed")
    objects = FolderObjectStore(tmp_path / "store")
    store = CatalogedMapStore(objects, "store", Database("postgresql://nobody@127.0.0.1:9/none"))

    with pytest.raises(StoreUnavailable, match="Check CITEKIT_DATABASE"):
        store.put(a_map())

    assert [] == [each.key.text for each in objects.listing("maps")]
