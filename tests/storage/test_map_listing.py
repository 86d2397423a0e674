"""Which maps there are, told from memory while nobody touched the folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citekit.adapters.storage import map_listing
from citekit.adapters.storage.map_listing import MapListing
from citekit.adapters.system.file_state import COARSE, FINE, FileState, version_of
from citekit.domain.errors import MapCorrupt
from citekit.domain.ids import STORED_ID_LIMIT, stored_name

SOON = 0.1
"""Seconds after which a folder is believed to be unchanged."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "maps"
    folder.mkdir()
    for name in ("b", "a"):
        (folder / f"{name}.json").touch()
    time.sleep(SOON)
    return folder


@pytest.fixture
def scans(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The folders that were read so far."""
    read: list[str] = []
    plain = map_listing.map_files

    def counting(folder: str) -> dict[str, os.DirEntry[str]]:
        read.append(folder)
        return plain(folder)

    monkeypatch.setattr(map_listing, "map_files", counting)
    return read


def test_an_unchanged_folder_is_read_once(folder: Path, scans: list[str]) -> None:
    listing = MapListing(str(folder))

    first, second = listing.ids(), listing.ids()

    assert ("a", "b") == first
    assert first is second is listing.cached()
    assert 1 == len(scans)


def test_nothing_is_at_hand_before_the_folder_was_read_or_after_it_changed(folder: Path) -> None:
    listing = MapListing(str(folder))
    before = listing.cached()
    listing.ids()
    (folder / "c.json").touch()

    assert (None, None, ("a", "b", "c")) == (before, listing.cached(), listing.ids())


def test_a_folder_that_changed_just_now_is_read_again(folder: Path, scans: list[str]) -> None:
    listing = MapListing(str(folder))
    (folder / "c.json").touch()

    listing.ids()
    listing.ids()

    assert 2 == len(scans)


def test_times_in_whole_seconds_are_believed_later(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listing = MapListing(str(folder))
    now = int(time.time())
    whole = FileState(1, 2, 3, now * 10**9, now * 10**9)
    monkeypatch.setattr(FileState, "of", lambda status: whole)

    monkeypatch.setattr(time, "time", lambda: now + 1.9)
    listing.ids()
    soon = listing.cached()
    monkeypatch.setattr(time, "time", lambda: now + 2.1)
    listing.ids()

    assert (None, ("a", "b")) == (soon, listing.cached())


def test_a_map_that_is_edited_or_replaced_leaves_the_very_same_listing(folder: Path) -> None:
    listing = MapListing(str(folder))
    before = listing.ids()
    (folder / "a.json").write_text("edited")
    (folder / ".new.tmp").write_text("new")
    (folder / ".new.tmp").replace(folder / "b.json")

    assert before is listing.ids()


def test_a_change_that_puts_the_time_of_the_folder_back_is_seen(folder: Path) -> None:
    listing, status = MapListing(str(folder)), folder.stat()
    listing.ids()
    (folder / "c.json").touch()
    (folder / "a.json").unlink()
    os.utime(folder, ns=(status.st_atime_ns, status.st_mtime_ns))

    assert ("b", "c") == listing.ids()


def test_a_clock_that_was_moved_back_hides_no_change(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listing, real = MapListing(str(folder)), time.time
    monkeypatch.setattr(time, "time", lambda: real() - 3600)
    first = listing.ids()
    listing.ids()
    (folder / "c.json").touch()

    assert (("a", "b"), ("a", "b", "c")) == (first, listing.ids())


def test_a_folder_that_is_removed_and_made_again_is_read_again(folder: Path) -> None:
    listing = MapListing(str(folder))
    listing.ids()
    shutil.rmtree(folder)
    gone = listing.ids()
    folder.mkdir()
    (folder / "new.json").touch()

    assert ((), ("new",)) == (gone, listing.ids())


def test_a_folder_that_is_exchanged_for_another_is_read_again(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "x.json").touch()
    time.sleep(SOON)
    listing = MapListing(str(folder))
    listing.ids()
    folder.rename(tmp_path / "old")
    other.rename(folder)

    assert ("x",) == listing.ids()


def test_what_another_process_puts_there_is_seen(folder: Path) -> None:
    listing = MapListing(str(folder))
    listing.ids()
    script = "import sys; from pathlib import Path; Path(sys.argv[1]).touch()"
    subprocess.run([sys.executable, "-c", script, str(folder / "c.json")], check=True)

    assert ("a", "b", "c") == listing.ids()


def test_a_folder_that_cannot_be_read_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "maps").write_text("a file")
    listing = MapListing(str(tmp_path / "maps"))

    with pytest.raises(MapCorrupt, match="cannot be read"):
        listing.ids()
    assert listing.cached() is None


def test_of_two_files_of_one_id_the_one_with_our_name_counts(folder: Path) -> None:
    (folder / "my notes.json").touch()
    (folder / "my%20notes.json").touch()

    found = map_listing.map_files(str(folder))

    assert "my%20notes.json" == found["my notes"].name


@given(text=st.text(alphabet="abcXYZ019._~-% é/", max_size=8) | st.just("a" * 200) | st.just("a" * 201))
def test_a_plain_id_is_stored_as_it_is(text: str) -> None:
    plain = map_listing.is_plain(text)

    assert plain == (0 < len(text) <= STORED_ID_LIMIT and stored_name(text) == text)


@given(ctime_ns=st.integers(0, 4 * 10**18))
def test_times_in_steps_tell_of_a_coarse_file_system(ctime_ns: int) -> None:
    coarse = ctime_ns % 10_000_000 == 0

    assert (COARSE if coarse else FINE) == FileState(1, 2, 3, 4, ctime_ns).window


def test_a_version_is_another_one_at_every_look_while_a_change_might_not_show(folder: Path) -> None:
    path = folder / "a.json"
    path.write_text("new")
    status = path.stat()
    now = status.st_ctime_ns / 1e9

    assert version_of(status, now + 0.01) != version_of(status, now + 0.02)
    assert version_of(status, now + 9) == version_of(status, now + 10)
    assert version_of(status, now - 3600) == version_of(status, now - 3599), "the clock was set back"
