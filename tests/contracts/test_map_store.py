"""What every map store promises."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from citekit.adapters.libraries.sqlite.key_value_cache import Index
from citekit.adapters.storage.cataloged_maps import CatalogedMapStore
from citekit.adapters.storage.json_maps import JsonMapStore
from citekit.adapters.storage.map_cards import MapCards
from citekit.adapters.storage.object_store.folder import FolderObjectStore
from citekit.adapters.storage.shared_maps import SharedMapStore
from citekit.domain.digest import Digest
from citekit.domain.errors import CiteKitError, ResourceIdRefused, ResourceMissing
from citekit.domain.locations import Pages
from citekit.domain.mapper_identity import MapperIdentity
from citekit.domain.modality import Modality
from citekit.domain.node import Node
from citekit.domain.ports.map_store import MapStore
from citekit.domain.resource_map import ResourceMap
from tests.doubles.stores import InMemoryMapStore

MAPPER = MapperIdentity("local", "1")
SOURCE = Digest.of_bytes(b"the book")
REFUSED = ["", "  ", ".", "..", "a/b", "../up", "a\\b", "a\0b", "a\nb", "\u202eevil", "x" * 500, "é" * 100, "\ud800"]
ODD = ["book", ".hidden", "Ünïcode", "日本語", "מפה", "a b", "a%41", "100%", "a+b&c", "...", "CON", "x.json", "x" * 200]


def a_map(resource_id: str = "book", title: str = "A Book") -> ResourceMap:
    section = Node("one.two", "Two", "section", Pages.of([2]), "Says much.")
    chapter = Node("one", "One", "chapter", Pages.of([1, 2]), None, (section,))
    metadata = {"source_hash": SOURCE.hex, "source_size": 8, "mapper": MAPPER.to_metadata(), "page_count": 2}
    when = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    return ResourceMap(resource_id, Modality.DOCUMENT, title, "/books/book.pdf", (chapter,), when, metadata)


Factory = Callable[[], MapStore]


KINDS = ["files", "files without cards", "memory", "objects", "objects with cards", "objects with a catalog"]


@pytest.fixture(params=KINDS, scope="session")
def new_store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Factory:
    def make() -> MapStore:
        if request.param == "memory":
            return InMemoryMapStore()
        home = tmp_path_factory.mktemp("home")
        if request.param == "objects with a catalog":
            objects = FolderObjectStore(home / "store")
            return CatalogedMapStore(objects, str(home), request.getfixturevalue("database"))
        if request.param.startswith("objects"):
            cards = MapCards(str(home / "cards")) if request.param == "objects with cards" else None
            return SharedMapStore(FolderObjectStore(home / "store"), str(home), cards)
        cache = home / "cache" if request.param == "files" else None
        return JsonMapStore(home / ".resource_maps", Index(home / "index"), cache)

    return make


@pytest.fixture
def store(new_store: Factory) -> MapStore:
    return new_store()


class TestMapStore:
    def test_a_store_begins_empty(self, store: MapStore) -> None:
        assert [] == list(store.ids())

    def test_what_is_got_is_what_was_put(self, store: MapStore) -> None:
        store.put(a_map())

        found = store.get("book")

        assert a_map() == found

    def test_a_map_is_got_by_its_current_version(self, store: MapStore) -> None:
        store.put(a_map())
        store.put(a_map(title="Another"))
        assert a_map(title="Another") == store.get("book", store.versions()["book"])
        store.remove("book")
        with pytest.raises(ResourceMissing):
            store.get("book", store.versions().get("book"))

    def test_a_map_that_another_mapper_made_of_the_same_bytes_is_kept(self, store: MapStore) -> None:
        better = MapperIdentity("gemini", "2", "model-x")
        old, new = (
            a_map(),
            evolve(a_map(), metadata={**a_map().metadata, "mapper": better.to_metadata()}, title="Better"),
        )
        store.put(old)
        store.put(new)

        kept = store.edition("book", MAPPER), store.edition("book", better), list(store.editions("book"))

        assert (old, new, [new, old]) == kept
        assert store.edition("book", MapperIdentity("other", "1")) is None
        assert store.edition("nothing", MAPPER) is None
        assert old == store.find_mapped(SOURCE, MAPPER)
        assert ["book"] == list(store.ids())

    def test_a_map_of_other_bytes_is_not_kept(self, store: MapStore) -> None:
        changed = {
            **a_map().metadata,
            "source_hash": Digest.of_bytes(b"new").hex,
            "mapper": {"name": "x", "version": "1"},
        }
        store.put(a_map())
        store.put(evolve(a_map(), metadata=changed))

        assert 1 == len(store.editions("book"))

    def test_the_digests_of_earlier_sources_are_remembered_until_the_map_is_removed(self, store: MapStore) -> None:
        digests = [Digest.of_bytes(bytes([number])) for number in range(3)]
        for digest in (*digests, digests[2]):
            store.put(evolve(a_map(), metadata={**a_map().metadata, "source_hash": digest.hex}))
        store.put(evolve(a_map(), metadata={}))

        earlier = store.earlier_sources("book")
        store.remove("book")

        assert digests == list(earlier)
        assert [] == list(store.earlier_sources("book")) == list(store.earlier_sources("nothing"))

    def test_removing_a_map_removes_its_editions(self, store: MapStore) -> None:
        store.put(a_map())
        store.put(evolve(a_map(), metadata={**a_map().metadata, "mapper": {"name": "x", "version": "1"}}))
        store.remove("book")

        assert store.edition("book", MAPPER) is None
        with pytest.raises(ResourceMissing):
            store.editions("book")

    @pytest.mark.long
    @given(title=st.text(alphabet=st.characters(exclude_categories=["Cs"])), odd=st.sampled_from(ODD))
    def test_any_title_under_any_id_survives(self, new_store: Factory, title: str, odd: str) -> None:
        store = new_store()
        store.put(a_map(odd, title))

        found = store.get(odd)

        assert (a_map(odd, title), [odd]) == (found, list(store.ids()))

    @given(name=st.text(max_size=60))
    def test_any_id_survives_or_is_refused(self, new_store: Factory, name: str) -> None:
        store = new_store()
        try:
            store.put(a_map(name))
        except ResourceIdRefused:
            assert [] == list(store.ids())
        else:
            assert ([name], name) == (list(store.ids()), store.get(name).resource_id)

    @pytest.mark.parametrize("name", REFUSED)
    def test_an_id_that_cannot_be_stored_is_refused_everywhere(self, store: MapStore, name: str) -> None:
        for action in (lambda: store.put(a_map(name)), lambda: store.get(name), lambda: store.remove(name)):
            with pytest.raises(ResourceIdRefused):
                action()

    def test_a_second_put_replaces_the_first(self, store: MapStore) -> None:
        store.put(a_map(title="Old"))
        store.put(a_map(title="New"))

        found = store.get("book")

        assert ("New", ["book"]) == (found.title, list(store.ids()))

    def test_ids_are_sorted(self, store: MapStore) -> None:
        for name in ("b", "a", "é", "a.b"):
            store.put(a_map(name))

        assert ["a", "a.b", "b", "é"] == list(store.ids())

    def test_an_unknown_id_says_where_it_looked_and_what_is_near(self, store: MapStore) -> None:
        store.put(a_map("algorithms"))

        with pytest.raises(ResourceMissing) as caught:
            store.get("algoritms")

        assert store.expected_at("algoritms") == caught.value.expected_at
        assert "algorithms" in caught.value.nearest

    def test_a_removed_map_is_missing(self, store: MapStore) -> None:
        store.put(a_map())
        store.remove("book")

        with pytest.raises(ResourceMissing):
            store.get("book")
        assert [] == list(store.ids())

    def test_removing_what_is_not_there_is_an_error(self, store: MapStore) -> None:
        with pytest.raises(ResourceMissing):
            store.remove("book")

    def test_a_map_is_found_by_its_source_and_mapper(self, store: MapStore) -> None:
        store.put(a_map("other_name"))

        found = store.find_mapped(SOURCE, MAPPER)

        assert a_map("other_name") == found

    def test_another_mapper_or_source_finds_nothing(self, store: MapStore) -> None:
        store.put(a_map())

        assert store.find_mapped(SOURCE, MapperIdentity("local", "2")) is None
        assert store.find_mapped(SOURCE, MapperIdentity("local", "1", "model")) is None
        assert store.find_mapped(Digest.of_bytes(b"another"), MAPPER) is None

    def test_a_map_that_was_replaced_or_removed_is_not_found_by_its_old_source(self, store: MapStore) -> None:
        store.put(a_map("one"))
        store.put(a_map("two"))
        store.put(evolve(a_map("one"), metadata={"source_hash": Digest.of_bytes(b"new").hex}))

        by_source = store.find_mapped(SOURCE, MAPPER)
        store.remove("two")

        assert a_map("two") == by_source
        assert store.find_mapped(SOURCE, MAPPER) is None

    def test_maps_are_found_by_the_path_of_their_source(self, store: MapStore) -> None:
        store.put(a_map("two"))
        store.put(a_map("one"))
        store.put(evolve(a_map("other"), source_path="/books/other.pdf"))
        store.put(evolve(a_map("moved"), source_path="/books/book.pdf"))
        store.put(evolve(a_map("moved"), source_path="/elsewhere/book.pdf"))
        store.put(a_map("gone"))
        store.remove("gone")

        found = [
            list(store.find_source(path)) for path in ("/books/book.pdf", "/elsewhere/book.pdf", "book.pdf", "\udce9")
        ]

        assert [["one", "two"], ["moved"], [], []] == found

    def test_a_map_without_a_digest_is_found_by_the_path_of_its_source(self, store: MapStore) -> None:
        store.put(evolve(a_map(), metadata={}))

        assert ["book"] == list(store.find_source("/books/book.pdf"))

    def test_a_card_is_that_of_the_map(self, store: MapStore) -> None:
        store.put(a_map("two", "Two"))
        store.put(a_map("one", "One"))
        store.put(a_map("one", "Newer"))

        one, every = store.card("one"), list(store.cards())

        assert store.get("one").card() == one
        assert [a_map("one", "Newer").card(), a_map("two", "Two").card()] == every

    @pytest.mark.parametrize("odd", ODD)
    def test_any_id_has_a_card(self, store: MapStore, odd: str) -> None:
        store.put(a_map(odd))

        assert (a_map(odd).card(), [a_map(odd).card()]) == (store.card(odd), list(store.cards()))

    def test_what_is_not_there_has_no_card(self, store: MapStore) -> None:
        store.put(a_map("algorithms"))
        store.put(a_map("gone"))
        store.remove("gone")

        with pytest.raises(ResourceMissing) as caught:
            store.card("algoritms")
        with pytest.raises(ResourceMissing):
            store.card("gone")
        assert "algorithms" in caught.value.nearest
        assert ["algorithms"] == [card.resource_id for card in store.cards()]

    @pytest.mark.parametrize("name", REFUSED)
    def test_an_id_that_cannot_be_stored_has_no_card(self, store: MapStore, name: str) -> None:
        with pytest.raises(ResourceIdRefused):
            store.card(name)

    def test_a_version_is_another_one_where_the_map_is(self, store: MapStore) -> None:
        empty = dict(store.versions())
        store.put(a_map("one"))
        store.put(a_map("two"))
        before = dict(store.versions())
        store.put(a_map("one", "A Look"))
        after = dict(store.versions())
        store.remove("two")

        assert ({}, {"one", "two"}) == (empty, set(before))
        assert before["one"] != after["one"]
        assert {"one"} == set(store.versions())

    def test_the_version_of_one_map_is_what_all_versions_say_of_it(self, store: MapStore) -> None:
        for name in ODD:
            store.put(a_map(name))
        time.sleep(0.06)  # until then a version tells only that another change might not show

        assert dict(store.versions().items()) == {name: store.version(name) for name in ODD}
        assert len(ODD) == len(store.versions())

    def test_the_version_of_one_map_is_another_one_where_the_map_is(self, store: MapStore) -> None:
        store.put(a_map(title="Old"))
        before = store.version("book")
        store.put(a_map(title="New"))
        after = store.version("book")
        store.remove("book")

        assert len({None, before, after}) == 3
        assert store.version("book") is None

    @pytest.mark.parametrize("name", ["nothing", *REFUSED])
    def test_what_is_not_there_or_cannot_be_has_no_version(self, store: MapStore, name: str) -> None:
        store.put(a_map())

        assert store.version(name) is None

    def test_the_state_is_another_one_where_a_map_was_put_replaced_or_removed(self, store: MapStore) -> None:
        states = []
        changes: tuple[Callable[[], None], ...] = (
            lambda: store.put(a_map("one")),
            lambda: store.put(a_map("two")),
            lambda: store.put(a_map("one", "A Look")),
            lambda: store.remove("two"),
        )
        for change in changes:
            change()
            time.sleep(0.06)
            states.append(store.state())

        told = [state for state in states if state is not None]
        assert len(told) == len(set(told))

    def test_ids_at_hand_are_the_ids_or_nothing(self, store: MapStore) -> None:
        store.put(a_map("one"))
        listed = store.ids()
        before = store.cached_ids()
        store.put(a_map("two"))

        assert before is None or before is listed
        assert store.cached_ids() in (None, ("one", "two"))
        assert ["one", "two"] == list(store.ids())

    @pytest.mark.long
    def test_readers_see_whole_maps_while_others_write(self, store: MapStore) -> None:
        store.put(a_map(title="0"))
        wrong: list[CiteKitError] = []
        done = threading.Event()

        def read() -> None:
            while not done.is_set():
                try:
                    store.get("book")
                except CiteKitError as error:
                    wrong.append(error)

        readers = [threading.Thread(target=read) for _ in range(3)]
        for thread in readers:
            thread.start()
        for number in range(60):
            store.put(a_map(title=str(number) * (number * 50)))
        done.set()
        for thread in readers:
            thread.join()

        assert [] == wrong


def test_a_file_store_names_the_place_relative_to_the_home(tmp_path: Path) -> None:
    store = JsonMapStore(tmp_path / ".resource_maps")

    assert ".resource_maps/book.json" == store.expected_at("book")
