"""What an attacker with a valid token of one subject tries against the files of another one."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from citekit.container import bootstrap
from citekit.container.http_access import subjects_of
from citekit.domain.errors import RequestRefused
from citekit.domain.subject import Subject
from tests.http.conftest import HttpServer, paths_in

pytestmark = pytest.mark.skipif("not hasattr(__import__('os'), 'fork')", reason="needs POSIX")


@pytest.fixture
def private(server: HttpServer) -> str:
    """A resource that only alice has, with evidence: the URI of the evidence."""
    home = server.home / ".citekit_subjects" / "alice"
    (home / "private.txt").write_text("Only for alice.\n")
    bootstrap(home=home).ingest(home / "private.txt")
    cut = server.call(
        server.tokens["alice"], "resolve", resource_id="private_txt", node_id="text://private_txt#lines=1"
    )
    uri: str = cut["structuredContent"]["uri"]
    return uri


def test_another_subject_cannot_see_resolve_find_or_read_it(server: HttpServer, private: str) -> None:
    token = server.tokens["bob"]
    calls = [
        server.call(token, "listResources", query="private"),
        server.call(token, "findText", query="Only for alice"),
        server.call(token, "resolve", resource_id="private_txt", node_id="text://private_txt#lines=1"),
        server.call(token, "readText", resource_id="private_txt"),
        server.call(token, "verifyQuote", quote="Only for alice."),
        server.call(token, "showEvidence", resource_id="private_txt", quote="Only for alice."),
        server.call(token, "evidencePage", resource_id="private_txt", page=1),
        server.call(token, "fetch", id="text://private_txt#lines=1"),
    ]
    reads = [
        server.post(token, "resources/read", {"uri": uri})
        for uri in (private, f"{private}/receipt", f"{private}/0-3", "citekit://maps/private_txt")
    ]
    reference = {"type": "ref/resource", "uri": "citekit://maps/{resource_id}"}
    completed = server.post(
        token, "completion/complete", {"ref": reference, "argument": {"name": "resource_id", "value": "priv"}}
    )

    assert "Only for alice.\\n" not in json.dumps(calls)
    assert calls[0]["structuredContent"]["total"] == 0
    assert calls[1]["structuredContent"]["hits"] == []
    assert calls[4]["structuredContent"]["finding"] == "absent"
    assert all(each["isError"] for each in (calls[2], calls[3], calls[5], calls[6], calls[7]))
    assert all("error" in json.loads(each.text) for each in reads)
    assert json.loads(completed.text)["result"]["completion"]["values"] == []


def test_an_unknown_digest_and_one_of_another_subject_get_the_same_answer(server: HttpServer, private: str) -> None:
    unknown = "citekit://evidence/" + "0" * 64
    answers = [
        json.loads(server.post(server.tokens["bob"], "resources/read", {"uri": uri}).text)["error"]
        for uri in (private, unknown)
    ]
    digests = [uri.rpartition("/")[2] for uri in (private, unknown)]
    texts = [
        json.dumps(answer).replace(digest, "").replace(digest[:12], "")
        for answer, digest in zip(answers, digests, strict=True)
    ]

    assert texts[0] == texts[1]


@pytest.mark.parametrize(
    "path",
    [
        "../alice/private.txt",
        "/etc/passwd",
        "//host/share/x",
        "file:///etc/passwd",
        "http://127.0.0.1/x",
        ".citekit_cache/index.db",
        "sub/../../alice/private.txt",
        "C:\\secret.txt",
        "..\\alice\\private.txt",
        "a\0b",
        "~/x",
        "/proc/self/environ",
        "link.txt",
        "",
    ],
)
def test_ingest_stays_in_the_folders_of_the_subject(server: HttpServer, path: str, tmp_path: Path) -> None:
    home = server.home / ".citekit_subjects" / "alice"
    link = home / "link.txt"
    if not link.is_symlink():
        other = server.home / ".citekit_subjects" / "bob" / "notes.txt"
        os.symlink(other, link)

    answer = server.call(server.tokens["alice"], "ingest", path=path)

    assert answer["isError"]
    text = answer["content"][0]["text"]
    assert [] == [each for each in paths_in(text) if each not in path]
    listed = json.dumps(server.call(server.tokens["alice"], "listResources", query="secret"))
    assert "passwd" not in listed


def test_a_map_that_names_a_file_of_another_subject_is_of_no_use(server: HttpServer) -> None:
    home = server.home / ".citekit_subjects"
    plain = json.loads((home / "bob" / ".resource_maps" / "notes_txt.json").read_text())
    plain["resource_id"] = "stolen"
    (home / "alice" / ".resource_maps" / "stolen.json").write_text(json.dumps(plain))
    token = server.tokens["alice"]

    answers = [
        server.call(token, "resolve", resource_id="stolen", node_id="text://stolen#lines=1"),
        server.call(token, "readText", resource_id="stolen"),
        server.call(token, "findText", query="secret", resource_ids=["stolen"]),
    ]
    (home / "alice" / ".resource_maps" / "stolen.json").unlink()

    assert "A secret of bob" not in json.dumps(answers)
    assert [] == paths_in(json.dumps(answers))


def test_no_request_can_get_the_log_of_the_process(server: HttpServer) -> None:
    answer = server.post(server.tokens["bob"], "logging/setLevel", {"level": "debug"})

    assert "error" in json.loads(answer.text)


def test_subjects_cannot_have_overlapping_folders(tmp_path: Path) -> None:
    subjects = subjects_of(bootstrap(home=tmp_path))
    subjects.add(Subject(name="one", home=tmp_path / "one"))

    with pytest.raises(RequestRefused, match="overlap"):
        subjects.add(Subject(name="two", home=tmp_path / "two", roots=(tmp_path,)))
    with pytest.raises(RequestRefused, match="overlap"):
        subjects.add(Subject(name="two", home=tmp_path / "one" / "two"))
    with pytest.raises(RequestRefused, match="overlap"):
        subjects.add(Subject(name="two", home=tmp_path / "two", store=str(tmp_path / "one" / "store")))
    subjects.add(Subject(name="shares", home=tmp_path / "one"))
    assert [each.subject.name for each in subjects.entries()] == ["one", "shares"]
