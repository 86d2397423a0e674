"""When a file that looks the same may be believed to be the same."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from citekit.adapters.libraries.sqlite.key_value_cache import Index
from citekit.adapters.sources import digest_cache
from citekit.adapters.sources.digest_cache import States
from citekit.adapters.system.file_state import FileState
from citekit.domain.digest import Digest

NOW = 1_000_000.0


def state(mtime: float, ctime: float) -> FileState:
    return FileState(1, 2, 3, int(mtime * 1e9), int(ctime * 1e9))


@pytest.mark.parametrize(
    ("mtime", "ctime", "since", "settled"),
    [
        (NOW - 60, NOW - 60, NOW, True),
        (NOW - 60, NOW - 1, NOW, False),
        (NOW - 1, NOW - 60, NOW, False),
        (NOW + 60, NOW - 60, NOW, True),
        (NOW + 60, NOW - 1, NOW, False),
        (NOW - 60, NOW + 60, NOW - 1, False),
        (NOW - 60, NOW + 60, NOW - 3, True),
        (NOW + 60, NOW + 60, NOW - 3, True),
    ],
)
def test_a_state_is_settled_when_another_change_would_show(
    mtime: float, ctime: float, since: float, settled: bool
) -> None:
    assert settled == state(mtime, ctime).is_settled(NOW, 2.0, since)


@pytest.mark.parametrize(("nanoseconds", "settled"), [(0, False), (990_000_000, False), (123_456_789, True)])
def test_times_of_whole_hundredths_are_taken_for_coarse_whatever_the_window(nanoseconds: int, settled: bool) -> None:
    changed = 999_998 * 10**9 + nanoseconds
    lately = FileState(1, 2, 3, changed, changed)

    assert settled == lately.is_settled(changed / 1e9 + 1.0, 0.05, NOW)


def test_an_edit_shows_even_where_size_and_time_are_put_back(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"one")
    before = path.stat()
    time.sleep(0.05)
    path.write_bytes(b"two")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    assert FileState.of(before) != FileState.of(path.stat())


@pytest.mark.parametrize("shared", [True, False])
def test_a_file_whose_times_all_lie_in_the_future_is_remembered_when_it_stayed_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shared: bool
) -> None:
    monkeypatch.setattr(digest_cache, "RACY", 0.01)
    ahead, digest = state(time.time() + 1000, time.time() + 1000), Digest.of_bytes(b"one")
    index = Index(tmp_path / "index") if shared else None
    one = States(index)
    other = States(index) if shared else one

    one.remember(ahead, digest)
    at_once = other.digest(ahead)
    time.sleep(0.02)
    other.remember(ahead, digest)

    assert (None, digest) == (at_once, other.digest(ahead))
