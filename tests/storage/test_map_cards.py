"""Cards that survive restarts: never other than what the map says, whatever happened to the map or to the cache."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from citekit.adapters.storage import map_files
from citekit.adapters.storage.json_maps import JsonMapStore
from citekit.adapters.storage.map_cards import DATABASE, MapCards, RememberedCard
from citekit.adapters.system.file_state import FileState
from citekit.domain.errors import MapCorrupt, ResourceMissing
from citekit.domain.locations import Lines
from citekit.domain.map_card import MapCard
from citekit.domain.modality import Modality
from citekit.domain.node import Node
from citekit.domain.resource_map import ResourceMap
from citekit.wire import maps

SOON = 0.1
"""Seconds after which a map that was written is believed to be unchanged."""


def a_map(resource_id: str = "notes", title: str = "Notes", **facts: object) -> ResourceMap:
    node = Node("n", "N", "section", Lines(1, 1))
    metadata = {"source_hash": "ab" * 32, "source_size": 5, "mapper": {"name": "local", "version": "1"}, **facts}
    when = datetime(2026, 1, 1, tzinfo=UTC)
    return ResourceMap(resource_id, Modality.TEXT, title, "/notes.txt", (node,), when, metadata)


def read_cards(maps_folder: str | os.PathLike[str], cache_folder: str | os.PathLike[str]) -> list[MapCard] | None:
    """Return the cards that are known without a map store; None if any map must be parsed, or the folder is missing."""
    with closing(MapCards(os.fspath(cache_folder))) as cards:
        try:
            found = list(cards.look(os.fspath(maps_folder)).values())
        except OSError:
            return None
    known = [card for card in found if card is not None]
    return known if len(known) == len(found) else None


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / ".resource_maps"
    folder.mkdir()
    return folder


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / ".citekit_cache"


@pytest.fixture
def parses(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids of the maps that were parsed so far."""
    names: list[str] = []
    plain = map_files.parsed

    def counting(resource_id: str, path: Path, data: bytes) -> ResourceMap:
        names.append(resource_id)
        return plain(resource_id, path, data)

    monkeypatch.setattr("citekit.adapters.storage.json_maps.parsed", counting)
    return names


def new_store(folder: Path, cache: Path) -> JsonMapStore:
    """A store that remembers nothing but what is on the disk, as another process has it."""
    return JsonMapStore(folder, None, cache)


def settled(folder: Path, cache: Path) -> None:
    """Write a map, and let its card be remembered for the look of its file."""
    new_store(folder, cache).put(a_map())
    time.sleep(SOON)
    new_store(folder, cache).cards()


def test_a_card_of_a_map_that_was_put_is_known_without_parsing(folder: Path, cache: Path, parses: list[str]) -> None:
    new_store(folder, cache).put(a_map())

    found = new_store(folder, cache).card("notes"), new_store(folder, cache).cards(), read_cards(folder, cache)

    assert (a_map().card(), [a_map().card()], [a_map().card()]) == found
    assert [] == parses


def test_a_card_of_a_map_that_was_laid_there_is_parsed_once(folder: Path, cache: Path, parses: list[str]) -> None:
    (folder / "notes.json").write_text(maps.to_json(a_map()))

    before, first = read_cards(folder, cache), new_store(folder, cache).cards()
    second, after = new_store(folder, cache).card("notes"), read_cards(folder, cache)

    assert (None, [a_map().card()], a_map().card(), [a_map().card()]) == (before, first, second, after)
    assert ["notes"] == parses


def test_a_map_that_somebody_read_has_a_card(folder: Path, cache: Path, parses: list[str]) -> None:
    (folder / "notes.json").write_text(maps.to_json(a_map()))
    new_store(folder, cache).get("notes")

    new_store(folder, cache).card("notes")

    assert ["notes"] == parses


