"""What lies about is not run: pickles in a cache or a home, and Python files in the current folder."""

from __future__ import annotations

import json
import pickle
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import anyio
import pytest
from attrs import frozen
from mcp import Client

from citekit.container import bootstrap
from citekit.entrypoints.mcp.handlers import build_server
from tests.cli.every_command import CALLS, called, make_home
from tests.cli.program import CODE, Cli, plain_environment

pytestmark = pytest.mark.long


@frozen
class Bomb:
    """Whoever unpickles it writes a file."""

    path: Path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.write_text, (self.path, "unpickled")


def plant(home: Path, payload: bytes) -> list[Path]:
    """The payload wherever 0.2 and its cache kept theirs, and wherever we keep anything."""
    places = [
        *(home / name for name in (".citekit_cache", ".citekit_output", ".resource_maps", ".citekit_library", "cache")),
        home,
    ]
    planted = []
    for place in places:
        place.mkdir(exist_ok=True)
        planted += [place / "cache.pkl", place / "x.pickle", place / "tensor.pt", place / "table.npy"]
        with closing(sqlite3.connect(place / "cache.db")) as database:  # as diskcache 5 writes it; mode 4 is a pickle
            database.execute("CREATE TABLE Settings (key TEXT NOT NULL UNIQUE, value)")
            database.execute("INSERT INTO Settings VALUES ('disk_pickle_protocol', 5)")
            database.execute(
                "CREATE TABLE Cache (rowid INTEGER PRIMARY KEY, key BLOB, raw INTEGER, store_time REAL, expire_time REAL,"
                " access_time REAL, access_count INTEGER DEFAULT 0, tag BLOB, size INTEGER DEFAULT 0,"
                " mode INTEGER DEFAULT 0, filename TEXT, value BLOB)"
            )
            for key in (payload, "bees", "code_py", "code_py.first"):
                database.execute("INSERT INTO Cache (key, raw, mode, value) VALUES (?, 0, 4, ?)", (key, payload))
            database.commit()
    planted += [home / ".resource_maps" / "pickled.json", home / ".resource_maps" / ".index"]
    for path in planted:
        path.write_bytes(payload)
    return planted


