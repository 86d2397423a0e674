"""What an agent gets of files that only a map names, and of those that it may read: over the protocol, with the real client."""

from __future__ import annotations

import hashlib
import json
import shutil
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import pytest
from attrs import frozen
from mcp import Client
from mcp_types import CallToolResult, ListRootsResult, Root, TextContent
from pydantic import FileUrl

from citekit.adapters.sources.ingested_files import FOLDER
from citekit.container import Container, bootstrap
from citekit.domain.errors import CiteKitError, NodeMissing
from citekit.domain.node import NodeName
from citekit.entrypoints.mcp.handlers import build_server
from citekit.entrypoints.mcp.roots import folder_of
from citekit.settings import settings_from
from tests.mcp.server_process import PATIENCE, Home, Wire
from tests.representatives import representatives

SECRET = "root:x:0:0:the secret:/root:/bin/sh\nsecond line\n"
OUTSIDE = "outside the folders that may be read here"


@frozen
class Place:
    """A home, and a file outside of it."""

    folder: Path

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def secret(self) -> Path:
        return self.folder / "elsewhere" / "secret.txt"

    def app(self, **environment: str) -> Container:
        return bootstrap(settings_from({"LOCAL_INGEST_PATH": str(self.home), **environment}, self.home))

    def drop(self, name: str, source: str, **metadata: Any) -> None:
        """A map as somebody else may have made it."""
        node = {"id": "all", "title": "All", "type": "section", "location": {"modality": "text", "lines": [1, 1]}}
        plain: dict[str, Any] = {
            "resource_id": name,
            "type": "text",
            "title": "T",
            "source_path": source,
            "nodes": [node],
        }
        made: dict[str, Any] = {
            **plain,
            "metadata": {"line_count": 2, **metadata},
            "created_at": "2025-01-01T00:00:00Z",
        }
        path = self.home / ".resource_maps" / f"{name}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(made))

    def ask(self, work: Callable[[Client], Awaitable[Any]], app: Container | None = None, **client: Any) -> Any:
        async def session() -> Any:
            with anyio.fail_after(PATIENCE):
                async with Client(build_server(app or self.app()), **client) as connected:
                    return await work(connected)

        return anyio.run(session)

    def call(self, tool: str, app: Container | None = None, **arguments: Any) -> str:
        return text(self.ask(lambda client: client.call_tool(tool, arguments), app))


def text(result: CallToolResult) -> str:
    first = result.content[0]
    assert isinstance(first, TextContent)
    return first.text


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = Place(tmp_path)
    made.home.mkdir()
    made.secret.parent.mkdir()
    made.secret.write_text(SECRET)
    return made


KNOWN = {"source_hash": hashlib.sha256(SECRET.encode()).hexdigest(), "source_size": len(SECRET)}
OTHER = {"source_hash": "0" * 64, "source_size": len(SECRET)}

ASKED: list[tuple[str, dict[str, Any]]] = [
    ("resolve", {"node_id": "all"}),
    ("resolve", {"node_id": "all", "remap": True}),
    ("resolve", {"node_id": "all", "virtual": True}),
    ("resolve", {"node_id": "text://x#lines=2"}),
    ("resolve", {"node_id": "text://x#lines=7", "virtual": True}),
    ("verifyQuote", {"quote": "second line"}),
    ("findText", {"query": "second line", "resource_ids": ["x"]}),
    ("readText", {}),
    ("readText", {"node_id": "lines=2"}),
    ("getStructure", {}),
    ("getNode", {"node_id": "all"}),
]


def _asks(place: Place) -> list[str]:
    async def work(client: Client) -> list[str]:
        offered = {tool.name: tool for tool in (await client.list_tools()).tools}
        answers = []
        for tool, arguments in ASKED:
            if tool in offered:
                named = dict(arguments)
                if tool == "findText":
                    pass
                elif "resource_id" in offered[tool].input_schema["properties"]:
                    named["resource_id"] = "x"
                else:
                    named["address"] = "text://x"
                answers.append(text(await client.call_tool(tool, named)))
        return answers

    found: list[str] = place.ask(work)
    return found


@pytest.mark.parametrize("written", representatives(["plain", "dotted", "through a link", "through /proc"], 2))
def test_nothing_tells_whether_a_file_outside_is_there_or_what_is_in_it(place: Place, written: str) -> None:
    (place.home / "link").symlink_to(place.secret.parent)
    source = {
        "plain": str(place.secret),
        "dotted": "../elsewhere/secret.txt",
        "through a link": str(place.home / "link" / "secret.txt"),
        "through /proc": f"/proc/self/root{place.secret}",
    }[written]
    answers = []
    for state in ("matching", "differing", "gone", "a folder"):
        for facts in (KNOWN, OTHER, {}):
            place.drop("x", source, **facts)
            told = _asks(place)
            answers.append([answer.replace(str(facts.get("source_hash")), "") for answer in told[:6]])
        if state == "matching":
            place.secret.write_text("changed" * 3)
        elif state == "differing":
            place.secret.unlink()
        elif state == "gone":
            place.secret.mkdir()

    by_facts = [[answers[row + kind] for row in range(0, len(answers), 3)] for kind in range(3)]
    for same in by_facts:
        assert all(one == same[0] for one in same)
    assert "second line" not in "".join(answer for row in answers for answer in (*row[:5],))
    assert all(OUTSIDE in answer for answer in (answers[0][0], answers[0][1], answers[0][2], answers[0][3]))
    assert not list(place.home.glob(".citekit_output/*"))