def test_a_settled_map_is_not_even_opened(folder: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settled(folder, cache)
    opened: list[str] = []
    plain = os.open

    def noting(path: str, *rest: Any, **more: Any) -> int:
        opened.append(str(path))
        return plain(path, *rest, **more)

    monkeypatch.setattr(os, "open", noting)

    new_store(folder, cache).card("notes"), new_store(folder, cache).cards(), read_cards(folder, cache)

    assert [] == [path for path in opened if path.endswith(".json")]


def same_second_and_size(path: Path) -> None:
    path.write_text(path.read_text().replace("Notes", "Other"))


def times_put_back(path: Path) -> None:
    status = path.stat()
    path.write_text(path.read_text().replace("Notes", "Other"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def replaced_by_rename(path: Path) -> None:
    status = path.stat()
    new = path.with_name(".new.tmp")
    new.write_text(path.read_text().replace("Notes", "Other"))
    os.utime(new, ns=(status.st_atime_ns, status.st_mtime_ns))
    new.replace(path)


def by_another_process(path: Path) -> None:
    script = "import sys; from pathlib import Path; p = Path(sys.argv[1]); p.write_text(p.read_text().replace('Notes', 'Other'))"
    subprocess.run([sys.executable, "-c", script, str(path)], check=True)


def by_another_store(path: Path) -> None:
    JsonMapStore(path.parent).put(a_map(title="Other"))


def by_a_link(path: Path) -> None:
    (path.parent / "real.json").write_text(path.read_text().replace("Notes", "Other"))
    path.unlink()
    path.symlink_to("real.json")


CHANGES = [same_second_and_size, times_put_back, replaced_by_rename, by_another_process, by_another_store, by_a_link]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("wait", [0.0, SOON], ids=["at once", "later"])
def test_a_map_that_changed_has_another_card(
    folder: Path, cache: Path, change: Callable[[Path], None], wait: float
) -> None:
    store = new_store(folder, cache)
    store.put(a_map())
    time.sleep(wait)
    before = store.card("notes").title, store.cards()[0].title, store.versions()["notes"]
    change(folder / "notes.json")

    told = [store.card("notes"), store.cards()[0], new_store(folder, cache).card("notes")]

    assert ("Notes", "Notes") == before[:2]
    assert ["Other"] * 3 == [card.title for card in told]
    assert before[2] != store.versions()["notes"]
    assert "Other" == next(card.title for card in read_cards(folder, cache) or [] if card.resource_id == "notes")


def test_a_change_within_the_same_tick_of_the_clock_is_seen(
    folder: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FileState, "__str__", lambda state: "the same look")
    store = new_store(folder, cache)
    store.put(a_map())
    written = (folder / "notes.json").stat().st_ctime
    monkeypatch.setattr(time, "time", lambda: written + 0.01)
    before = store.card("notes").title
    same_second_and_size(folder / "notes.json")

    assert ("Notes", "Other") == (before, store.card("notes").title)


def test_with_a_clock_that_was_moved_back_every_change_is_seen(
    folder: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() - 3600)
    store = new_store(folder, cache)
    store.put(a_map())
    before = [store.card("notes").title for _ in range(3)]
    same_second_and_size(folder / "notes.json")

    assert (["Notes"] * 3, "Other") == (before, store.card("notes").title)


def test_a_removed_map_has_no_card(folder: Path, cache: Path) -> None:
    settled(folder, cache)
    (folder / "notes.json").unlink()
    store = new_store(folder, cache)

    with pytest.raises(ResourceMissing):
        store.card("notes")
    assert ([], []) == (store.cards(), read_cards(folder, cache))


def test_cards_of_maps_that_are_gone_are_forgotten(folder: Path, cache: Path) -> None:
    store = new_store(folder, cache)
    store.put(a_map("one"))
    store.put(a_map("two"))
    (folder / "one.json").unlink()
    store.cards()

    with closing(sqlite3.connect(cache / DATABASE)) as connection:
        assert [("two",)] == connection.execute("SELECT key FROM rows").fetchall()


def test_a_damaged_map_is_left_to_whoever_can_say_what_is_wrong(folder: Path, cache: Path) -> None:
    settled(folder, cache)
    (folder / "bad.json").write_text("{")
    store = new_store(folder, cache)

    with pytest.raises(MapCorrupt, match=r"bad\.json"):
        store.card("bad")
    assert ([a_map().card()], None) == (store.cards(), read_cards(folder, cache))


def test_a_map_that_was_damaged_after_its_card_was_known_has_none(folder: Path, cache: Path) -> None:
    settled(folder, cache)
    (folder / "notes.json").write_text("{")

    with pytest.raises(MapCorrupt):
        new_store(folder, cache).card("notes")
    assert read_cards(folder, cache) is None


def test_a_link_that_leads_out_has_no_card_and_one_inside_has(folder: Path, cache: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.json"
    settled(folder, cache)
    (folder / "alias.json").symlink_to("notes.json")
    inside = new_store(folder, cache).cards(), read_cards(folder, cache)
    (folder / "notes.json").rename(outside)
    (folder / "notes.json").symlink_to(outside)
    store = new_store(folder, cache)

    with pytest.raises(MapCorrupt, match="a symbolic link to a file outside"):
        store.card("notes")
    assert (
        ["alias", "notes"] == [card.resource_id for card in inside[0]] == [card.resource_id for card in inside[1] or []]
    )
    assert ([], None) == (store.cards(), read_cards(folder, cache))


@pytest.mark.parametrize("name", ["my notes", "résumé", "100%", "a%41", ".hidden", "日本語"])
def test_odd_ids_have_cards_under_either_name_of_their_file(folder: Path, cache: Path, name: str) -> None:
    if not name.startswith("."):
        (folder / f"{name}.json").write_text(maps.to_json(a_map(name, "By hand")))
    by_hand = [card.title for card in new_store(folder, cache).cards()]
    new_store(folder, cache).put(a_map(name, "Ours"))

    found = new_store(folder, cache).card(name), *new_store(folder, cache).cards(), *(read_cards(folder, cache) or ())

    assert ([] if name.startswith(".") else ["By hand"]) == by_hand
    assert (a_map(name, "Ours").card(),) * 3 == found


def no_cache(cache: Path) -> None:
    shutil.rmtree(cache)


def an_old_cache(cache: Path) -> None:
    with closing(sqlite3.connect(cache / DATABASE)) as connection:
        connection.execute("DELETE FROM rows")
        connection.commit()


def a_foreign_database(cache: Path) -> None:
    shutil.rmtree(cache)
    (cache / DATABASE).parent.mkdir(parents=True)
    with closing(sqlite3.connect(cache / DATABASE)) as connection:
        connection.execute("CREATE TABLE rows (other)")


def no_database(cache: Path) -> None:
    shutil.rmtree(cache)
    (cache / DATABASE).parent.mkdir(parents=True)
    (cache / DATABASE).write_bytes(b"garbage" * 999)


def a_file_in_the_way(cache: Path) -> None:
    shutil.rmtree(cache)
    cache.write_text("a file")


LOSSES = [no_cache, an_old_cache, a_foreign_database, no_database, a_file_in_the_way]


@pytest.mark.parametrize("loss", LOSSES)
def test_the_loss_of_the_cache_while_the_program_runs_does_no_harm(
    folder: Path, cache: Path, loss: Callable[[Path], None]
) -> None:
    settled(folder, cache)
    running = new_store(folder, cache)
    running.card("notes")
    loss(cache)

    found = read_cards(folder, cache), running.card("notes"), running.cards(), new_store(folder, cache).cards()

    assert (None, a_map().card(), [a_map().card()], [a_map().card()]) == found


def test_cards_are_right_while_another_program_holds_the_database(folder: Path, cache: Path) -> None:
    settled(folder, cache)
    with closing(sqlite3.connect(cache / DATABASE, isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        store = new_store(folder, cache)
        store.put(a_map(title="Newer"))

        found = store.card("notes").title, [card.title for card in store.cards()]

    assert ("Newer", ["Newer"]) == found
    assert "Newer" == new_store(folder, cache).card("notes").title


def test_a_home_that_is_moved_keeps_its_cards(folder: Path, cache: Path, tmp_path: Path, parses: list[str]) -> None:
    settled(folder, cache)
    home = tmp_path / "elsewhere"
    home.mkdir()
    for each in (folder, cache):
        each.rename(home / each.name)

    found = read_cards(home / folder.name, home / cache.name)

    assert ([a_map().card()], []) == (found, parses)


def test_cards_that_came_with_a_copied_home_are_not_believed(folder: Path, cache: Path, tmp_path: Path) -> None:
    settled(folder, cache)
    shutil.copytree(cache, tmp_path / "copied")

    assert read_cards(folder, tmp_path / "copied") is None


def test_two_folders_of_maps_may_share_a_cache(folder: Path, cache: Path, tmp_path: Path) -> None:
    one, other = new_store(folder, cache), new_store(tmp_path / "other", cache)
    one.put(a_map(title="One"))
    other.put(a_map(title="Other"))

    found = [store.card("notes").title for store in (one, other, one)]

    assert ["One", "Other", "One"] == found


def test_an_absent_folder_has_no_cards_and_one_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    store = new_store(tmp_path / "file", tmp_path / "cache")

    for look in (store.cards, store.versions, store.ids):
        with pytest.raises(MapCorrupt, match="cannot be read"):
            look()
    assert ([], None) == (read_cards(tmp_path / "no", tmp_path / "c"), read_cards(tmp_path / "file", tmp_path / "c"))


def test_without_a_cache_cards_are_read_from_the_maps(folder: Path) -> None:
    store = JsonMapStore(folder)
    store.put(a_map())

    assert (a_map().card(), [a_map().card()]) == (store.card("notes"), store.cards())


facts = st.fixed_dictionaries(
    {},
    optional={
        "source_size": st.integers(-5, 10**30) | st.text(max_size=3),
        "source_hash": st.sampled_from(["ab" * 32, "no digest", 5]),
        "format": st.text(max_size=5) | st.integers(),
        "mapper": st.fixed_dictionaries({"name": st.text(), "version": st.text()}, optional={"model": st.text()}),
        "structure_by": st.just({"name": "x", "version": "2"}) | st.none(),
        "beside": st.dictionaries(st.text(max_size=5), st.text(max_size=5) | st.integers()) | st.text(max_size=3),
    },
)


@given(title=st.text(), path=st.text(), more=facts)
def test_any_card_is_remembered_as_it_is_or_not_at_all(
    tmp_path_factory: pytest.TempPathFactory, title: str, path: str, more: dict[str, object]
) -> None:
    home = tmp_path_factory.getbasetemp() / "any"
    home.mkdir(exist_ok=True)
    (home / "m.json").write_text("x")
    card = evolve(a_map("m", title), source_path=path, metadata=more).card()
    digest = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"  # of "x"
    cards = MapCards(str(home / "cache"))
    cards.forget("m")
    cards.remember(RememberedCard(card, digest))

    found = cards.get("m", str(home / "m.json"), (home / "m.json").stat())
    cards.close()

    assert found in (card, None)
    assert (
        isinstance(found, MapCard)
        or any(each in title + path for each in "\x1f\ud800")
        or not (title + path).isprintable()
    )


def test_the_reader_of_cards_imports_next_to_nothing() -> None:
    heavy = (
        "attr",
        "attrs",
        "cattrs",
        "filelock",
        "pathlib",
        "citekit.wire",
        "citekit.domain.resource_map",
    )
    script = f"import sys; import citekit.adapters.storage.map_cards as m; m.MapCards('/none').look('.'); print([each for each in {heavy} if each in sys.modules])"

    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout

    assert "[]\n" == said
