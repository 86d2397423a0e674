"""From a question to the opened page: the server as it is installed, its embedded index, and the official client."""

from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import anyio
import pytest
from mcp import Client, StdioServerParameters

from tests.mcp.library_home import plain, write_book
from tests.mcp.server_process import PATIENCE
from tests.warm_start.command import python

pytestmark = pytest.mark.long

_Result = TypeVar("_Result")

for needed in ("qdrant_edge", "wordllama", "sentencex", "yaml"):
    pytest.importorskip(needed, reason="the extra 'library' is not installed", exc_type=ImportError)


def serve(
    folder: Path, work: Callable[[Client], Awaitable[_Result]], *, is_cold: bool = False, **environment: str
) -> _Result:
    words = "-m", "citekit", "serve", "--home", str(folder)
    command, *arguments = [sys.executable, *words] if is_cold else python(*words)
    paths = {"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    server = StdioServerParameters(command=command, args=arguments, env={**paths, **environment})

    async def session() -> _Result:
        with anyio.fail_after(2 * PATIENCE):
            async with Client(server) as client:
                return await work(client)

    return anyio.run(session)


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    return plain(tool, await client.call_tool(tool, arguments))


def test_a_question_leads_to_the_opened_page(tmp_path: Path) -> None:
    book = write_book(tmp_path / "small.epub")

    async def work(client: Client) -> tuple[dict[str, Any], dict[str, Any], str]:
        ingested = await call(client, "alexandria_ingest_file", file_path=str(book))
        answer = await call(client, "alexandria_query", query="Where does the queen bee lay eggs?", limit=1)
        best = answer["results"][0]
        name = {"resource_id": best["resource_id"], "node_id": best["node_id"], "as": "text"}
        opened = await client.call_tool("resolve", name)
        assert opened.structured_content is not None
        return ingested, best, Path(opened.structured_content["output_path"]).read_text("utf-8")

    ingested, best, opened = serve(tmp_path, work, is_cold=True, CITEKIT_TOOLS="citekit,alexandria")

    assert (True, "Bees") == (ingested["success"], best["section_name"])
    assert best["text"].splitlines()[-1] in opened


def test_what_was_ingested_is_there_for_the_next_server(tmp_path: Path) -> None:
    book = write_book(tmp_path / "small.epub")

    async def first(client: Client) -> dict[str, Any]:
        return await call(client, "alexandria_ingest_file", file_path=str(book))

    async def second(client: Client) -> tuple[dict[str, Any], dict[str, Any]]:
        return await call(client, "alexandria_stats"), await call(client, "alexandria_query", query="erupts lava")

    serve(tmp_path, first, CITEKIT_TOOLS="alexandria")
    stats, answer = serve(tmp_path, second)

    assert 1 == stats["qdrant"]["ingested_books"]
    assert "Volcanoes" == answer["results"][0]["section_name"]


@pytest.mark.corpus
def test_a_book_of_a_calibre_library_is_found_taken_in_and_asked(tmp_path: Path, corpus: Path) -> None:
    async def work(client: Client) -> list[dict[str, Any]]:
        found = await call(client, "alexandria_search", title="quick start guide", language="eng")
        number = found["books"][0]["id"]
        return [
            found,
            await call(client, "alexandria_ingest", book_id=number),
            await call(client, "alexandria_query", query="How do I convert a book to another format?"),
            await call(client, "alexandria_remove", book_id=number),
        ]

    found, ingested, answer, removed = serve(tmp_path, work, CALIBRE_LIBRARY_PATH=str(corpus / "calibre"))

    assert 1 == found["count"]
    assert ingested["chunks"] == removed["chunks"]
    assert {found["books"][0]["title"]} == {each["book_title"] for each in answer["results"]}
    assert all(each["address"].startswith("doc://") for each in answer["results"])
