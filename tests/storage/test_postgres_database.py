"""The database in PostgreSQL: its tables of all versions, and a server that is restarted."""

from __future__ import annotations

import threading
import unicodedata
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from socketserver import BaseRequestHandler, ThreadingTCPServer
from typing import TYPE_CHECKING

import pytest

from citekit.adapters.libraries import psycopg as driver
from citekit.adapters.libraries.postgres import schema
from citekit.adapters.libraries.postgres.database import Database
from citekit.adapters.search.ranking_index.postgres_index import PostgresRankingIndex
from citekit.adapters.search.text_index.postgres_index import PostgresTextIndex
from citekit.adapters.storage.cataloged_maps import CatalogedMapStore
from citekit.adapters.storage.object_store.folder import FolderObjectStore
from citekit.adapters.storage.postgres_ledger import PostgresLedger
from citekit.adapters.storage.shared_maps import CATALOG
from citekit.domain.errors import RequestRefused, StoreUnavailable
from citekit.domain.library.ledger import Deed
from citekit.domain.ranking.documents import DocumentMatches
from tests.contracts.test_ledger import BOOK, OTHER, entry
from tests.contracts.test_map_store import a_map
from tests.services.postgres_server import data_folder, in_new_schema, restart_server

if TYPE_CHECKING:
    from psycopg import Connection

FROZEN = Path(__file__).parent / "frozen"


def tables(url: str) -> list[tuple[object, ...]]:
    """Every column of every table in the schema of the URL, and the definitions of the indexes."""
    with driver.connect(url) as connection:
        columns = connection.execute(
            "SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns"
            " WHERE table_schema = current_schema() ORDER BY 1, 2"
        ).fetchall()
        indexes = connection.execute(
            "SELECT tablename, indexname, replace(indexdef, current_schema() || '.', '') FROM pg_indexes"
            " WHERE schemaname = current_schema() ORDER BY 1, 2"
        ).fetchall()
    return [*columns, *indexes]


def load(url: str, version: int) -> None:
    """Create the tables as that version of the schema left them."""
    with driver.connect(url) as connection:
        connection.execute((FROZEN / f"postgres_schema_{version}.sql").read_bytes())


@pytest.mark.parametrize("version", range(1, schema.CURRENT + 1))
def test_tables_of_every_version_are_migrated_and_keep_their_rows(postgres: str, version: int) -> None:
    url, new = in_new_schema(postgres), in_new_schema(postgres)
    load(url, version)
    ledger, fresh = PostgresLedger(url), PostgresLedger(new)

    assert [] == fresh.history()
    before = ledger.history()
    ledger.append(entry(Deed.REMOVED))

    assert [
        entry(Deed.STARTED, OTHER, "pa\0pers é", resource_id="odd \udce9"),
        entry(),
        entry(Deed.STARTED),
    ] == before
    assert entry(Deed.REMOVED) == ledger.last("alexandria", BOOK)
    assert tables(new) == tables(url)
    for each in (ledger, fresh):
        each.close()


@pytest.mark.parametrize("version", range(2, schema.CURRENT + 1))
def test_a_catalog_of_every_version_is_found_again(postgres: str, tmp_path: Path, version: int) -> None:
    url = in_new_schema(postgres)
    load(url, version)
    database, objects = Database(url), FolderObjectStore(tmp_path)
    objects.put(CATALOG, b"frozen")
    store = CatalogedMapStore(objects, "store", database)

    assert a_map().card() == store.card("book")
    assert [a_map().card()] == store.cards()
    if unicodedata.unidata_version == "14.0.0":  # that of the Python which wrote the tables
        index = PostgresTextIndex(database, lambda: "frozen")
        assert ["true words"] == [block.text for _, block in index.find(["words"], {"book": "1"})]
        ranking = PostgresRankingIndex(database, lambda: "frozen")
        ranked = [DocumentMatches(2, 2, ["book"])] if version > 2 else []
        assert ranked == list(ranking.find(["words"]).get("words", ()))
        assert (version > 2) == (ranking.get("book", "1") is not None)
    database.close()


