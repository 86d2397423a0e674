"""Every command of the program, and a home in all of whose words something steers a terminal."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TextIO

import click
import pytest
from attrs import evolve

from citekit.container import bootstrap
from citekit.domain.locations import Lines
from citekit.domain.node import Node
from citekit.entrypoints.cli.program import run
from citekit.entrypoints.web.server import ViewerServer
from citekit.wire import maps
from tests.calibre_made import MadeBook, make_library

STEERING = (
    "\x1b[45mred\x1b[8m\x1b]0;title\x07\x1b]8;;http://e.test\x1b\\link\x9b31m\x90q\x9c\r\b\x7f\t"
    "\nFAKE  entry\n\u202eturned\u2066\u200b\u200e\u200f\u061c\u2028\u2029\ufeff\u2060\u3164\U000e0041\U000e0102"
)
EMBEDDER = "hashing"
PROSE = "The queen bee lays eggs in the hive while workers gather nectar and pollen for honey. " * 40


def make_home(home: Path, words: str = STEERING) -> Path:
    """A mapped file, a damaged map, a foreign structure and a library, in all of whose words something steers."""
    source = home / "bees\x1b[45m\u202e.md"
    source.write_text(f"# {words}\n\n{PROSE}\n\n## {words}\n\n{PROSE}\n", "utf-8")
    app = bootstrap(home=home)
    made = app.ingest(source, wanted_id="bees").resource_map
    node = Node(f"part{words}", words, "section", Lines(1, 3), words)
    app.maps.put(evolve(made, title=words, nodes=[node], metadata={"usage": words, "author": words}))
    (home / ".resource_maps" / "damaged.json").write_text(json.dumps({"resource_id": words, "nodes": 3}))
    (home / "faulty.json").write_text(json.dumps({"resource_id": "x", words: 1, "nodes": [{words: words}]}))
    (home / "receipt.json").write_text(json.dumps({"receipt": {"receipt_version": words, words: 1}}))
    plain = maps.to_plain_map(evolve(made, title=words, resource_id="adapted"))
    (home / "foreign.json").write_text(json.dumps(plain))
    book = MadeBook(
        title=f"Bees {words}",
        authors=(words,),
        tags=(words,),
        series=words,
        publisher=words,
        languages=("eng",),
        identifiers={"isbn": words},
        comments=words,
        formats={"TXT": PROSE.encode()},
        path="Bees (1)",
        file_name="bees",
    )
    make_library(home / "shelf", [book])
    (home / "guardians").mkdir()
    (home / "loose.txt").write_text(f"{PROSE}\n{words}\n{PROSE}", "utf-8")
    return home


PART = f"part{STEERING}"


def calls_with(words: str) -> Mapping[str, tuple[tuple[str, ...], ...]]:
    """Every command, and calls of it in such a home that show words of files, or name something hostile themselves."""
    part = f"part{words}"
    return {
        "ingest": (
            ("bees\x1b[45m\u202e.md", "--force", "--id", "again"),
            (f"no{words}",),
            (".",),
            ("--id", words, "loose.txt"),
        ),
        "list": ((), ("bees",), (words,), ("--tag", words)),
        "structure": (("bees",), ("damaged",), (words,)),
        "inspect": (("bees", part), ("bees", words)),
        "resolve": (
            ("bees", part),
            ("bees", part, "--virtual"),
            (f"doc://{words}",),
            ("bees", part, "-o", f"no{words}/x"),
        ),
        "find": (("turned",), ("red", "--context", "2"), (words,), ("(", "--regex"), ("turned", "--titles")),
        "read": (("bees",), ("bees", part, "--max-chars", "300"), (words, words), ("bees", "--cursor", words)),
        "outline": ((), ("bees", "--format", "json"), (words,)),
        "export": (
            ("bees",),
            ("bees", "--as", "html"),
            ("bees", "--as", "w3c-annotations"),
            (words, "-o", f"no{words}/x"),
        ),
        "import": (
            ("foreign.json", "--adapter", "generic", "--force"),
            ("faulty.json", "--adapter", "generic"),
            (words, "-a", words),
        ),
        "versions": (("bees",), ("bees", "--use", words)),
        "validate": (("foreign.json",), ("faulty.json",), (words,)),
        "tag": ((), ("bees", "--add", "red"), ("bees", words), ("bees", "-r", words), (words, "--add", "red")),
        "sync": (("shelf",), (words,), ("shelf", "--exclude", words)),
        "rename": ((words, "x"), ("again", words)),
        "jobs": ((),),
        "migrate": ((words,),),
        "remove": ((words,), ("again",)),
        "cache stats": ((),),
        "cache verify": ((),),
        "cache prune": (("--limit", words), ()),
        "cache clear": ((),),
        "cache collect": ((), ("--grace", words)),
        "verify": (("receipt.json",), (words,)),
        "quote": (("bees", part, f"# red{words}"), ("text://bees#lines=1-3", "queen"), (words, words), ("queen",)),
        "ask": (("queen", "--service", "none"), (words, "--service", "none"), ("queen", "--resource", words)),
        "token add": (("alice",), (words,), ("bob", "--expires", words), ("carl", "--subject", words)),
        "token list": ((),),
        "token revoke": ((words,),),
        "connect": (("--print", "cursor", "codex"), ("cursor", "--dry-run"), (words, "--dry-run")),
        "query": (("queen", "bee", "--threshold", "0"), (words, "--guardian", words, "--collection", words)),
        "library list": ((), ("--collection", words)),
        "library stats": ((),),
        "library search": (("--title", "Bees"), ("--author", words)),
        "library book": (("1",), ("77",)),
        "library preview": ((),),
        "library ingest": (("1", "--force"), ("77", words)),
        "library ingest-file": (("loose.txt", "--title", words, "--author", words), (words,)),
        "library batch": (("--all",),),
        "library query": (("queen", "--threshold", "0", "--context", "comprehensive"),),
        "library guardians": ((), ("--patterns",)),
        "library remove": (("1",), ("--file", words)),
        "library chunking test": (("1",), ("loose.txt",), (words,)),
        "library chunking compare": (("1",),),
        "library rebuild": (("--collection", words), ()),
        "models list": ((),),
        "models get": ((words,),),
        "doctor": ((), (words,)),
        "skill": ((), ("--install", f"no{words}"), ("--install", "loose.txt")),
        "demo": (("bees\x1b[45m\u202e.md", words),),
        "serve": (("--tools", words),),
        "view": ((f"doc://{words}",), ("doc://bees#pages=1",), ("--port", words)),
    }


CALLS = calls_with(STEERING)


def commands(group: click.Group, name: str = "") -> Iterator[str]:
    context = click.Context(group)
    for each in group.list_commands(context):
        found = group.get_command(context, each)
        assert found is not None
        yield from commands(found, f"{name}{each} ") if isinstance(found, click.Group) else [f"{name}{each}"]


def runs_until_stopped(viewer: ViewerServer, ready: object) -> None:
    raise AssertionError("a viewer was started, and nobody would stop it")


def called(
    home: Path, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, out: TextIO | None = None
) -> tuple[int, str, str]:
    """The exit code, and what was written to `out` and to standard error."""
    monkeypatch.setenv("CALIBRE_LIBRARY_PATH", str(home / "shelf"))
    monkeypatch.setenv("CITEKIT_EMBEDDER", EMBEDDER)
    monkeypatch.setenv("LOCAL_INGEST_PATH", str(home))
    monkeypatch.setattr(ViewerServer, "run", runs_until_stopped)
    out, err = out or io.StringIO(), io.StringIO()
    with contextlib.chdir(home), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(words)
    return code, out.getvalue(), err.getvalue()  # type: ignore[attr-defined]
