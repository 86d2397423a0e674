"""The tools, resources, and evidence of subjects over HTTP, with the official client and with bare requests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client

from citekit.container import bootstrap
from citekit.domain.subject import ADMIN
from tests.http.conftest import HttpServer, Start, paths_in, structured, token_of

pytestmark = pytest.mark.skipif("not hasattr(__import__('os'), 'fork')", reason="needs POSIX")

ERAS = pytest.mark.parametrize("mode", ["auto", "legacy"])


@ERAS
def test_the_official_client_works_in_both_eras_of_the_protocol(server: HttpServer, mode: str) -> None:
    async def work(client: Client) -> dict[str, Any]:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        listed = structured(await client.call_tool("listResources", {}))
        found = structured(await client.call_tool("findText", {"query": "secret"}))
        cut = structured(
            await client.call_tool("resolve", {"resource_id": "notes_txt", "node_id": "text://notes_txt#lines=1"})
        )
        evidence = (await client.read_resource(cut["uri"])).contents[0]
        return {"tools": tools, "listed": listed, "found": found, "cut": cut, "text": getattr(evidence, "text", None)}

    heard = server.ask(server.tokens["alice"], work, mode)

    assert {"ingest", "search", "fetch", "resolve"} <= set(heard["tools"])
    assert heard["listed"] == {"resources": ["notes_txt"]}
    assert [hit["text"] for hit in heard["found"]["hits"]] == ["A secret of alice."]
    assert heard["text"] == "A secret of alice.\n"
    assert heard["cut"]["output_path"] is None
    assert heard["cut"]["receipt"]["source_path"] == "notes.txt"


def test_a_link_to_evidence_needs_no_token_and_ends_with_the_subject(server: HttpServer) -> None:
    link = server.call(server.tokens["alice"], "resolve", resource_id="notes_txt", node_id="text://notes_txt#lines=2")[
        "structuredContent"
    ]["download"]

    whole = httpx2.get(link)
    forged = httpx2.get(link[:-1] + ("0" if link[-1] != "0" else "1"))
    of_bob = httpx2.get(link.replace("YWxpY2U=", "Ym9i"))
    nonsense = httpx2.get(f"{server.url}/evidence/a.b.c.d")

    assert (whole.status_code, whole.text) == (200, "The second line.\n")
    assert whole.headers["content-disposition"].startswith("attachment")
    assert "sandbox" in whole.headers["content-security-policy"]
    assert [403, 403, 403] == [forged.status_code, of_bob.status_code, nonsense.status_code]


def test_parts_of_evidence_are_downloaded_by_their_bytes(server: HttpServer) -> None:
    link = server.call(server.tokens["alice"], "resolve", resource_id="notes_txt", node_id="text://notes_txt#lines=2")[
        "structuredContent"
    ]["download"]
    whole = httpx2.get(link)

    def part(wanted: str, **more: str) -> tuple[int, str, str | None]:
        answer = httpx2.get(link, headers={"range": wanted, **{name.replace("_", "-"): more[name] for name in more}})
        return answer.status_code, answer.text, answer.headers.get("content-range")

    assert ("bytes", "17") == (whole.headers["accept-ranges"], whole.headers["content-length"])
    assert (206, "second", "bytes 4-9/17") == part("bytes=4-9")
    assert (206, "line.\n", "bytes 11-16/17") == part("bytes=-6") == part("bytes=11-", if_range=whole.headers["etag"])
    assert (416, "bytes */17") == part("bytes=17-")[::2]
    for wanted, more in (("bytes=9-4", {}), ("bytes=0-1,3-4", {}), ("lines=1", {}), ("bytes=0-1", {"if_range": '"x"'})):
        assert (200, whole.text, None) == part(wanted, **more)


def test_an_admin_may_do_what_the_other_scopes_permit(start: Start, tmp_path: Path) -> None:
    token = token_of(tmp_path, "root", scope=ADMIN)
    page = "https://app.example.com"
    server = start(tmp_path, "--allow-origin", page)

    done = server.call(token, "ingest", path="notes.txt")
    found = server.call(token, "findText", query="secret")

    assert "notes_txt" == done["structuredContent"]["resource_id"]
    assert 1 == len(found["structuredContent"]["hits"])
    asked = {"origin": page, "access-control-request-method": "POST"}
    permission = httpx2.options(f"{server.url}/mcp", headers=asked)
    answer = server.post(token, "tools/list", origin=page)
    other = server.post(token, "tools/list", origin=server.url)
    assert (204, page) == (permission.status_code, permission.headers["access-control-allow-origin"])
    assert "authorization" in permission.headers["access-control-allow-headers"]
    assert (200, page, "Origin") == tuple(
        {"status": answer.status_code, **answer.headers}.get(name)
        for name in ("status", "access-control-allow-origin", "vary")
    )
    assert "access-control-allow-credentials" not in answer.headers
    assert (200, None) == (other.status_code, other.headers.get("access-control-allow-origin"))
    assert 403 == httpx2.options(f"{server.url}/mcp", headers={**asked, "origin": "https://evil.example"}).status_code


def test_search_and_fetch_have_the_forms_that_hosts_require(server: HttpServer) -> None:
    token = server.tokens["bob"]
    found = server.call(token, "search", query="secret")["structuredContent"]["results"]
    fetched = server.call(token, "fetch", id=found[0]["id"])["structuredContent"]

    assert found[0]["id"] == "text://notes_txt#lines=1"
    assert {"id", "title", "url"} <= set(found[0])
    assert "A secret of bob." in fetched["text"]
    assert {"id", "title", "text", "url"} <= set(fetched)


def test_fetch_marks_a_text_that_it_cuts(server: HttpServer) -> None:
    token = server.tokens["alice"]
    home = server.home / ".citekit_subjects" / "alice"
    (home / "long.txt").write_text("A long line of words.\n" * 2_000)
    bootstrap(home=home).ingest(home / "long.txt")
    fetched = server.call(token, "fetch", id="long_txt")["structuredContent"]

    cursor = fetched["metadata"]["next_cursor"]
    assert fetched["text"].endswith(f"with cursor {cursor}]")
    rest = server.call(token, "readText", resource_id="long_txt", cursor=cursor)["structuredContent"]
    assert rest["text"]


def test_a_subject_that_may_read_does_not_map_files(server: HttpServer) -> None:
    token = server.tokens["bob"]
    tools = json.loads(server.post(token, "tools/list").text)["result"]["tools"]
    again = server.call(token, "resolve", resource_id="notes_txt", node_id="text://notes_txt#lines=1", remap=True)

    assert "ingest" not in [tool["name"] for tool in tools]
    assert again["isError"]
    assert "does not have the scope 'ingest'" in again["content"][0]["text"]


def test_a_file_is_mapped_by_its_relative_path(server: HttpServer) -> None:
    home = server.home / ".citekit_subjects" / "alice"
    (home / "more").mkdir()
    (home / "more" / "later.txt").write_text("Later.\n")

    done = server.call(server.tokens["alice"], "ingest", path="more/later.txt")

    assert done["structuredContent"]["resource_id"] == "later_txt"
    listed = server.call(server.tokens["alice"], "listResources", query="later")
    assert "more/later.txt" in json.dumps(listed)
    (home / "more" / "later.txt").unlink()


def test_the_audit_log_says_who_resolved_what_and_contains_no_content(server: HttpServer) -> None:
    server.call(server.tokens["alice"], "resolve", resource_id="notes_txt", node_id="text://notes_txt#lines=1")
    server.call(server.tokens["alice"], "findText", query="private question")

    lines = server.audit()
    resolved = [each for each in lines if each.get("tool") == "resolve" and each["subject"] == "alice"]
    assert {"time", "subject", "tool", "address", "evidence", "ok"} <= set(resolved[-1])
    log = server.home / ".citekit_audit.jsonl"
    assert "private question" not in log.read_text()
    assert "A secret" not in log.read_text()
    assert log.stat().st_mode & 0o077 == 0


@pytest.mark.long
def test_no_answer_shows_a_path_of_this_computer(server: HttpServer) -> None:
    token = server.tokens["alice"]
    calls: list[tuple[str, dict[str, Any]]] = [
        ("listResources", {}),
        ("listResources", {"query": ""}),
        ("findText", {"query": "line"}),
        ("readText", {"resource_id": "notes_txt"}),
        ("getStructure", {"resource_id": "notes_txt"}),
        ("getStructure", {"resource_id": "notes_txt", "depth": 1}),
        ("getStructure", {"resource_id": "notse"}),
        ("getNode", {"resource_id": "notes_txt", "node_id": "nothing"}),
        ("resolve", {"resource_id": "notes_txt", "node_id": "text://notes_txt#lines=1"}),
        ("resolve", {"resource_id": "notes_txt", "node_id": "text://notes_txt#lines=1", "virtual": True}),
        ("resolve", {"resource_id": "notes_txt", "node_id": "text://notes_txt#lines=1", "as": "pdf"}),
        ("verifyQuote", {"resource_id": "notes_txt", "quotes": ["second line"]}),
        ("showEvidence", {"resource_id": "notes_txt", "quote": "second line"}),
        ("evidencePage", {"resource_id": "notes_txt", "page": 1}),
        ("ingest", {"path": "nothing.txt"}),
        ("ingest", {"path": "."}),
        ("ingest", {"path": ".citekit_cache"}),
        ("search", {"query": "line"}),
        ("fetch", {"id": "notes_txt"}),
    ]
    heard = [json.dumps(server.call(token, name, **arguments)) for name, arguments in calls]
    digest = server.call(token, "resolve", resource_id="notes_txt", node_id="text://notes_txt#lines=1")[
        "structuredContent"
    ]["uri"]
    uris = ("citekit://maps/notes_txt", "citekit://maps/other", digest, f"{digest}/receipt")
    heard.extend(server.post(token, "resources/read", {"uri": uri}).text for uri in uris)

    assert [] == [path for text in heard for path in paths_in(text)]
