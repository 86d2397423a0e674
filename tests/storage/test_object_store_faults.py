"""What comes of S3 services that fail: a real HTTP server that answers what each test scripts."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import islice
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from attrs import define, field

from citekit.adapters.sources import bucket_files
from citekit.adapters.sources.bucket_files import BucketFiles
from citekit.adapters.storage.object_store.remote import RemoteObjectStore
from citekit.domain.errors import RequestRefused, SourceUnreadable, StoreUnavailable
from citekit.domain.object_key import ObjectKey
from tests.services.object_server import s3_variables

pytest.importorskip("obstore", reason="the extra 'scale' is not installed")

PAGE = 1000
KEY = ObjectKey("maps/one.json")


@define
class Script:
    """The answers to come, by method, and the requests that came."""

    answers: dict[str, list[int]] = field(factory=dict)
    requests: list[str] = field(factory=list)
    conditions: list[str | None] = field(factory=list)
    ranges: list[str | None] = field(factory=list)
    keys: int = 0
    size: int = 100

    def page(self, path: str) -> bytes:
        """A page of a listing of `keys` keys."""
        query = parse_qs(urlsplit(path).query)
        after = query.get("start-after", ["-1"])[0].rpartition("/")[2]
        start = int(query.get("continuation-token", [int(after) + 1])[0])
        end = min(start + PAGE, self.keys)
        more = f"<NextContinuationToken>{end}</NextContinuationToken>" if end < self.keys else ""
        rows = "".join(
            f"<Contents><Key>files/{number:012}</Key><Size>1</Size><ETag>x</ETag>"
            "<LastModified>2026-07-01T00:00:00.000Z</LastModified></Contents>"
            for number in range(start, end)
        )
        is_truncated = str(bool(more)).lower()
        return f"<ListBucketResult><IsTruncated>{is_truncated}</IsTruncated>{more}{rows}</ListBucketResult>".encode()


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Iterator[Script]:
    script = Script()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            script.requests.append(self.command)
            script.ranges.append(self.headers.get("Range"))
            if self.command == "PUT":
                script.conditions.append(self.headers.get("If-None-Match"))
            left = script.answers.get(self.command, [])
            status = left.pop(0) if len(left) > 1 else left[0] if left else 200
            half = status == 206
            body = b"x" * 50 if half else script.page(self.path) if "list-type" in self.path and status == 200 else b""
            start, _, end = (script.ranges[-1] or "").removeprefix("bytes=").partition("-")
            is_part = status == 200 and self.command == "GET" and bool(start)
            self.send_response(200 if half else 206 if is_part else status)
            if is_part:
                body = b"x" * (min(int(end or script.size), script.size - 1) + 1 - int(start))
                self.send_header("Content-Range", f"bytes {start}-{int(start) + len(body) - 1}/{script.size}")
            self.send_header(
                "Content-Length", "100" if half else str(script.size if self.command == "HEAD" else len(body))
            )
            self.send_header("Last-Modified", "Wed, 01 Jul 2026 00:00:00 GMT")
            self.send_header("ETag", '"x"')
            self.end_headers()
            self.wfile.write(body)
            self.close_connection = half

        do_GET = do_PUT = do_HEAD = answer  # noqa: N815

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    for name, value in {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{server.server_port}",
        "AWS_ACCESS_KEY_ID": "secret-id",
        "AWS_SECRET_ACCESS_KEY": "secret-key",
        "AWS_REGION": "us-east-1",
        "NO_PROXY": "127.0.0.1",
    }.items():
        monkeypatch.setenv(name, value)
    yield script
    server.shutdown()
    server.server_close()
    thread.join(10)


def test_a_conflict_is_repeated_until_the_write_succeeds(script: Script) -> None:
    script.answers = {"PUT": [409, 409, 200], "HEAD": [404]}
    pauses: list[float] = []

    assert RemoteObjectStore("s3://bucket", 0.5, pauses.append).put(KEY, b"x")

    assert ["*"] == sorted(set(map(str, script.conditions)))
    assert 3 == script.requests.count("PUT") == len(pauses) + 1


def test_a_conflict_whose_other_write_succeeds_means_that_the_object_exists(script: Script) -> None:
    script.answers = {"PUT": [409], "HEAD": [200]}

    assert not RemoteObjectStore("s3://bucket", 0.5, lambda _: None).put(KEY, b"x")


def test_the_service_failing_for_a_moment_goes_unnoticed(script: Script) -> None:
    script.answers = {"PUT": [503, 500, 200]}

    assert RemoteObjectStore("s3://bucket", 5).put(KEY, b"x")
    assert 3 == script.requests.count("PUT")


@pytest.mark.slow
def test_the_service_failing_for_many_requests_goes_unnoticed(script: Script) -> None:
    script.answers = {"PUT": [503] * 12 + [200]}

    assert RemoteObjectStore("s3://bucket").put(KEY, b"x")
    assert 13 == script.requests.count("PUT")


def test_a_service_that_cannot_be_reached_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in s3_variables("http://127.0.0.1:1").items():
        monkeypatch.setenv(name, value)

    start = time.monotonic()
    with pytest.raises(StoreUnavailable, match=r"s3://bucket cannot be reached; check the network and the address"):
        RemoteObjectStore("s3://bucket").read(KEY)
    assert time.monotonic() - start < 10


@pytest.mark.long
@pytest.mark.parametrize(("status", "says"), [(503, "failed"), (403, "refuses the credentials"), (400, "failed")])
def test_a_lasting_failure_is_one_sentence_without_credentials(script: Script, status: int, says: str) -> None:
    script.answers = {"PUT": [status], "GET": [status], "HEAD": [status]}
    store = RemoteObjectStore("s3://bucket/x", 0.2)

    for use in (lambda: store.put(KEY, b"x"), lambda: store.read(KEY), lambda: store.size(KEY)):
        with pytest.raises(StoreUnavailable, match=f"s3://bucket/x {says}") as caught:
            use()
        assert "\n" not in str(caught.value)
        assert "secret" not in str(caught.value)


def resident() -> int:
    """The memory of this process in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the memory of a process is read from /proc")
