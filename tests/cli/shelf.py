"""A small library as Calibre stores it, the command line over it, and the same library over MCP."""

# mypy: disable-error-code="no-untyped-call,attr-defined,no-any-return"

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pymupdf
from attrs import frozen
from mcp import Client

from citekit.container import bootstrap
from citekit.entrypoints.mcp.handlers import build_server
from citekit.settings import settings_from
from tests.calibre_made import MadeBook, make_library
from tests.cli.program import Answer, Cli, plain_environment
from tests.formats.epub.books import write_book

BEES = "The queen bee lays eggs in the hive while workers gather nectar and pollen for honey."
LAVA = "Magma rises through the crust and the volcano erupts lava and ash over its slopes."
ARCH = "An arch bridge carries load by compression into its abutments and needs no mortar."
BREAD = "Bakers knead flour with water and yeast until the dough rises beside a warm oven."
MOONLIGHT = "今天晚上,很好的月光。我不见他,已是三十多年。"
EXTRA = ("numpy", "qdrant_edge", "qdrant_client", "onnxruntime", "tokenizers", "safetensors", "sentencex", "wordllama")


def prose(sentence: str, count: int = 16) -> str:
    return " ".join(f"{sentence} This is remark {number}." for number in range(count))


def _epub(folder: Path) -> bytes:
    bodies = [f"<h1>{title}</h1><p>{prose(text)}</p>" for title, text in (("Bees", BEES), ("Volcanoes", LAVA))]
    nav = '<ol><li><a href="c1.xhtml">Bees</a></li><li><a href="c2.xhtml">Volcanoes</a></li></ol>'
    return write_book(folder / "small.epub", bodies, nav).read_bytes()


def _pdf() -> bytes:
    with pymupdf.open() as document:
        for text in (ARCH, BREAD):
            document.new_page().insert_textbox((50, 50, 550, 800), prose(text))
        document.set_toc([[1, "Bridges", 1], [1, "Bread", 2]])
        return document.tobytes()


def books(folder: Path) -> list[MadeBook]:
    """1 an EPUB, 2 a PDF, 3 Markdown in Chinese, 4 a scan without text, 5 a row whose file is gone."""
    with pymupdf.open() as scan:
        scan.new_page().draw_rect((50, 50, 100, 100))
        scanned = scan.tobytes()
    return [
        MadeBook(
            title="Bees and Volcanoes",
            authors=("Ada Writer", "Bo Author"),
            languages=("eng",),
            tags=("Nature", "Fire"),
            comments="<p>Honey &amp; ash</p>",
            formats={"EPUB": _epub(folder)},
        ),
        MadeBook(title="Bridges, Bread", authors=("Čelo Plain",), languages=("eng",), formats={"PDF": _pdf()}),
        MadeBook(
            title="狂人日记",
            authors=("鲁迅",),
            languages=("zho",),
            formats={"TXT": (MOONLIGHT * 30).encode()},
            file_name=None,
        ),
        MadeBook(title="Scan", authors=("Nobody",), formats={"PDF": scanned}),
        MadeBook(title="Gone", authors=("Nobody",), path="Nobody/Gone (5)", formats={"EPUB": b"never written"}),
    ]


@frozen
class Shelf:
    """`citekit` in a home with a library beside it."""

    cli: Cli
    library: Path

    @classmethod
    def made(cls, folder: Path) -> Shelf:
        home, library = folder / "home", folder / "library"
        home.mkdir()
        return cls(Cli(home), make_library(library, books(folder)))

    def environment(self, **more: str) -> dict[str, str]:
        unset = {"QDRANT_URL": "", "QDRANT_HOST": "", "QDRANT_COLLECTION": "", "CITEKIT_EMBEDDER": ""}
        return {**unset, "CALIBRE_LIBRARY_PATH": str(self.library), **more}

    def __call__(self, *arguments: str, **more: str) -> Answer:
        """Run `citekit` with these arguments over the library."""
        return self.cli(*arguments, **self.environment(**more))

    def json(self, *arguments: str, **more: str) -> Any:
        """The document of a call that succeeds."""
        answer = self(*arguments, "--json", **more)
        assert (answer.code, answer.err) == (0, ""), answer.err
        return answer.document

    def fails(self, *arguments: str, **more: str) -> tuple[int, str]:
        """The exit code and the one sentence of a call that fails, the same with `--json`."""
        plain, document = self(*arguments, **more), self("--json", *arguments, **more)
        assert plain.err == document.err
        assert (plain.code, document.document["error"]["message"]) == (document.code, _said(plain.err))
        return plain.code, _said(plain.err)

    def python(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a program that calls `run(sys.argv[1:])` of the command line."""
        start = "import sys\nfrom citekit.entrypoints.cli.program import run\n"
        return subprocess.run(
            [sys.executable, "-c", f"{start}{program}", *arguments],
            cwd=self.cli.here,
            env=plain_environment(**self.environment()),
            capture_output=True,
            text=True,
            timeout=120,
        )

    def without_extra(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run `citekit` as where the extra `library` is not installed."""
        return self.python(f"sys.modules.update(dict.fromkeys({EXTRA}))\nsys.exit(run(sys.argv[1:]))", *arguments)

    def over_mcp(self, *calls: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
        """What the tools of a server over the same home and library answer."""
        settings = settings_from({**self.environment(), "CITEKIT_TOOLS": "alexandria"}, self.cli.here)

        async def work() -> list[dict[str, Any]]:
            async with Client(build_server(bootstrap(settings))) as client:
                answers = [await client.call_tool(name, arguments) for name, arguments in calls]
            return [answer.structured_content or {} for answer in answers]

        return anyio.run(work)


def _said(err: str) -> str:
    """The one sentence; there is nothing else on standard error."""
    (line,) = err.splitlines()
    return line.removeprefix("Error: ")
