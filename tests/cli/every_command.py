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

from citekit.bootstrap import bootstrap
from citekit.domain.locations import Lines
from citekit.domain.node import Node
from citekit.entrypoints.cli.program import run
from citekit.wire import maps
from tests.calibre_made import MadeBook, make_library

STEERING = (
    "\x1b[45mred\x1b[8m\x1b]0;title\x07\x1b]8;;http://e.test\x1b\\link\x9b31m\x90q\x9c\r\b\x7f\t"
    "\nFAKE  entry\n\u202eturned\u2066\u200b\u200e\u200f\u061c\u2028\u2029\ufeff\u2060\u3164\U000e0041\U000e0102"
)
EMBEDDER = "hashing"
PROSE = "The queen bee lays eggs in the hive while workers gather nectar and pollen for honey. " * 40


def make_home(home: Path) -> Path:
    """A mapped file, a damaged map, a foreign structure and a library, in all of whose words something steers."""
    source = home / "bees\x1b[45m\u202e.md"
    source.write_text(f"# {STEERING}\n\n{PROSE}\n\n## {STEERING}\n\n{PROSE}\n", "utf-8")
    app = bootstrap(home=home)
    made = app.ingest(source, wanted_id="bees").resource_map
    node = Node(f"part{STEERING}", STEERING, "section", Lines(1, 3), STEERING)
    app.maps.put(evolve(made, title=STEERING, nodes=[node], metadata={"usage": STEERING, "author": STEERING}))
    (home / ".resource_maps" / "damaged.json").write_text(json.dumps({"resource_id": STEERING, "nodes": 3}))
    (home / "faulty.json").write_text(json.dumps({"resource_id": "x", STEERING: 1, "nodes": [{STEERING: STEERING}]}))
    (home / "receipt.json").write_text(json.dumps({"receipt": {"receipt_version": STEERING, STEERING: 1}}))
    plain = maps.to_plain_map(evolve(made, title=STEERING, resource_id="adapted"))
    (home / "foreign.json").write_text(json.dumps(plain))
    book = MadeBook(
        title=f"Bees {STEERING}",
        authors=(STEERING,),
        tags=(STEERING,),
        series=STEERING,
        publisher=STEERING,
        languages=("eng",),
        identifiers={"isbn": STEERING},
        comments=STEERING,
        formats={"TXT": PROSE.encode()},
        path="Bees (1)",
        file_name="bees",
    )
    make_library(home / "shelf", [book])
    (home / "guardians").mkdir()
    (home / "loose.txt").write_text(f"{PROSE}\n{STEERING}\n{PROSE}", "utf-8")
    return home


PART = f"part{STEERING}"

CALLS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "ingest": (
        ("bees\x1b[45m\u202e.md", "--force", "--id", "again"),
        (f"no{STEERING}",),
        (".",),
        ("--id", STEERING, "loose.txt"),
    ),
    "list": ((), ("bees",), (STEERING,)),
    "structure": (("bees",), ("damaged",), (STEERING,)),
    "inspect": (("bees", PART), ("bees", STEERING)),
    "resolve": (
        ("bees", PART),
        ("bees", PART, "--virtual"),
        (f"doc://{STEERING}",),
        ("bees", PART, "-o", f"no{STEERING}/x"),
    ),
    "search": (("turned",), (STEERING,)),
    "context": ((), ("bees", "--format", "json"), (STEERING,)),
    "adapt": (
        ("foreign.json", "--adapter", "generic", "--force"),
        ("faulty.json", "--adapter", "generic"),
        (STEERING, "-a", STEERING),
    ),
    "editions": (("bees",), ("bees", "--use", STEERING)),
    "check-map": (("foreign.json",), ("faulty.json",), (STEERING,)),
    "remove": ((STEERING,), ("again",)),
    "cache stats": ((),),
    "cache verify": ((),),
    "cache prune": (("--limit", STEERING), ()),
    "cache clear": ((),),
    "verify": (("receipt.json",), (STEERING,)),
    "verify-quote": (("bees", PART, f"# red{STEERING}"), ("text://bees#lines=1-3", "queen"), (STEERING, STEERING)),
    "query": (("queen", "bee", "--threshold", "0"), (STEERING, "--guardian", STEERING, "--collection", STEERING)),
    "library stats": ((),),
    "library search": (("--title", "Bees"), ("--author", STEERING)),
    "library book": (("1",), ("77",)),
    "library preview": ((),),
    "library ingest": (("1", "--force"), ("77", STEERING)),
    "library ingest-file": (("loose.txt", "--title", STEERING, "--author", STEERING), (STEERING,)),
    "library batch": (("--all",),),
    "library query": (("queen", "--threshold", "0", "--context", "comprehensive"),),
    "library guardians": ((), ("--patterns",)),
    "library remove": (("1",), ("--file", STEERING)),
    "library chunking test": (("1",), ("loose.txt",), (STEERING,)),
    "library chunking compare": (("1",),),
    "library rebuild": (("--collection", STEERING), ()),
    "doctor": ((), (STEERING,)),
    "demo": (("bees\x1b[45m\u202e.md", STEERING),),
    "serve": (("--tools", STEERING),),
}
"""Every command, and calls of it that show words of files, or name something hostile themselves."""


def commands(group: click.Group, name: str = "") -> Iterator[str]:
    context = click.Context(group)
    for each in group.list_commands(context):
        found = group.get_command(context, each)
        assert found is not None
        yield from commands(found, f"{name}{each} ") if isinstance(found, click.Group) else [f"{name}{each}"]


def called(
    home: Path, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, out: TextIO | None = None
) -> tuple[int, str, str]:
    """The exit code, and what was written to `out` and to standard error."""
    monkeypatch.setenv("CALIBRE_LIBRARY_PATH", str(home / "shelf"))
    monkeypatch.setenv("CITEKIT_EMBEDDER", EMBEDDER)
    monkeypatch.setenv("LOCAL_INGEST_PATH", str(home))
    out, err = out or io.StringIO(), io.StringIO()
    with contextlib.chdir(home), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(words)
    return code, out.getvalue(), err.getvalue()  # type: ignore[attr-defined]
