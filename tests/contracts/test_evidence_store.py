"""What every evidence store promises."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Protocol, TypeVar

import pytest
from attrs import define, evolve
from hypothesis import given
from hypothesis import strategies as st

from citekit.adapters.libraries.sqlite.key_value_cache import Index
from citekit.adapters.storage.evidence_files import FileEvidenceStore
from citekit.adapters.storage.object_store.folder import FolderObjectStore
from citekit.adapters.storage.shared_evidence import SharedEvidenceStore
from citekit.domain.digest import Digest
from citekit.domain.errors import Cancelled, ExtractionFailed
from citekit.domain.evidence import EvidenceKey, Extraction
from citekit.domain.locations import Pages
from citekit.domain.ports.evidence_store import EvidenceStore, Make
from tests.doubles.stores import InMemoryEvidenceStore

EXTRACTION = Extraction(
    suffix=".pdf", media_type="application/pdf", extent=Pages.of([1, 2]), bytes_from=1.5, notes=("a note",)
)


T = TypeVar("T")


def key_of(name: str) -> EvidenceKey:
    return EvidenceKey(Digest.of_bytes(name.encode()))


def writing(data: bytes) -> Make:
    def make(target: Path) -> Extraction:
        assert not target.exists()
        target.write_bytes(data)
        return EXTRACTION

    return make


def never(target: Path) -> Extraction:
    raise AssertionError("what is stored is not made again")


def edit(path: Path, data: bytes) -> None:
    path.chmod(0o644)
    path.write_bytes(data)


@define
class Later:
    """A clock that goes a minute further at every look."""

    minutes: int = 0

    def now(self) -> datetime:
        self.minutes += 1
        return datetime.now(UTC) + timedelta(minutes=self.minutes)


class Factory(Protocol):
    def __call__(self, limit: int = 10**9) -> EvidenceStore: ...


def _factory(kind: str, factory: pytest.TempPathFactory) -> Factory:
    def make(limit: int = 10**9) -> EvidenceStore:
        if kind == "memory":
            return InMemoryEvidenceStore(limit, clock=Later())
        home = factory.mktemp("home")
        files = FileEvidenceStore(home / "evidence", Index(home / "index"), limit, clock=Later(), grace=0)
        return SharedEvidenceStore(files, FolderObjectStore(home / "store")) if kind == "shared" else files

    return make


@pytest.fixture(params=["files", "memory", "shared"], scope="session")
def new_store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Factory:
    """Stores that drop, too, what was asked for just now, by whose clock every use is later than the one before."""
    return _factory(request.param, tmp_path_factory)


@pytest.fixture(params=["files", "memory"], scope="session")
def new_local_store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Factory:
    """Those that cannot fetch again what they dropped."""
    return _factory(request.param, tmp_path_factory)


@pytest.fixture
def store(new_store: Factory) -> EvidenceStore:
    return new_store()


@pytest.fixture
def local_store(new_local_store: Factory) -> EvidenceStore:
    return new_local_store()


class TestEvidenceStore:
    def test_nothing_is_found_in_a_new_store(self, store: EvidenceStore) -> None:
        assert store.find(key_of("a")) is None
        assert (0, 0, 10**9) == (store.stats().objects, store.stats().size, store.stats().limit)

    def test_what_was_made_is_found_by_its_key(self, store: EvidenceStore) -> None:
        made = store.obtain(key_of("a"), writing(b"alpha"))

        found = store.find(key_of("a"))

        assert made.made_now
        assert evolve(made, made_now=False) == found

    def test_any_part_of_its_bytes_can_be_read(self, local_store: EvidenceStore) -> None:
        made = local_store.obtain(key_of("a"), writing(b"alpha"))

        parts = [local_store.read(key_of("a"), start, length) for start, length in ((0, 5), (1, 3), (4, 9), (5, 1))]

        assert [b"alpha", b"lph", b"a", b""] == parts
        assert local_store.read(key_of("b"), 0, 5) is None
        made.path.unlink()
        made.path.symlink_to(__file__)
        assert local_store.read(key_of("a"), 0, 5) is None

    def test_the_digest_and_size_are_those_of_the_bytes(self, store: EvidenceStore) -> None:
        made = store.obtain(key_of("a"), writing(b"alpha"))

        assert (b"alpha", Digest.of_bytes(b"alpha"), 5) == (made.path.read_bytes(), made.digest, made.size)
        assert (key_of("a"), EXTRACTION) == (made.key, made.extraction)

    def test_it_is_made_once(self, store: EvidenceStore) -> None:
        store.obtain(key_of("a"), writing(b"alpha"))

        again = store.obtain(key_of("a"), never)

        assert (False, b"alpha") == (again.made_now, again.path.read_bytes())

    def test_what_is_at_hand_is_what_would_be_found(self, store: EvidenceStore) -> None:
        before = store.cached(key_of("a"))
        path = store.obtain(key_of("a"), writing(b"alpha")).path
        time.sleep(0.1)  # another change of the file shows only then
        found, at_hand = store.find(key_of("a")), store.cached(key_of("a"))
        edit(path, b"ALPHA")

        assert before is None
        assert at_hand in (found, None)
        assert store.cached(key_of("a")) is None

    def test_an_object_is_read_again_to_tell_whether_it_is_intact(self, store: EvidenceStore) -> None:
        made = store.obtain(key_of("a"), writing(b"alpha"))
        before = store.is_intact(made.digest)
        edit(made.path, b"ALPHA")

        assert (True, False) == (before, store.is_intact(made.digest))
        assert made.path.exists()
        assert store.is_intact(Digest.of_bytes(b"nobody")) is None

    def test_when_it_was_made_is_said_by_the_clock(self, store: EvidenceStore) -> None:
        before = datetime.now(UTC)

        made = store.obtain(key_of("a"), writing(b"alpha"))

        assert made.created - before >= timedelta(minutes=1), "the clock is ahead of the machine's"

    def test_the_same_bytes_under_two_keys_are_stored_once(self, store: EvidenceStore) -> None:
        one = store.obtain(key_of("a"), writing(b"alpha"))
        other = store.obtain(key_of("b"), writing(b"alpha"))

        assert (one.path, 1, 5) == (other.path, store.stats().objects, store.stats().size)
        assert store.find(key_of("a")) is not None
        assert store.find(key_of("b")) is not None

    def test_evidence_without_bytes_is_evidence(self, store: EvidenceStore) -> None:
        made = store.obtain(key_of("a"), writing(b""))

        assert (0, made.digest) == (made.size, store.obtain(key_of("a"), never).digest)

    def test_an_error_of_the_maker_goes_through_and_nothing_is_stored(self, store: EvidenceStore) -> None:
        def fail(target: Path) -> Extraction:
            target.write_bytes(b"half")
            raise ExtractionFailed("no")

        with pytest.raises(ExtractionFailed, match="no"):
            store.obtain(key_of("a"), fail)

        assert (None, 0) == (store.find(key_of("a")), store.stats().objects)
        assert store.obtain(key_of("a"), writing(b"whole")).made_now

    def test_a_maker_that_writes_nothing_has_failed(self, store: EvidenceStore) -> None:
        with pytest.raises(ExtractionFailed, match="created no file"):
            store.obtain(key_of("a"), lambda _: EXTRACTION)

    @pytest.mark.parametrize("damage", [b"ALPHA", b"longer than before", b""])
    def test_damaged_content_is_noticed_and_made_again(self, local_store: EvidenceStore, damage: bytes) -> None:
        edit(local_store.obtain(key_of("a"), writing(b"alpha")).path, damage)

        found = local_store.find(key_of("a"))
        again = local_store.obtain(key_of("a"), writing(b"alpha"))

        assert (None, True, b"alpha") == (found, again.made_now, again.path.read_bytes())

    def test_an_object_that_somebody_removed_is_made_again(self, local_store: EvidenceStore) -> None:
        local_store.obtain(key_of("a"), writing(b"alpha")).path.unlink()

        assert local_store.find(key_of("a")) is None
        assert local_store.obtain(key_of("a"), writing(b"alpha")).made_now

    def test_a_file_that_was_only_touched_is_still_good(self, store: EvidenceStore) -> None:
        os.utime(store.obtain(key_of("a"), writing(b"alpha")).path, (1, 1))

        assert not store.obtain(key_of("a"), never).made_now

    @pytest.mark.parametrize("pause", [0.0, 0.1])
    def test_an_edit_that_puts_the_time_of_change_back_is_noticed(
        self, local_store: EvidenceStore, tmp_path: Path, pause: float
    ) -> None:
        made = local_store.obtain(key_of("a"), writing(b"alpha"))
        link = tmp_path / "link"
        link.hardlink_to(made.path)
        time.sleep(pause)
        local_store.find(key_of("a"))
        status = link.stat()
        edit(link, b"ALPHA")
        os.utime(link, ns=(status.st_atime_ns, status.st_mtime_ns))

        found = local_store.find(key_of("a"))

        assert found is None

    def test_links_come_and_go_without_harm(self, store: EvidenceStore, tmp_path: Path) -> None:
        made = store.obtain(key_of("a"), writing(b"alpha"))
        (tmp_path / "link").hardlink_to(made.path)
        linked = store.obtain(key_of("a"), never)
        (tmp_path / "link").unlink()

        alone = store.obtain(key_of("a"), never)

        assert evolve(made, made_now=False) == linked == alone

    def test_only_what_the_disk_gains_is_said_to_be_freed(self, store: EvidenceStore, tmp_path: Path) -> None:
        (tmp_path / "link").hardlink_to(store.obtain(key_of("a"), writing(b"a" * 100)).path)
        store.obtain(key_of("b"), writing(b"b" * 10))

        linked, pruned, cleared = store.stats().linked, store.prune(20), store.clear()

        assert (100, 0, 10) == (linked, pruned, cleared)
        assert b"a" * 100 == (tmp_path / "link").read_bytes()

    def test_verify_drops_what_is_damaged_and_keeps_the_rest(self, local_store: EvidenceStore) -> None:
        edit(local_store.obtain(key_of("a"), writing(b"alpha")).path, b"ALPHA")
        local_store.obtain(key_of("b"), writing(b"beta"))

        first, second = local_store.verify(), local_store.verify()

        assert (2, [Digest.of_bytes(b"alpha").hex]) == (first.checked, list(first.healed))
        assert (1, []) == (second.checked, list(second.healed))
        assert local_store.find(key_of("b")) is not None
        assert local_store.find(key_of("a")) is None

    def test_the_size_stays_bounded_and_the_least_recently_used_go_first(self, new_local_store: Factory) -> None:
        store = new_local_store(limit=1000)
        for name in "abcdefghi":
            store.obtain(key_of(name), writing(name.encode() * 100))
        store.find(key_of("a"))

        store.obtain(key_of("z"), writing(b"z" * 250))

        kept = [name for name in "abcdefghiz" if store.find(key_of(name)) is not None]
        assert store.stats().size <= 1000
        assert {"a", "z", "i"} <= set(kept)
        assert not {"b", "c"} & set(kept)

    def test_what_was_just_made_stays_even_if_it_alone_is_too_large(self, new_local_store: Factory) -> None:
        store = new_local_store(limit=100)
        store.obtain(key_of("a"), writing(b"a" * 60))

        large = store.obtain(key_of("large"), writing(b"x" * 500))

        assert (b"x" * 500, None) == (large.path.read_bytes(), store.find(key_of("a")))

    def test_prune_drops_down_to_the_limit(self, local_store: EvidenceStore) -> None:
        for name in "abcd":
            local_store.obtain(key_of(name), writing(name.encode() * 100))

        gone = local_store.prune(250)

        assert (200, 200, ["c", "d"]) == (
            gone,
            local_store.stats().size,
            [n for n in "abcd" if local_store.find(key_of(n))],
        )
        assert 0 == local_store.prune()

    def test_clear_drops_everything(self, local_store: EvidenceStore) -> None:
        for name in ("a", "b", "none"):
            local_store.obtain(key_of(name), writing(name.encode() if name != "none" else b""))

        gone = local_store.clear()

        assert (2, 0, 0) == (gone, local_store.stats().objects, local_store.stats().size)
        assert local_store.find(key_of("a")) is None
        assert local_store.obtain(key_of("a"), writing(b"a")).made_now

    @pytest.mark.long
    @given(names=st.lists(st.sampled_from("abcdefgh"), max_size=30))
    def test_whatever_is_asked_for_the_bytes_are_right_and_the_size_bounded(
        self, new_store: Factory, names: list[str]
    ) -> None:
        store = new_store(limit=350)
        for name in names:
            data = name.encode() * 100

            stored = store.obtain(key_of(name), writing(data))

            assert (data, True) == (stored.path.read_bytes(), store.stats().size <= 350)

    def test_of_many_threads_one_makes_and_the_others_wait(self, store: EvidenceStore) -> None:
        made: list[Path] = []

        def slowly(target: Path) -> Extraction:
            time.sleep(0.05)
            made.append(target)
            return writing(b"alpha")(target)

        results = in_threads(8, lambda _: store.obtain(key_of("a"), slowly))

        assert (1, 1) == (len(made), sum(each.made_now for each in results))
        assert {b"alpha"} == {each.path.read_bytes() for each in results}

    def test_different_keys_are_made_at_the_same_time(self, store: EvidenceStore) -> None:
        together = threading.Barrier(2, timeout=20)

        def make(target: Path) -> Extraction:
            together.wait()
            return writing(b"alpha")(target)

        results = in_threads(2, lambda number: store.obtain(key_of(f"key {number}"), make))

        assert [True, True] == [each.made_now for each in results]

    def test_keys_that_begin_alike_do_not_wait_for_each_other(self, store: EvidenceStore) -> None:
        together = threading.Barrier(2, timeout=20)

        def make(target: Path) -> Extraction:
            together.wait()
            return writing(b"alpha")(target)

        keys = [EvidenceKey(Digest("abc" + str(number) * 61)) for number in range(2)]
        results = in_threads(2, lambda number: store.obtain(keys[number], make))

        assert [True, True] == [each.made_now for each in results]

    def test_who_waits_for_another_maker_may_give_up(self, store: EvidenceStore) -> None:
        making, go = threading.Event(), threading.Event()
        said: list[str] = []

        def slowly(target: Path) -> Extraction:
            making.set()
            assert go.wait(20)
            return writing(b"alpha")(target)

        def give_up(done: float, total: float | None = None, message: str = "") -> None:
            said.append(message)
            if len(said) == 2:
                raise Cancelled("enough")

        with ThreadPoolExecutor(1) as pool:
            first = pool.submit(store.obtain, key_of("a"), slowly)
            assert making.wait(20)
            with pytest.raises(Cancelled, match="enough"):
                store.obtain(key_of("a"), never, give_up)
            go.set()

        assert ["waiting for another caller that is creating the same evidence"] * 2 == said
        assert first.result().made_now
        assert not store.obtain(key_of("a"), never).made_now

    @pytest.mark.long
    def test_pruning_while_others_make_and_find_harms_nobody(self, store: EvidenceStore) -> None:
        def work(number: int) -> bool:
            for turn in range(25):
                name = f"{(number + turn) % 5}"
                stored = store.obtain(key_of(name), writing(name.encode() * 100))
                if number == 0:
                    store.prune(200)
                if stored.digest != Digest.of_bytes(name.encode() * 100):
                    return False
            return True

        results = in_threads(4, work)

        assert [True] * 4 == results
        assert [] == list(store.verify().healed)


def in_threads(count: int, work: Callable[[int], T]) -> list[T]:
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(work, range(count)))
