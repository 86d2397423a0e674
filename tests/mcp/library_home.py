"""A library in memory with real files, and the official client of a server over it in the same process."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from datetime import date
from pathlib import Path
from typing import Any, TypeVar

import anyio
import jsonschema
from attrs import define, evolve, field
from mcp import Client
from mcp_types import CallToolResult, TextContent

from citekit.adapters.catalogs.in_memory import MemoryLibrary
from citekit.adapters.formats.text_reader import FormatTextReader
from citekit.adapters.search.embedders.hashing import HashingEmbedder
from citekit.container import Container, bootstrap
from citekit.container.parsers import Parsers
from citekit.domain.library.books import BookRecord
from citekit.entrypoints.mcp.handlers import build_server
from citekit.entrypoints.mcp.library.toolset import TOOLS
from citekit.settings import settings_from
from tests.doubles.ledger import MemoryLedger
from tests.doubles.sentence_splitter import RegularExpressionSplitter
from tests.doubles.vector_index import MemoryVectorIndex
from tests.formats.epub.books import CONTAINER, NAV_ITEM, package, page, write_epub

_Result = TypeVar("_Result")

PATIENCE = 60

SUBJECTS = {
    "Volcanoes": "Magma rises through the crust and the volcano erupts lava and ash over the slopes.",
    "Bees": "The queen bee lays eggs in the hive while workers gather nectar and pollen for honey.",
    "Bridges": "An arch bridge carries load by compression into its abutments and needs no mortar.",
}


def chapter(subject: str, sentences: int = 30) -> str:
    return " ".join(f"{SUBJECTS[subject]} Note {number} on {subject.lower()}." for number in range(sentences))


def write_book(path: Path) -> Path:
    """An EPUB of three chapters about very different things."""
    names = [f"c{number}.xhtml" for number in range(len(SUBJECTS))]
    listed = "".join(f'<li><a href="{name}">{title}</a></li>' for name, title in zip(names, SUBJECTS, strict=True))
    files = {"META-INF/container.xml": CONTAINER, "OPS/book.opf": package(names, NAV_ITEM)}
    files["OPS/nav.xhtml"] = page(f'<nav epub:type="toc"><ol>{listed}</ol></nav>')
    for name, title in zip(names, SUBJECTS, strict=True):
        files[f"OPS/{name}"] = page(f"<h1>{title}</h1><p>{chapter(title)}</p>")
    return write_epub(path, files)


def record(number: int, title: str, files: Mapping[str, Path], **more: Any) -> BookRecord:
    return BookRecord(
        id=number, title=title, authors=more.pop("authors", ["Ada Writer", "Bo Author"]), files=files, **more
    )


@define
class LibraryHome:
    """A home folder, a library in memory with an EPUB (1), a TXT (2), a missing file (3) and a format nobody reads (4)."""

    folder: Path
    books: MemoryLibrary = field(factory=MemoryLibrary)
    ports: dict[str, Any] = field(factory=dict)
    environment: dict[str, str] = field(factory=dict)

    @classmethod
    def made(cls, folder: Path) -> LibraryHome:
        home = cls(folder)
        epub = write_book(folder / "small.epub")
        text = folder / "plain.txt"
        text.write_text("\n\n".join(chapter(subject, 12) for subject in SUBJECTS), "utf-8")
        home.books.add(
            record(
                1, "A Small Book", {"EPUB": epub}, languages=["eng"], tags=["science", "nature"], series="Small",
                series_index=2.0, identifiers={"isbn": "9780000000002"}, publisher="Press", pubdate=date(2020, 1, 1), rating=4.5,
            ),
            record(2, "Plain Notes", {"TXT": text}, authors=["Čelo Plain"], languages=["hrv"]),
            record(3, "Gone", {"EPUB": folder / "gone.epub"}),
            record(4, "Sealed", {"LIT": folder / "sealed.lit"}),
        )  # fmt: skip
        return home

    def app(self) -> Container:
        environment = {"CITEKIT_TOOLS": "citekit,alexandria", "LOCAL_INGEST_PATH": str(self.folder), **self.environment}
        ports: dict[str, Any] = {
            "library": self.books,
            "index": MemoryVectorIndex(),
            "ledger": MemoryLedger(),
            "embedder": HashingEmbedder(),
            "similarity": HashingEmbedder(),
            "splitter": RegularExpressionSplitter(),
            "text": FormatTextReader(Parsers()),
            **self.ports,
        }
        return bootstrap(settings_from(environment, self.folder), **ports)

    def ask(self, work: Callable[[Client], Awaitable[_Result]], mode: str = "auto") -> _Result:
        """What `work` finds with the official client of a server in this process."""

        async def session() -> _Result:
            with anyio.fail_after(PATIENCE):
                async with Client(build_server(self.app()), mode=mode) as client:
                    return await work(client)

        return anyio.run(session)

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The answer of one tool of a fresh server."""
        return self.calls((tool, arguments))[0]

    def calls(self, *wanted: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
        """The answers of several tools of one server, one after the other."""

        async def work(client: Client) -> list[dict[str, Any]]:
            return [plain(name, await client.call_tool(name, arguments)) for name, arguments in wanted]

        return self.ask(work)

    def without(self, **ports: Any) -> LibraryHome:
        return evolve(self, ports={**self.ports, **ports})


def plain(tool: str, result: CallToolResult) -> dict[str, Any]:
    """The structured answer, which its text says too, and which is as the tool promises."""
    assert isinstance(result.structured_content, dict)
    assert result.is_error is (result.structured_content.get("success") is False), result.content
    (only,) = result.content
    assert isinstance(only, TextContent)
    assert result.structured_content == json.loads(only.text)
    schema = next(each.output_schema for each in TOOLS if each.name == tool)
    jsonschema.Draft202012Validator(schema).validate(result.structured_content)
    assert ("success" not in result.structured_content) or (
        result.structured_content["success"] is (result.structured_content["error"] is None)
    )
    return result.structured_content
