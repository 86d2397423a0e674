"""What is in a home, looked at without CiteKit's own code; and what is wrong there."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from attrs import frozen

MAPS, CACHE, OUTPUT, LIBRARY = ".resource_maps", ".citekit_cache", ".citekit_output", ".citekit_library"

_PASSING = {"created_at", "created", "at", "ingested_at", "seconds", "made_now", "took"}
"""What differs between two runs that did the same."""


@frozen
class State:
    """Maps by file name, digests of the objects, outputs and receipts by file name, each book's last deed, and copies."""

    maps: Mapping[str, Any]
    objects: frozenset[str]
    outputs: Mapping[str, str]
    receipts: Mapping[str, Any]
    books: Mapping[str, Any]
    copies: Mapping[str, str]
    """Files that lie right in the home, where somebody had them put: digests by file name."""


@frozen
class Look:
    """A state, and what is torn."""

    state: State
    torn: tuple[str, ...]


def look(home: Path) -> Look:
    """Read everything in the home."""
    torn: list[str] = []
    maps = {name: plain for name, plain in _json_files(home / MAPS, torn) if ".bak" not in name}
    objects = frozenset(_objects(home / CACHE, torn))
    outputs = {path.name: _digest(path) for path in _files(home / OUTPUT)}
    receipts = dict(_json_files(home / OUTPUT / ".receipts", torn))
    copies = {path.name: _digest(path) for path in _files(home)}
    return Look(State(maps, objects, outputs, receipts, _books(home / LIBRARY, torn), copies), tuple(torn))


def databases(home: Path) -> list[str]:
    """Which SQLite files are damaged, by SQLite's own check; it may finish what a killed writer began."""
    found = []
    for path in sorted(home.rglob("*.db")):
        try:
            with closing(sqlite3.connect(path)) as connection:
                said = connection.execute("PRAGMA integrity_check").fetchone()[0]
        except sqlite3.Error as error:
            said = str(error)
        if said != "ok":
            found.append(f"{path.name}: {said}")
    return found


def leftovers(home: Path) -> set[str]:
    """Files that nobody needs once nothing runs: what has the name of something temporary, or lies where things are made."""
    found = set[str]()
    for path in home.rglob("*"):
        name = path.relative_to(home).as_posix()
        temporary = path.name.startswith((".new-", ".dropped-")) or (
            path.name.startswith(".") and path.suffix == ".tmp"
        )
        if temporary or "/making/" in name or (f"{CACHE}/" in name and "/locks/" in name):
            found.add(name)
    return found


def _files(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))


def _json_files(folder: Path, torn: list[str]) -> Iterator[tuple[str, Any]]:
    for path in _files(folder):
        try:
            yield path.name, lasting(json.loads(path.read_bytes()))
        except ValueError:
            torn.append(f"{folder.name}/{path.name} is torn")


def lasting(plain: Any) -> Any:
    """Without what differs between two runs that did the same."""
    if isinstance(plain, dict):
        return {name: lasting(value) for name, value in plain.items() if name not in _PASSING}
    return [lasting(each) for each in plain] if isinstance(plain, list) else plain


def _objects(cache: Path, torn: list[str]) -> Iterator[str]:
    for folder in cache.rglob("objects/*"):
        for path in folder.iterdir():
            named = folder.name + path.name
            if _digest(path) != named:
                torn.append(f"the object {named} is torn")
            yield named


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _books(library: Path, torn: list[str]) -> dict[str, Any]:
    """What the ledger says last about each book, read from a copy in memory: a killed writer's journal stays as it is."""
    path = library / "alexandria.db"
    if not path.exists():
        return {}
    try:
        with closing(sqlite3.connect(path)) as ledger:
            if ledger.execute("SELECT 1 FROM sqlite_master WHERE name = 'line'").fetchone() is None:
                return {}
            rows = ledger.execute("SELECT digest, deed FROM standing ORDER BY digest").fetchall()
    except sqlite3.Error as error:
        torn.append(f"the ledger: {error}")
        return {}
    return dict(rows)