@pytest.mark.parametrize("version", [0, 1])
def test_processes_that_migrate_at_once_do_it_once(postgres: str, version: int) -> None:
    url = in_new_schema(postgres)
    if version:
        load(url, version)
    failed: list[BaseException] = []

    def use() -> None:
        ledger = PostgresLedger(url)
        try:
            ledger.append(entry(at=datetime(2026, 1, 1, tzinfo=UTC)))
        except BaseException as error:
            failed.append(error)
        ledger.close()

    threads = [threading.Thread(target=use) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    ledger = PostgresLedger(url)
    assert ([], 6 + 3 * version) == (failed, len(ledger.history()))
    ledger.close()


def test_a_later_version_is_refused_with_what_to_do(postgres: str) -> None:
    url = in_new_schema(postgres)
    with driver.connect(url) as connection:
        connection.execute("CREATE TABLE citekit_schema AS SELECT 99 AS version")

    with pytest.raises(
        RequestRefused, match=r"later version of CiteKit\. Update CiteKit \(.*\), or use another database"
    ):
        Database(url).space("any")

    assert ["citekit_schema"] == [each[0] for each in tables(url)]


def test_a_user_who_may_not_create_tables_learns_what_to_do(postgres: str) -> None:
    url = in_new_schema(postgres)
    with driver.connect(postgres) as connection:
        connection.execute("DO $$ BEGIN CREATE ROLE reader LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$")
        connection.execute(f"GRANT USAGE ON SCHEMA {url.rpartition('%3D')[2]} TO reader".encode())
    reader = url.replace("citekit@", "reader@")

    with pytest.raises(
        StoreUnavailable, match="The first use of a version of CiteKit must be by a user who may create"
    ):
        Database(reader).space("any")


def test_a_database_of_another_encoding_is_refused(postgres: str) -> None:
    connection = driver.connect(postgres)
    connection.autocommit = True
    connection.execute("DROP DATABASE IF EXISTS latin")
    connection.execute("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    connection.close()

    with pytest.raises(RequestRefused, match=r"has the encoding LATIN1\. Create a database with the encoding UTF8"):
        Database(postgres.replace("/postgres", "/latin")).space("any")


def numbered(connection: Connection) -> int:
    connection.execute("UPDATE citekit_space SET changes = changes + 1 WHERE name = 'counted'")
    row = connection.execute("SELECT changes FROM citekit_space WHERE name = 'counted'").fetchone()
    assert row is not None
    return int(row[0])


@pytest.mark.long
def test_a_restart_in_the_middle_of_work_repeats_it_and_changes_nothing_twice(postgres: str) -> None:
    database = Database(in_new_schema(postgres))
    database.space("counted")
    attempts: list[int] = []

    def work(connection: Connection) -> int:
        attempts.append(numbered(connection))
        if len(attempts) == 1:
            restart_server(data_folder(postgres))
        return numbered(connection)

    assert (2, [1, 1]) == (database.run(work), attempts)
    assert 3 == database.run(numbered)
    database.close()


@pytest.mark.long
def test_work_that_may_not_be_repeated_is_repeated_only_before_its_commit(postgres: str) -> None:
    database = Database(in_new_schema(postgres), patience=5)
    database.space("counted")
    attempts: list[int] = []

    def restarted_at(point: int) -> Callable[[Connection], int]:
        def work(connection: Connection) -> int:
            attempts.append(numbered(connection))
            if len(attempts) == point:
                restart_server(data_folder(postgres))
            return attempts[-1]  # the next use of the connection is the commit

        return work

    with pytest.raises(StoreUnavailable, match="Check CITEKIT_DATABASE and the server"):
        database.run(restarted_at(1), is_repeatable=False)
    assert [1] == attempts
    assert 1 == database.run(restarted_at(2))
    assert [1, 1, 1] == attempts
    database.close()


def test_a_connection_that_was_ended_while_it_was_idle_is_not_noticed(postgres: str) -> None:
    database = Database(in_new_schema(postgres))
    database.space("counted")
    with driver.connect(postgres) as connection:
        connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")

    assert 1 == database.run(numbered)
    database.close()


@pytest.mark.parametrize(
    ("answer", "waits"), [("the database system is starting up", True), ("password authentication failed", False)]
)
def test_a_new_process_waits_for_a_server_that_is_starting(answer: str, waits: bool) -> None:
    said = b"SFATAL\0C57P03\0M" + answer.encode() + b"\0\0"
    asked = []

    class Answering(BaseRequestHandler):
        def handle(self) -> None:
            asked.append(self.request.recv(1000))
            self.request.sendall(b"E" + (len(said) + 4).to_bytes(4, "big") + said)

    with ThreadingTCPServer(("127.0.0.1", 0), Answering) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"postgresql://citekit@127.0.0.1:{server.server_address[1]}/postgres?sslmode=disable&gssencmode=disable"
        with pytest.raises(StoreUnavailable, match=answer):
            Database(url, patience=0.2).space("counted")
        server.shutdown()

    assert waits == (len(asked) > 1)


def test_an_error_of_the_client_library_without_a_code_is_a_lost_connection(postgres: str) -> None:
    """psycopg raises this if the server stops in the middle of `executemany`, and the connection still looks open."""
    database = Database(in_new_schema(postgres))
    database.space("counted")
    used = []

    def interrupted_once(connection: Connection) -> int:
        used.append(connection)
        if len(used) == 1:
            raise driver.package().OperationalError("cannot exit pipeline mode while busy")
        return numbered(connection)

    assert 1 == database.run(interrupted_once)
    assert 2 == len(used)
    database.close()


@pytest.mark.long
def test_a_server_that_stays_away_is_one_error_after_the_patience(postgres: str) -> None:
    database = Database(in_new_schema(postgres), patience=0.2)
    database.space("counted")
    database.close()
    database._url = "postgresql://nobody@127.0.0.1:9/none"

    with pytest.raises(StoreUnavailable, match="Check CITEKIT_DATABASE and the server"):
        database.run(numbered)