def test_a_link_among_the_files_of_a_repository_does_not_tell_what_it_leads_to(place: Place) -> None:
    (place.home / "secret.txt").symlink_to(place.secret)
    told = []
    for facts in (KNOWN, OTHER):
        place.drop("x", "/somewhere/else/secret.txt", **facts)
        told.append(place.call("resolve", resource_id="x", node_id="all"))

    assert told[0] == told[1]
    assert OUTSIDE in told[0]


def test_a_file_that_its_owner_ingested_is_cut_wherever_it_lies(place: Place) -> None:
    place.app().ingest(place.secret)

    answer = json.loads(place.call("resolve", resource_id="secret_txt", node_id="text://secret_txt#lines=2"))

    assert "second line\n" == Path(answer["output_path"]).read_text()


def test_without_the_record_a_clear_sentence_says_how_to_allow_it_and_that_works(place: Place) -> None:
    place.app().ingest(place.secret)
    shutil.rmtree(place.home / ".resource_maps" / FOLDER)
    address: dict[str, Any] = {"resource_id": "secret_txt", "node_id": "text://secret_txt#lines=2"}
    refused = place.call("resolve", **address)
    by_roots = place.call("resolve", place.app(CITEKIT_ROOTS=str(place.secret.parent)), **address)
    assert not place.app().ingest(place.secret).mapped_now

    allowed = place.call("resolve", **address)

    assert OUTSIDE in refused
    assert "citekit ingest" in refused
    assert "CITEKIT_ROOTS" in refused
    assert "output_path" in by_roots
    assert "output_path" in allowed


def test_the_cache_may_be_deleted_and_all_that_worked_goes_on(place: Place) -> None:
    place.app().ingest(place.secret)
    shutil.rmtree(place.home / ".citekit_cache")

    answer = place.call("resolve", resource_id="secret_txt", node_id="text://secret_txt#lines=2")

    assert "output_path" in answer


def test_a_copied_home_lets_nobody_out(place: Place) -> None:
    place.app().ingest(place.secret)
    copy = Place(place.folder)
    time.sleep(0.01)
    shutil.move(place.home, place.folder / "given")
    shutil.copytree(place.folder / "given", copy.home)

    answer = copy.call("resolve", resource_id="secret_txt", node_id="text://secret_txt#lines=2")

    assert OUTSIDE in answer


def test_the_owner_is_not_confined(place: Place) -> None:
    place.drop("x", str(place.secret), **KNOWN)
    evidence = place.app().resolve(NodeName("x", "all"))

    assert evidence.output_path is not None
    assert SECRET.splitlines()[0] in evidence.output_path.read_text()


def test_having_a_foreign_map_mapped_again_does_not_vouch_for_its_file(place: Place) -> None:
    place.drop("x", str(place.secret), **OTHER)
    with suppress(NodeMissing):  # the local mapper gives other nodes
        place.app().resolve(NodeName("x", "all"), remap=True)

    assert "secret" == place.app().maps.get("x").title
    assert OUTSIDE in place.call("resolve", resource_id="x", node_id="text://x#lines=1")


def _roots(*folders: str) -> Callable[[Any], Awaitable[ListRootsResult]]:
    async def listed(_: Any) -> ListRootsResult:
        return ListRootsResult(roots=[Root(uri=FileUrl(folder)) for folder in folders])

    return listed


@pytest.mark.parametrize(
    ("roots", "mode", "environment", "allowed"),
    [
        ("own", "legacy", {}, True),
        ("own", "auto", {}, False),
        ("own", "legacy", {"CITEKIT_CLIENT_ROOTS": "off"}, False),
        ("drive", "legacy", {}, False),
        ("none", "legacy", {}, False),
        ("broken", "legacy", {}, False),
    ],
)
def test_the_folders_that_a_client_offers_count_while_the_protocol_has_them(
    place: Place, roots: str, mode: str, environment: dict[str, str], allowed: bool
) -> None:
    place.drop("x", str(place.secret), **KNOWN)

    async def broken(_: Any) -> ListRootsResult:
        raise RuntimeError("no roots today")

    callbacks: dict[str, Any] = {
        "own": _roots(place.secret.parent.as_uri()),
        "drive": _roots("file:///"),
        "none": None,
        "broken": broken,
    }

    answer = text(
        place.ask(
            lambda client: client.call_tool("resolve", {"resource_id": "x", "node_id": "all"}),
            place.app(**environment),
            mode=mode,
            list_roots_callback=callbacks[roots],
        )
    )

    assert allowed == ("output_path" in answer)
    assert allowed != (OUTSIDE in answer)


