"""What the evidence store and the outputs remember, and what makes them look again."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from attrs import define, evolve, field

from citekit.adapters.libraries.sqlite.key_value_cache import Index
from citekit.adapters.storage import access_times, evidence_files, evidence_record, objects
from citekit.adapters.storage import outputs as placed
from citekit.adapters.storage.evidence_files import FileEvidenceStore
from citekit.adapters.storage.outputs import FriendlyOutputs
from citekit.adapters.system.home_seal import CODE_SIZE, HomeSeal
from citekit.domain.digest import Digest
from citekit.domain.evidence import (
    Extraction,
    ExtractorIdentity,
    Options,
    Receipt,
    StoredEvidence,
)
from citekit.domain.locations import Pages
from tests.storage.pieces_of_evidence import key_of, writing

SETTLED = 0.1
"""Seconds after which another change of a file shows in its times."""


@define
class SetClock:
    """A clock that is set by hand."""

    time: datetime = field(factory=lambda: datetime.now(UTC))

    def now(self) -> datetime:
        return self.time


def never(target: Path) -> Extraction:
    raise AssertionError("what is stored is not made again")


def store_in(home: Path, *, limit: int = 10**9, grace: float = 0, clock: SetClock | None = None) -> FileEvidenceStore:
    return FileEvidenceStore(home / "evidence", Index(home / "index"), limit, grace=grace, clock=clock)


def receipt_of(stored: StoredEvidence, page: int = 1) -> Receipt:
    return Receipt(
        key=stored.key,
        source_digest=Digest.of_bytes(b"source"),
        source_path="/books/book.pdf",
        source_size=100,
        resource_id="book",
        location=Pages.of([page]),
        extractor=ExtractorIdentity("PyMuPdfExtractor", "1"),
        options=Options(),
        evidence_digest=stored.digest,
        evidence_size=stored.size,
        media_type="application/pdf",
        extent=Pages.of([page]),
        created=stored.created,
    )


@pytest.fixture
def store(tmp_path: Path) -> FileEvidenceStore:
    """A store that has `a` in memory."""
    store = store_in(tmp_path)
    store.obtain(key_of("a"), writing(b"alpha"))
    time.sleep(SETTLED)
    found = store.find(key_of("a"))
    assert found is store.cached(key_of("a")) is not None
    return store


def edit_in_place(path: Path) -> None:
    """Change a byte, and put the time of modification back."""
    before = path.stat()
    path.chmod(0o644)
    with path.open("r+b") as file:
        file.write(b"A")
    path.chmod(before.st_mode)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def replace_by_rename(path: Path) -> None:
    """Put a file of the same size, mode and time in its place."""
    before, other = path.stat(), path.with_name("other")
    other.write_bytes(b"A" + path.read_bytes()[1:])
    other.chmod(before.st_mode)
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    other.replace(path)


def link_elsewhere(path: Path) -> None:
    """Put a symbolic link to the same bytes in its place."""
    moved = path.rename(path.with_name("moved"))
    path.symlink_to(moved)


class TestTheStore:
    def test_what_was_found_is_found_again_without_the_index(self, store: FileEvidenceStore, tmp_path: Path) -> None:
        with closing(sqlite3.connect(tmp_path / "index" / "evidence.db")) as connection, connection:
            connection.execute("DELETE FROM evidence")

        assert store.find(key_of("a")) is store.obtain(key_of("a"), never)

    @pytest.mark.parametrize("change", [edit_in_place, replace_by_rename, link_elsewhere, Path.unlink])
    def test_an_object_that_was_changed_is_noticed(
        self, store: FileEvidenceStore, change: Callable[[Path], object]
    ) -> None:
        path = store.obtain(key_of("a"), never).path
        change(path)

        at_hand, found = store.cached(key_of("a")), store.find(key_of("a"))
        again = store.obtain(key_of("a"), writing(b"alpha"))

        assert (None, None) == (at_hand, found)
        assert (True, b"alpha") == (again.made_now, again.path.read_bytes())

    @pytest.mark.parametrize("gone", [["evidence/objects"], ["evidence"], ["evidence", "index"]])
    def test_folders_that_are_deleted_meanwhile_are_noticed(
        self, store: FileEvidenceStore, tmp_path: Path, gone: list[str]
    ) -> None:
        for name in gone:
            shutil.rmtree(tmp_path / name)

        found = store.find(key_of("a"))
        again = store.obtain(key_of("a"), writing(b"alpha"))

        assert (None, True, b"alpha", 1) == (found, again.made_now, again.path.read_bytes(), store.stats().objects)

    def test_another_process_that_prunes_is_noticed(self, store: FileEvidenceStore, tmp_path: Path) -> None:
        script = (
            "import sys; from pathlib import Path\n"
            "from citekit.adapters.libraries.sqlite.key_value_cache import Index\n"
            "from citekit.adapters.storage.evidence_files import FileEvidenceStore\n"
            "home = Path(sys.argv[1])\n"
            "print(FileEvidenceStore(home / 'evidence', Index(home / 'index'), grace=0).prune(0))"
        )
        said = subprocess.run([sys.executable, "-c", script, tmp_path], capture_output=True, text=True, check=True)

        assert ("5\n", None) == (said.stdout, store.find(key_of("a")))
        assert store.obtain(key_of("a"), writing(b"alpha")).made_now

    def test_an_object_that_another_process_made_again_is_found(self, store: FileEvidenceStore, tmp_path: Path) -> None:
        store.obtain(key_of("a"), never).path.unlink()
        made = store_in(tmp_path).obtain(key_of("a"), writing(b"alpha again"))

        found = store.obtain(key_of("a"), never)

        assert evolve(made, made_now=False) == found

    def test_memory_is_bounded(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(evidence_files, "REMEMBERED", 3)
        monkeypatch.setattr(access_times, "REMEMBERED", 3)
        store = store_in(tmp_path)
        for name in "abcde":
            store.obtain(key_of(name), writing(name.encode()))
            store.find(key_of(name))
        time.sleep(SETTLED)

        found = [store.obtain(key_of(name), never).digest for name in "abcde"]

        assert [Digest.of_bytes(name.encode()) for name in "abcde"] == found
        assert [False, False, True, True, True] == [store.cached(key_of(name)) is not None for name in "abcde"]


class TestUses:
    def test_a_use_in_one_process_is_known_to_another(self, tmp_path: Path) -> None:
        clock = SetClock()
        store, other = store_in(tmp_path, clock=clock), store_in(tmp_path, clock=clock)
        for name in "abc":
            store.obtain(key_of(name), writing(name.encode() * 100))
            clock.time += timedelta(minutes=1)
        other.find(key_of("a"))
        clock.time += timedelta(minutes=1)

        store.prune(200)

        assert [True, False, True] == [store.find(key_of(name)) is not None for name in "abc"]

    def test_what_was_asked_for_just_now_stays_though_the_clock_was_set_back(self, tmp_path: Path) -> None:
        clock = SetClock()
        store = store_in(tmp_path, grace=10, clock=clock)
        for name in "ab":
            store.obtain(key_of(name), writing(name.encode() * 100))
        clock.time -= timedelta(days=1)
        store.find(key_of("a"))
        clock.time += timedelta(seconds=1)

        store.prune(0)

        assert [True, False] == [store.find(key_of(name)) is not None for name in "ab"]

    def test_the_file_of_uses_may_be_lost_or_torn_or_forbidden(self, tmp_path: Path) -> None:
        clock, file = SetClock(), tmp_path / "evidence" / "uses"
        store = store_in(tmp_path, grace=10, clock=clock)
        store.obtain(key_of("a"), writing(b"alpha"))

        def put_a_folder_there() -> None:
            file.unlink()
            file.mkdir()

        for harm in (file.unlink, partial(file.write_bytes, b"\xff" * 5), put_a_folder_there):
            harm()
            clock.time += timedelta(minutes=1)

            found = store.find(key_of("a"))

            assert (True, 0) == (found is not None, store.prune(0))

    @pytest.mark.long
    def test_more_objects_than_fit_in_a_batch_go_in_the_order_of_their_uses(self, tmp_path: Path) -> None:
        clock = SetClock()
        store, names = store_in(tmp_path, clock=clock), [str(number) for number in range(650)]
        for name in names:
            store.obtain(key_of(name), writing(name.encode().ljust(10)))
            clock.time += timedelta(seconds=2)
        clock.time += timedelta(days=1)
        for name in reversed(names[:300]):
            store.find(key_of(name))
            clock.time += timedelta(seconds=2)

        store.prune(650 * 10 - 5000)

        kept = [name for name in names if store.find(key_of(name)) is not None]
        assert names[:150] == kept
        assert 1500 == store.stats().size


class TestTheSize:
    def test_the_store_stays_bounded_though_the_index_was_lost(self, tmp_path: Path) -> None:
        store = store_in(tmp_path, limit=1000)
        for name in "abcdefghi":
            store.obtain(key_of(name), writing(name.encode() * 100))
        shutil.rmtree(tmp_path / "index")

        store_in(tmp_path, limit=1000).obtain(key_of("z"), writing(b"z" * 500))

        assert store.stats().size <= 1000

    def test_an_object_whose_maker_was_killed_before_it_came_is_not_counted_for_ever(self, tmp_path: Path) -> None:
        store = store_in(tmp_path, limit=1000)
        store.obtain(key_of("a"), writing(b"a" * 100))
        with closing(sqlite3.connect(tmp_path / "index" / "evidence.db")) as connection, connection:
            connection.execute("INSERT INTO object VALUES (?, 1.0, 900)", (b"\0" * 32,))
            connection.execute("UPDATE total SET size = size + 900")

        store.obtain(key_of("b"), writing(b"b" * 100))

        assert [True, True] == [store.find(key_of(name)) is not None for name in "ab"]


class TestAfterAnotherStartOfTheMachine:
    @pytest.mark.parametrize(("data", "kept"), [(b"alpha", True), (b"\0\0\0\0\0", False)])
    def test_bytes_that_may_not_have_reached_the_disk_are_read_again(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: bytes, *, kept: bool
    ) -> None:
        made = store_in(tmp_path).obtain(key_of("a"), writing(b"alpha"))
        made.path.chmod(0o644)
        made.path.write_bytes(data)
        time.sleep(SETTLED)
        as_it_looks(tmp_path, made.path)
        monkeypatch.setattr(evidence_record, "boot_id", lambda: "another run")
        store = store_in(tmp_path)

        found, at_hand = store.find(key_of("a")), store.cached(key_of("a"))

        assert (kept, kept) == (found is not None, at_hand is not None)
        assert kept == (remembered(tmp_path)["boot"] == "")

    def test_where_runs_are_not_known_one_waits_for_the_disk(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        synced: list[Path] = []
        for module in (evidence_record, objects):
            monkeypatch.setattr(module, "boot_id", lambda: None)
        monkeypatch.setattr(objects, "sync_file", synced.append)
        store = store_in(tmp_path)

        store.obtain(key_of("a"), writing(b"alpha"))

        assert (1, "") == (len(synced), remembered(tmp_path)["boot"])
        assert store.find(key_of("a")) is not None


def remembered(home: Path) -> dict[str, object]:
    with closing(sqlite3.connect(home / "index" / "evidence.db")) as connection:
        (text,) = connection.execute("SELECT record FROM evidence").fetchone()
    plain: dict[str, object] = json.loads(text[2 * CODE_SIZE :])
    return plain


def as_it_looks(home: Path, path: Path) -> None:
    """Let the index say that the object looked as it does now."""
    status, plain = path.stat(), remembered(home)
    state = [status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns]
    plain |= {"state": state, "since": time.time(), "seen": time.time()}
    text = json.dumps(plain)
    with closing(sqlite3.connect(home / "index" / "evidence.db")) as connection, connection:
        key, digest = connection.execute("SELECT key, object FROM evidence").fetchone()
        code = HomeSeal(home / "index").code(b"evidence", key, digest, text.encode()).hex()
        connection.execute("UPDATE evidence SET record = ?", (code + text,))


class TestOutputs:
    @pytest.fixture(params=["link", "copy"])
    def outputs(
        self, request: pytest.FixtureRequest, store: FileEvidenceStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> FriendlyOutputs:
        """Outputs that remember where `a` lies."""
        if request.param == "copy":

            def refuse(self: Path, target: Path) -> None:
                raise OSError("this file system has no links")

            monkeypatch.setattr(Path, "hardlink_to", refuse)
        outputs = FriendlyOutputs(tmp_path / "out")
        stored = store.obtain(key_of("a"), never)
        path = outputs.place(stored, receipt_of(stored), "book")
        time.sleep(SETTLED)
        assert path == outputs.place(stored, receipt_of(stored), "book")
        assert outputs.is_unchanged(path, stored, receipt_of(stored))
        return outputs

    @pytest.mark.parametrize("file", ["book.pdf", ".receipts/book.pdf.json"])
    @pytest.mark.parametrize("change", [replace_by_rename, Path.unlink, link_elsewhere])
    def test_a_file_or_receipt_that_was_changed_is_noticed(
        self,
        outputs: FriendlyOutputs,
        store: FileEvidenceStore,
        tmp_path: Path,
        file: str,
        change: Callable[[Path], object],
    ) -> None:
        change(tmp_path / "out" / file)
        stored = store.obtain(key_of("a"), writing(b"alpha"))

        still = outputs.is_unchanged(tmp_path / "out" / "book.pdf", stored, receipt_of(stored))
        path = outputs.place(stored, receipt_of(stored), "book")

        assert (False, b"alpha") == (still, path.read_bytes())
        assert receipt_of(stored) == outputs.receipt(path)
        time.sleep(SETTLED)
        laid = path.stat()
        assert path == outputs.place(store.obtain(key_of("a"), never), receipt_of(stored), "book")
        assert (laid.st_ino, laid.st_ctime_ns) == (path.stat().st_ino, path.stat().st_ctime_ns)
        linked = (path.parent / ".receipts" / "book.pdf.json").is_symlink()
        assert outputs.is_unchanged(path, store.obtain(key_of("a"), never), receipt_of(stored)) != linked

    def test_a_file_that_was_edited_in_place_shows_the_evidence_again(
        self, outputs: FriendlyOutputs, store: FileEvidenceStore, tmp_path: Path
    ) -> None:
        path = tmp_path / "out" / "book.pdf"
        linked = path.samefile(store.obtain(key_of("a"), never).path)
        edit_in_place(path)

        stored = store.obtain(key_of("a"), writing(b"alpha"))
        placed = outputs.place(stored, receipt_of(stored), "book")

        assert linked == stored.made_now
        assert (b"alpha", b"alpha") == (stored.path.read_bytes(), placed.read_bytes())

    @pytest.mark.parametrize("change", [edit_in_place, replace_by_rename])
    def test_a_receipt_that_was_edited_in_place_is_noticed(
        self, outputs: FriendlyOutputs, store: FileEvidenceStore, tmp_path: Path, change: Callable[[Path], object]
    ) -> None:
        change(tmp_path / "out" / ".receipts" / "book.pdf.json")
        stored = store.obtain(key_of("a"), never)

        assert not outputs.is_unchanged(tmp_path / "out" / "book.pdf", stored, receipt_of(stored))
        assert receipt_of(stored) == outputs.receipt(outputs.place(stored, receipt_of(stored), "book"))

    def test_other_evidence_that_another_process_placed_there_is_noticed(
        self, outputs: FriendlyOutputs, store: FileEvidenceStore, tmp_path: Path
    ) -> None:
        older = store.obtain(key_of("a"), never)
        newer = store.obtain(key_of("b"), writing(b"newer"))
        FriendlyOutputs(tmp_path / "out").place(newer, receipt_of(newer), "book")

        still = outputs.is_unchanged(tmp_path / "out" / "book.pdf", older, receipt_of(older))
        path = outputs.place(older, receipt_of(older), "book")

        assert (False, b"alpha", receipt_of(older)) == (still, path.read_bytes(), outputs.receipt(path))

    def test_a_folder_that_is_deleted_meanwhile_is_made_anew(
        self, outputs: FriendlyOutputs, store: FileEvidenceStore, tmp_path: Path
    ) -> None:
        stored = store.obtain(key_of("a"), never)
        shutil.rmtree(tmp_path / "out")

        still = outputs.is_unchanged(tmp_path / "out" / "book.pdf", stored, receipt_of(stored))
        path = outputs.place(stored, receipt_of(stored), "book")

        assert (False, b"alpha", receipt_of(stored)) == (still, path.read_bytes(), outputs.receipt(path))

    def test_another_receipt_is_another_question(self, outputs: FriendlyOutputs, store: FileEvidenceStore) -> None:
        stored = store.obtain(key_of("a"), never)
        moved = evolve(receipt_of(stored), source_path="/books/moved.pdf")

        path = outputs.place(stored, moved, "book")

        assert (moved, False) == (outputs.receipt(path), outputs.is_unchanged(path, stored, receipt_of(stored)))

    def test_memory_is_bounded(self, store: FileEvidenceStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(placed, "REMEMBERED", 2)
        outputs, stored = FriendlyOutputs(tmp_path / "out"), store.obtain(key_of("a"), never)
        for _ in range(2):
            paths = [outputs.place(stored, receipt_of(stored, page), f"page {page}") for page in (1, 2, 3)]
            time.sleep(SETTLED)

        still = [outputs.is_unchanged(path, stored, receipt_of(stored, page)) for page, path in enumerate(paths, 1)]

        assert [False, True, True] == still
