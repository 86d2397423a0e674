"""What every ledger promises."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from citekit.adapters.libraries import psycopg as driver
from citekit.adapters.storage.postgres_ledger import PostgresLedger
from citekit.adapters.storage.sqlite_ledger import SqliteLedger
from citekit.domain.digest import Digest
from citekit.domain.errors import HomeUnwritable, LedgerCorrupt, RequestRefused
from citekit.domain.library.ledger import Deed, LedgerEntry
from citekit.domain.ports.ledger import Ledger
from tests.doubles.ledger import MemoryLedger
from tests.services.postgres_server import data_folder, in_new_schema, restart_server

BOOK, OTHER = Digest.of_bytes(b"a book"), Digest.of_bytes(b"another")


def entry(
    deed: Deed = Deed.FINISHED, digest: Digest = BOOK, collection: str = "alexandria", **more: Any
) -> LedgerEntry:
    given: dict[str, Any] = {
        "deed": deed,
        "at": datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC),
        "collection": collection,
        "digest": digest,
        "resource_id": "moby-dick",
        "path": "/books/moby.epub",
        "size": 2**40,
        "format": "EPUB",
        "title": "Moby-Dick",
        "author": "Herman Melville",
        "language": "eng",
    }
    return LedgerEntry(**given | more)


New = Callable[[], Ledger]


@pytest.fixture(params=["sqlite", "memory", "postgresql"], scope="module")
def new_ledger(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> New:
    def make() -> Ledger:
        if request.param == "postgresql":
            ledger = PostgresLedger(in_new_schema(request.getfixturevalue("postgres")))
            request.addfinalizer(ledger.close)
            return ledger
        if request.param == "memory":
            return MemoryLedger()
        return SqliteLedger(tmp_path_factory.mktemp("home") / "new" / "ledger.db")

    return make


@pytest.fixture
def ledger(new_ledger: New) -> Ledger:
    return new_ledger()


class TestLedger:
    def test_a_new_one_is_empty(self, ledger: Ledger) -> None:
        assert None is ledger.last("alexandria", BOOK)
        assert [[], [], []] == [list(lines) for lines in (ledger.books(), ledger.unfinished(), ledger.history())]

    def test_the_last_line_about_a_book_is_given(self, ledger: Ledger) -> None:
        lines = [entry(Deed.STARTED), entry(Deed.FAILED, error="no"), entry(Deed.STARTED, title="Again")]

        for line in lines:
            ledger.append(line)

        assert lines[-1] == ledger.last("alexandria", BOOK)
        assert None is ledger.last("alexandria", OTHER)
        assert None is ledger.last("other", BOOK)

    def test_the_order_of_writing_counts_and_not_the_clock(self, ledger: Ledger) -> None:
        ledger.append(entry(Deed.STARTED))
        ledger.append(entry(Deed.FINISHED, at=datetime(1999, 1, 1, tzinfo=UTC)))

        assert [Deed.FINISHED, Deed.STARTED] == [line.deed for line in ledger.history()]
        assert [Deed.FINISHED] == [line.deed for line in ledger.books()]

    def test_books_are_those_that_were_finished_and_not_removed(self, ledger: Ledger) -> None:
        ledger.append(entry(Deed.FINISHED, OTHER))
        ledger.append(entry(Deed.FINISHED, BOOK))
        ledger.append(entry(Deed.FINISHED, BOOK, "papers"))
        ledger.append(entry(Deed.REMOVED, OTHER))

        assert ["alexandria", "papers"] == [line.collection for line in ledger.books()]
        assert [BOOK] == [line.digest for line in ledger.books("papers")]
        assert [] == ledger.books("none")

    def test_books_come_in_the_order_of_their_last_lines(self, ledger: Ledger) -> None:
        for digest in (BOOK, OTHER, BOOK):
            ledger.append(entry(digest=digest))

        assert [OTHER, BOOK] == [line.digest for line in ledger.books()]

    def test_what_was_cut_off_is_unfinished(self, ledger: Ledger) -> None:
        ledger.append(entry(Deed.STARTED, BOOK))
        ledger.append(entry(Deed.STARTED, OTHER))
        ledger.append(entry(Deed.FAILED, OTHER))
        ledger.append(entry(Deed.STARTED, OTHER, "papers"))

        assert [BOOK, OTHER] == [line.digest for line in ledger.unfinished()]
        assert [OTHER] == [line.digest for line in ledger.unfinished("papers")]

    def test_the_books_of_a_resource_are_those_that_are_in_or_unfinished(self, ledger: Ledger) -> None:
        third = Digest.of_bytes(b"a third")
        for line in (
            entry(Deed.STARTED, OTHER),
            entry(Deed.FINISHED, BOOK, title="Old"),
            entry(Deed.FINISHED, BOOK),
            entry(Deed.FAILED, third),
            entry(Deed.FINISHED, third, "papers"),
            entry(Deed.FINISHED, Digest.of_bytes(b"a fourth"), resource_id="other"),
        ):
            ledger.append(line)

        found = ledger.of_resource("alexandria", "moby-dick")

        assert {(OTHER, Deed.STARTED), (BOOK, Deed.FINISHED)} == {(line.digest, line.deed) for line in found}
        assert ([], 2) == (list(ledger.of_resource("none", "moby-dick")), len(found))

    @pytest.mark.parametrize(("limit", "count"), [(0, 0), (1, 1), (3, 3), (100, 5), (-1, 0), (2**80, 5)])
    def test_history_is_newest_first_and_bounded(self, ledger: Ledger, limit: int, count: int) -> None:
        for number in range(5):
            ledger.append(entry(title=str(number)))

        assert ["4", "3", "2", "1", "0"][:count] == [line.title for line in ledger.history(limit)]

    def test_a_time_of_another_zone_is_the_same_time(self, ledger: Ledger) -> None:
        line = entry(at=datetime(2026, 1, 2, 3, 4, tzinfo=timezone(timedelta(hours=5, minutes=45))))
        ledger.append(line)

        found = ledger.history()[0]

        assert (line, timedelta(0)) == (found, found.at.utcoffset())

    def test_a_time_without_a_zone_is_refused(self, ledger: Ledger) -> None:
        with pytest.raises(RequestRefused, match="zone"):
            ledger.append(entry(at=datetime(2026, 1, 2)))

    def test_what_is_not_plain_data_is_refused_and_not_written(self, ledger: Ledger) -> None:
        with pytest.raises(RequestRefused, match="representable as JSON"):
            ledger.append(entry(parameters={"model": object()}))

        assert [] == ledger.history()

    def test_what_the_caller_changes_afterwards_stays_out(self, ledger: Ledger) -> None:
        counts = {"chunks": 1}
        ledger.append(entry(counts=counts))
        counts["chunks"] = 2

        assert {"chunks": 1} == ledger.history()[0].counts

    def test_threads_write_at_once(self, ledger: Ledger) -> None:
        def write(worker: int) -> None:
            for number in range(5):
                ledger.append(entry(digest=Digest.of_bytes(f"{worker} {number}".encode())))

        threads = [threading.Thread(target=write, args=(worker,)) for worker in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert 20 == len(ledger.books())


PLAIN = st.dictionaries(
    st.text(max_size=5), st.none() | st.booleans() | st.integers() | st.text(max_size=5), max_size=3
)
LINES = st.builds(
    LedgerEntry,
    deed=st.sampled_from(Deed),
    at=st.datetimes(timezones=st.just(UTC)),
    collection=st.text(max_size=10).filter(lambda text: text.isprintable()),
    digest=st.sampled_from([BOOK, OTHER]),
    resource_id=st.text(max_size=5),
    path=st.text(st.characters(), max_size=10),
    size=st.integers(0, 2**63),
    format=st.text(max_size=5),
    title=st.text(st.characters(), max_size=10),
    author=st.text(max_size=5),
    language=st.text(max_size=5),
    book_id=st.none() | st.integers(),
    model=st.text(max_size=5),
    parameters=PLAIN,
    counts=st.dictionaries(st.text(max_size=5), st.integers(), max_size=3),
    seconds=st.dictionaries(st.text(max_size=5), st.floats(allow_nan=False), max_size=3),
    error=st.none() | st.text(max_size=5),
)


@pytest.mark.long
@given(line=LINES)
def test_a_line_comes_back_as_it_was(new_ledger: New, line: LedgerEntry) -> None:
    ledger = new_ledger()

    ledger.append(line)

    assert line == ledger.last(line.collection, line.digest)


@pytest.mark.long
@given(
    deeds=st.lists(st.tuples(st.sampled_from(Deed), st.sampled_from([BOOK, OTHER]), st.sampled_from("ab")), max_size=8)
)
def test_both_ledgers_answer_alike(
    tmp_path_factory: pytest.TempPathFactory, deeds: list[tuple[Deed, Digest, str]]
) -> None:
    one, two = MemoryLedger(), SqliteLedger(tmp_path_factory.mktemp("home") / "ledger.db")

    for number, (deed, digest, collection) in enumerate(deeds):
        line = evolve(entry(deed, digest, collection), size=number)
        one.append(line)
        two.append(line)

    for collection in (None, *"ab"):
        assert one.books(collection) == two.books(collection)
        assert one.unfinished(collection) == two.unfinished(collection)
    assert one.history(3) == two.history(3)


class TestPostgreSQL:
    def test_tables_of_a_later_version_are_refused_and_stay_as_they_are(self, postgres: str) -> None:
        url = in_new_schema(postgres)
        with driver.connect(url) as connection:
            connection.execute("CREATE TABLE citekit_schema AS SELECT 99 AS version")
        ledger = PostgresLedger(url)

        for action in (ledger.history, lambda: ledger.append(entry())):
            with pytest.raises(LedgerCorrupt, match=r"later version of CiteKit\. Update CiteKit"):
                action()

    def test_a_restart_of_the_server_is_not_noticed_afterward(self, postgres: str) -> None:
        ledger = PostgresLedger(in_new_schema(postgres))
        ledger.append(entry())
        restart_server(data_folder(postgres))

        ledger.append(entry(Deed.STARTED, OTHER))

        assert [OTHER, BOOK] == [each.digest for each in ledger.history(2)]

    def test_a_server_that_cannot_be_reached_is_one_clear_sentence(self) -> None:
        pytest.importorskip("psycopg", reason="the extra 'scale' is not installed")

        with pytest.raises(HomeUnwritable, match="Check CITEKIT_DATABASE"):
            PostgresLedger("postgresql://nobody@127.0.0.1:9/none").append(entry())