@pytest.mark.filterwarnings("ignore:The roots capability is deprecated")
def test_what_is_no_longer_offered_is_no_longer_read(place: Place) -> None:
    place.drop("x", str(place.secret), **KNOWN)
    offered = [place.secret.parent.as_uri()]

    async def listed(_: Any) -> ListRootsResult:
        return ListRootsResult(roots=[Root(uri=FileUrl(folder)) for folder in offered])

    async def work(client: Client) -> list[str]:
        named = {"resource_id": "x", "node_id": "all"}
        told = [text(await client.call_tool("resolve", named)) for _ in range(2)]
        offered.clear()
        await client.send_roots_list_changed()
        await anyio.sleep(0.05)
        return [*told, text(await client.call_tool("resolve", named))]

    answers = place.ask(work, mode="legacy", list_roots_callback=listed)

    assert [True, True, False] == ["output_path" in answer for answer in answers]


@pytest.mark.parametrize(
    ("uri", "folder"),
    [
        ("file:///{here}", True),
        ("file://localhost/{here}", True),
        ("file:///{here}/../{name}", True),
        ("file:///{here}%2F", True),
        ("file:///{here}%00", False),
        ("file://elsewhere/{here}", False),
        ("file:////server/share", False),
        ("file:relative", False),
        ("file:///{here}?x", False),
        ("http://localhost/{here}", False),
        ("file:///{here}/missing", False),
        ("file://[::1/{here}", False),
        ("", False),
    ],
)
def test_only_a_file_uri_of_a_folder_here_is_an_offer(tmp_path: Path, uri: str, folder: bool) -> None:
    filled = uri.format(here=str(tmp_path).lstrip("/"), name=tmp_path.name)

    found = folder_of(filled)

    assert folder == (found is not None and found.resolve() == tmp_path.resolve())


def test_a_folder_with_spaces_and_letters_is_offered_by_its_escapes(tmp_path: Path) -> None:
    made = tmp_path / "Čitanka 100%"
    made.mkdir()

    assert made == folder_of(made.as_uri())


def test_roots_are_asked_for_once_over_the_wire_and_no_answer_is_mixed_up(
    home: Home, wire: Callable[..., Wire], tmp_path: Path
) -> None:
    outside = tmp_path.with_name(f"{tmp_path.name}-outside")
    outside.mkdir()
    source = home.source("notes").replace(outside / "notes.txt")
    plain = json.loads(home.map_file("notes").read_text("utf-8"))
    home.map_file("notes").write_text(json.dumps({**plain, "source_path": str(source)}), "utf-8")
    client = wire(hands=None)
    hello = {
        "protocolVersion": "2025-11-25",
        "capabilities": {"roots": {}},
        "clientInfo": {"name": "b", "version": "1"},
    }
    client.request("initialize", hello)
    client.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    asked: dict[str, Any] = {"name": "resolve", "arguments": {"resource_id": "notes", "node_id": "intro.aim"}}
    number = client.start("tools/call", asked)
    question = client.read()
    client.send({"jsonrpc": "2.0", "id": question["id"], "result": {"roots": [{"uri": outside.as_uri()}]}})

    first = client.answer(number)["result"]

    assert "roots/list" == question["method"]
    assert "line 3\nline 4\nline 5\n" == Path(first["structuredContent"]["output_path"]).read_text()
    assert first["structuredContent"] == client.request("tools/call", asked)["result"]["structuredContent"]
    assert 0 == client.leave()[0]


@pytest.mark.long
def test_a_file_exchanged_for_a_link_while_agents_ask_is_never_cut(place: Place) -> None:
    mine = place.home / "docs" / "mine.txt"
    mine.parent.mkdir()
    mine.write_text("mine\n")
    (place.secret.parent / "mine.txt").write_text(SECRET)
    place.drop("x", str(mine), line_count=1)
    app, stop = place.app().for_clients(), threading.Event()
    seen: set[str] = set()

    def exchange() -> None:
        docs, kept = mine.parent, place.home / "kept"
        while not stop.is_set():
            docs.rename(kept)
            docs.symlink_to(place.secret.parent)
            time.sleep(0)
            docs.unlink()
            kept.rename(docs)
            time.sleep(0.06)

    thread = threading.Thread(target=exchange)
    thread.start()
    try:
        until = time.monotonic() + 1.0
        while time.monotonic() < until:
            try:
                evidence = app.resolve(NodeName("x", "all"))
            except CiteKitError:
                continue
            assert evidence.output_path is not None
            seen.add(evidence.output_path.read_text())
    finally:
        stop.set()
        thread.join()

    assert seen <= {"mine\n"}