def test_a_listing_of_very_many_keys_takes_no_more_memory_than_a_short_one(script: Script) -> None:
    script.keys = 100_000
    store = RemoteObjectStore("s3://bucket")
    for _ in islice(store.listing("files"), 10 * PAGE):
        pass
    before = highest = resident()

    count = 0
    for count, _ in enumerate(store.listing("files"), 1):
        if count % PAGE == 0:
            highest = max(highest, resident())

    assert 100_000 == count
    assert highest - before < 8_000_000


def test_a_listing_that_breaks_off_is_continued(script: Script) -> None:
    script.keys = 2500
    script.answers = {"GET": [200, 206, 206, 200]}
    pauses: list[float] = []

    found = [each.key.text for each in RemoteObjectStore("s3://bucket", 5, pauses.append).listing("files")]

    assert [f"files/{number:012}" for number in range(2500)] == found
    assert (5, 2) == (script.requests.count("GET"), len(pauses))


def test_a_listing_that_always_breaks_off_is_one_sentence(script: Script) -> None:
    script.keys = 10
    script.answers = {"GET": [206]}

    with pytest.raises(StoreUnavailable, match="s3://bucket failed") as caught:
        list(RemoteObjectStore("s3://bucket", 0.1, lambda _: None).listing("files"))
    assert "\n" not in str(caught.value)


def test_a_prefix_with_too_many_files_is_refused_before_they_fill_the_memory(
    script: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    most = bucket_files.MOST
    monkeypatch.setattr(bucket_files, "MOST", 3500)
    script.keys = 10_000_000
    files = BucketFiles(tmp_path, 10**12)

    assert most == 2_000_000
    with pytest.raises(
        RequestRefused, match=r"s3://bucket/files has more than 3,500 files\. Give the addresses of its folders"
    ):
        list(files.listing("s3://bucket/files/"))

    assert 4 == script.requests.count("GET")


def test_half_a_body_is_an_error_and_not_a_short_object(script: Script) -> None:
    script.answers = {"GET": [206]}

    with pytest.raises(StoreUnavailable):
        RemoteObjectStore("s3://bucket", 0.2).read(KEY)


def test_an_object_of_100_gb_is_refused_by_its_size_before_any_of_it_is_fetched(script: Script, tmp_path: Path) -> None:
    script.size = 100 * 10**9
    files = BucketFiles(tmp_path, 10**12)

    with pytest.raises(
        SourceUnreadable, match=r"s3://bucket/film\.mp4: it has 100,000,000,000 bytes, but CiteKit fetches at most 4"
    ):
        files.fetch(files.place("s3://bucket/film.mp4"))

    assert ["HEAD"] == script.requests
    assert [] == [path for path in tmp_path.rglob("*") if path.is_file() and path.suffix == ".mp4"]


def test_parts_of_a_large_object_are_fetched_by_range(script: Script) -> None:
    script.size = 100 * 10**9
    script.answers = {"GET": [416]}

    with pytest.raises(StoreUnavailable):
        RemoteObjectStore("s3://bucket", 0.5).read(KEY, 50 * 10**9, 16)

    assert "bytes=50000000000-50000000015" in script.ranges


@pytest.mark.parametrize(("start", "length", "count"), [(0, 1000, 100), (90, None, 10), (10, 20, 20)])
def test_a_part_takes_one_request(script: Script, start: int, length: int | None, count: int) -> None:
    assert b"x" * count == RemoteObjectStore("s3://bucket", 0.5).read(KEY, start, length)
    assert ["GET"] == script.requests


def test_a_part_that_the_service_refuses_is_empty_only_at_the_end(script: Script) -> None:
    script.answers = {"GET": [416]}
    store = RemoteObjectStore("s3://bucket", 0.5)

    assert b"" == store.read(KEY, 100, 5) == store.read(KEY, 101)
    script.size = 0
    assert b"" == store.read(KEY, 0, 5)