def test_the_bomb_is_live(tmp_path: Path) -> None:
    pickle.loads(pickle.dumps(Bomb(tmp_path / "burnt")))

    assert (tmp_path / "burnt").exists()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home full of pickles, whose unpickling would leave a file beside it."""
    (tmp_path / "home").mkdir()
    home = make_home(tmp_path / "home")
    payload = pickle.dumps(Bomb(tmp_path / "burnt"))
    for path in plant(home, payload):
        assert path.read_bytes() == payload
    for path in (home / ".citekit_cache").rglob("*.db"):
        assert path.is_file()
    return home


def test_no_command_and_no_tool_unpickles_anything(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = [(*command.split(), *words) for command, several in CALLS.items() for words in several[:1]]
    calls += [("ingest", "x.pickle"), ("ingest", "table.npy"), ("structure", "pickled"), ("validate", "cache.pkl")]
    calls += [
        ("verify", "cache.pkl"),
        ("adapt", "x.pickle", "--adapter", "graphrag"),
        ("adapt", "x.pickle", "-a", "llamaindex"),
    ]
    for words in calls:
        called(home, words, monkeypatch)

    async def ask() -> int:
        async with Client(build_server(bootstrap(home=home))) as client:
            for tool in (await client.list_tools()).tools:
                for each in ("bees", "pickled", "code_py"):
                    given = {
                        "resource_id": each,
                        "node_id": "first",
                        "book_id": 1,
                        "query": "x",
                        "file_path": str(home / "x.pickle"),
                    }
                    known = tool.input_schema["properties"]
                    await client.call_tool(tool.name, {name: value for name, value in given.items() if name in known})
            return len((await client.list_tools()).tools)

    assert anyio.run(ask) >= 4
    assert not (home.parent / "burnt").exists()


HOSTILE = "import pathlib\npathlib.Path({!r}).write_text(__name__)\nraise SystemExit('owned')\n"
NAMES = (
    *("json", "attrs", "attr", "click", "typing", "pathlib", "email", "csv", "random", "socket", "string", "tempfile"),
    *(
        "sitecustomize",
        "usercustomize",
        "conftest",
        "pymupdf",
        "av",
        "PIL",
        "lxml",
        "selectolax",
        "numpy",
        "mcp",
        "anyio",
        "cattrs",
    ),
    *("rich", "logging", "sqlite3", "subprocess", "hashlib", "zipfile", "html", "xml", "locale", "generic", "local"),
)


def hostile_folder(folder: Path) -> Path:
    mark = folder.parent / "owned"
    for name in NAMES:
        (folder / f"{name}.py").write_text(HOSTILE.format(str(mark)))
    (folder / ".env").write_text("CITEKIT_MAPPER=./local.py\nCITEKIT_HOME=/nowhere\n")
    (folder / "evil-1.dist-info").mkdir()
    (folder / "evil-1.dist-info" / "entry_points.txt").write_text(
        "[citekit.mappers]\nlocal = generic:Mapper\nauto = generic:Mapper\n"
    )
    (folder / "evil-1.dist-info" / "METADATA").write_text("Name: evil\nVersion: 1\n")
    return mark


@pytest.mark.parametrize("start", [("-m", "citekit"), ("-mcitekit",), ("-m", "citekit.cli"), ("-P", "-m", "citekit")])
def test_the_current_folder_is_nobodys_code(tmp_path: Path, start: tuple[str, ...]) -> None:
    here = tmp_path / "here"
    here.mkdir()
    mark = hostile_folder(here)
    (here / "notes.md").write_text("# One\n\nText.\n\n# Two\n\nMore.\n")

    done = [
        subprocess.run(
            [sys.executable, *start, *words],
            cwd=here,
            env=plain_environment(),
            capture_output=True,
            text=True,
            timeout=120,
        )
        for words in (("ingest", "notes.md"), ("resolve", "notes_md", "two"), ("doctor",))[
            : 3 if start == ("-m", "citekit") else 1
        ]
    ]

    assert [0] * len(done) == [each.returncode for each in done], [each.stderr for each in done]
    assert not mark.exists()


def test_the_installed_program_imports_nothing_from_the_current_folder(tmp_path: Path) -> None:
    program = Path(sys.executable).with_name("citekit")
    if not program.exists():
        pytest.skip("the program is not installed beside this Python")
    here = tmp_path / "here"
    here.mkdir()
    mark = hostile_folder(here)
    for name in ("importlib", "contextlib", "__future__", "citekit", "runpy", "warnings", "types"):
        (here / f"{name}.py").write_text(HOSTILE.format(str(mark)))

    done = subprocess.run(
        [program, "doctor"], cwd=here, env=plain_environment(), capture_output=True, text=True, timeout=120
    )

    assert (0, False) == (done.returncode, mark.exists()), done.stderr


def test_a_mapper_is_loaded_only_where_the_user_names_it(tmp_path: Path) -> None:
    cli = Cli(tmp_path)
    cli.write("code.py", CODE)
    mark = tmp_path / "owned"
    mapper = cli.write("mine.py", f"import pathlib\npathlib.Path({str(mark)!r}).write_text('x')\n")
    assert 0 == cli.within("ingest", "code.py").code
    place = tmp_path / ".resource_maps" / "code_py.json"
    plain = json.loads(place.read_text("utf-8"))
    plain["mapper"] = {"name": f"custom:{mapper}", "version": "1"}
    plain["metadata"] = {"mapper": str(mapper), "adapter": str(mapper), "__class__": "mine.Mapper"}
    place.write_text(json.dumps(plain))

    for words in (
        ("list",),
        ("structure", "code_py"),
        ("versions", "code_py"),
        ("resolve", "code_py", "first", "--remap"),
        ("ingest", "code.py"),
        ("doctor",),
        ("validate", str(place)),
    ):
        cli.within(*words)
    anyio.run(_tell_tools_of, tmp_path, str(mapper))
    unnamed = mark.exists()
    cli.within("ingest", "code.py", "--mapper", "mine.py", "--force")

    assert (False, True) == (unnamed, mark.exists())


async def _tell_tools_of(home: Path, mapper: str) -> None:
    async with Client(build_server(bootstrap(home=home))) as client:
        for tool in (await client.list_tools()).tools:
            for extra in ({}, {"mapper": mapper}, {"adapter": mapper}):
                properties = tool.input_schema["properties"]
                texts = {
                    name: mapper
                    for name, schema in properties.items()
                    if schema.get("type") == "string" and "enum" not in schema
                }
                await client.call_tool(tool.name, {**texts, **extra})
                known = {
                    name: value
                    for name, value in {"resource_id": "code_py", "node_id": "first", "remap": True}.items()
                    if name in properties
                }
                await client.call_tool(tool.name, {**known, **extra})
