"""Caches that somebody forged: in place, and in a home that was sealed elsewhere and then handed over."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import sqlite3
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from citekit.adapters.search.node_search.index_writer import code_parts
from citekit.adapters.search.node_search.sqlite_tables import NodeRow
from citekit.adapters.search.text_index.sqlite_index import DATABASE, block_parts
from citekit.adapters.system.file_state import FileState
from citekit.adapters.system.home_seal import CODE_SIZE, HomeSeal
from citekit.container.names import TEXTS
from tests.faults.links import Place
from tests.faults.table import Row, Scale

ANSWERS: tuple[tuple[str, ...], ...] = (
    ("list", "--json"),
    ("structure", "bees", "--json"),
    ("verify-quote", "text://bees#lines=1-7", "The queen bee lays eggs", "--json"),
    ("verify-quote", "text://bees#lines=1-7", "The queen bee lays gold", "--json"),
    ("search", "honey", "--json"),
    ("search", "gold", "--json"),
    ("resolve", "text://bees#lines=1-3", "--json"),
    ("verify", ".citekit_output/bees_lines_1-3.md", "--json"),
)
"""What is asked in a home with a forged cache, and in the same one without its cache."""

FOUND: tuple[tuple[str, ...], ...] = (("find", "queen", "--json"), ("find", "gold", "--json"))
"""What is asked if the index of texts is forged. A source that has changed is searched only with its indexed text."""

TRUE, FORGED = "eggs", "gold"
"""A word of the source, and what a forger puts in its place."""

Forge = Callable[[Path], int]
"""Changes the cache of a home, and seals what it changed as that home would; gives how many things it changed."""


def run(_scale: Scale) -> Sequence[Row]:
    """Each forgery, in both ways."""
    with tempfile.TemporaryDirectory(prefix="citekit-forged-") as folder:
        trials = list(each_trial(Path(folder).resolve()))
    wrong = [f"{trial}: {fault}" for trial, fault in trials if fault is not None]
    for each in wrong:
        sys.stderr.write(f"{each}\n")
    return [
        Row(
            "handed over",
            "forged caches, in place and out of another home",
            len(trials),
            len(trials) - len(wrong),
            " / ".join(wrong),
        )
    ]


def each_trial(folder: Path) -> Iterator[tuple[str, str | None]]:
    """The name of each trial, and what is wrong with it."""
    place = Place.filled(folder)
    for name, forge in FORGERIES.items():
        for handed_over in (False, True):
            way = (
                "handed over, with the codes of another home"
                if handed_over
                else "in place, with the codes that were there"
            )
            yield f"{name}, {way}", wrong_with(place, forge, handed_over=handed_over)


def wrong_with(place: Place, forge: Forge, *, handed_over: bool) -> str | None:
    """What the answers of a forged home have that those of the same home without a cache do not have."""
    forged = place.home.with_name("forged")
    for each in (forged, place.home):
        shutil.rmtree(each, ignore_errors=True)
    shutil.copytree(place.template, place.home)
    questions = FOUND if forge is _indexed_texts else ANSWERS
    _asked(place, questions)  # from here on, everything bears the seal of this home
    with resealed() if handed_over else untouched():
        if not forge(place.home):
            return "nothing was there to forge"
    if handed_over:
        shutil.copytree(place.home, forged)
        shutil.rmtree(place.home)
        forged.rename(place.home)
    answers = _asked(place, questions)
    shutil.rmtree(place.home / ".citekit_cache")
    expected = _asked(place, questions)
    return next((f"{' '.join(words)}: {one} instead of {other}" for words, one, other in zip(questions, answers, expected, strict=True) if one != other), None)  # fmt: skip


def _asked(place: Place, questions: Sequence[tuple[str, ...]]) -> list[str]:
    told = [json.loads(line) for line in place.call((), questions).stdout.splitlines()]
    assert len(told) == len(questions), told
    return [f"{each['code']} {_timeless(each['out'])} {_timeless(each['said'])}" for each in told]


def _timeless(text: str) -> str:
    text = re.sub(r"\d{4}-\d\d-\d\dT[\d:.+Z-]+", "TIME", text)
    return re.sub(r'"(seconds|reused|made_now|cached|from_cache|score)": [^,\n}]+', r'"\1": X', text)


_sealing = False


@contextmanager
def resealed() -> Iterator[None]:
    """Forgers have the seal of the home that they forge in."""
    global _sealing
    _sealing = True
    try:
        yield
    finally:
        _sealing = False


@contextmanager
def untouched() -> Iterator[None]:
    """Forgers have no seal: the codes stay as they are."""
    yield


def _code(folder: Path, before: str, *parts: bytes) -> str:
    """The code in front of what is written instead of `before`."""
    return HomeSeal(folder).code(*parts).hex() if _sealing else before[: 2 * CODE_SIZE]


def _texts(home: Path) -> int:
    changed = 0
    for path in (home / ".citekit_cache" / "quotable-1").glob("*/*.json"):
        header, _, payload = path.read_bytes().partition(b"\n")
        start, before = header[:-32], header[-32:].decode()
        payload = payload.replace(TRUE.encode(), FORGED.encode())
        code = _code(path.parent.parent, before, f"quotable {path.parent.name}/{path.name}".encode(), payload)
        path.write_bytes(start + code.encode() + b"\n" + payload)
        changed += 1
    return changed


def _evidence(home: Path) -> int:
    """The row of a piece of evidence points at an object with other bytes, which are named by their right digest."""
    folder = home / ".citekit_cache" / "index-1"
    data = b"# Bees\n\nThe queen bee lays gold.\n"
    digest = hashlib.sha256(data).hexdigest()
    path = home / ".citekit_cache" / "evidence" / "objects" / digest[:2] / digest[2:]
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    path.chmod(0o444)
    time.sleep(0.1)
    state, now, changed = [*FileState.of(path.stat())], time.time(), 0
    with closing(sqlite3.connect(folder / "evidence.db")) as database, database:
        for key, record in database.execute("SELECT key, record FROM evidence").fetchall():
            plain = json.dumps({**json.loads(record[2 * CODE_SIZE :]), "state": state, "since": now, "seen": now})
            code = _code(folder, record, b"evidence", key, bytes.fromhex(digest), plain.encode())
            row = (bytes.fromhex(digest), code + plain, key)
            database.execute("UPDATE evidence SET object = ?, record = ? WHERE key = ?", row)
            changed += 1
    return changed


def _digests(home: Path) -> int:
    """The source is edited, and the index says that its bytes are the old ones."""
    folder, source = home / ".citekit_cache" / "index-1", home / "bees.md"
    mapped = hashlib.sha256(source.read_bytes()).hexdigest()
    source.write_text(source.read_text().replace(TRUE, FORGED))
    key = f"state:{FileState.of(source.stat())}"
    plain = json.dumps({"sha256": mapped})
    with closing(sqlite3.connect(folder / "cache.db")) as database, database:
        code = _code(folder, "0" * 2 * CODE_SIZE, b"index", key.encode(), plain.encode())
        database.execute("INSERT OR REPLACE INTO Cache (key, value) VALUES (?, ?)", (key, code + plain))
    return 1


def _index(home: Path) -> int:
    """Every answer in the index is another one."""
    folder, changed = home / ".citekit_cache" / "index-1", 0
    with closing(sqlite3.connect(folder / "cache.db")) as database, database:
        for key, value in database.execute("SELECT key, value FROM Cache").fetchall():
            plain = re.sub(r"[0-9a-f]{64}", "0" * 64, value[2 * CODE_SIZE :]).replace("7", "3")
            code = _code(folder, value, b"index", key.encode(), plain.encode())
            database.execute("UPDATE Cache SET value = ? WHERE key = ?", (code + plain, key))
            changed += 1
    return changed


def _cards(home: Path) -> int:
    folder, changed = home / ".citekit_cache" / "maps-1", 0
    with closing(sqlite3.connect(folder / "cards.db")) as database, database:
        for key, text, code in database.execute("SELECT key, text, mark FROM rows").fetchall():
            forged = text.replace("Bees", "Fake").replace("bees.md", "fake.md")
            mark = HomeSeal(folder).code(b"rows", key.encode(), forged.encode()) if _sealing else code
            database.execute("UPDATE rows SET text = ?, mark = ? WHERE key = ?", (forged, mark, key))
            changed += 1
    return changed


def _nodes(home: Path) -> int:
    folder, changed = home / ".citekit_cache" / "nodes-1", 0
    with closing(sqlite3.connect(folder / "nodes.db")) as database, database:
        maps = database.execute("SELECT first, slots, resource_id, version FROM map").fetchall()
        for row in map(NodeRow.of, database.execute("SELECT * FROM node").fetchall()):
            owner, version = next(each[2:] for each in maps if each[0] <= row.number < each[0] + each[1])
            forged = row._replace(title="Honey made of gold")
            code = HomeSeal(folder).code(*code_parts(owner, version, forged.facts)) if _sealing else row.code
            database.execute("UPDATE node SET title = ?, code = ? WHERE number = ?", (forged.title, code, row.number))
            changed += 1
    return changed


def _indexed_texts(home: Path) -> int:
    """The indexed texts have other words. Their words for the search stay, because "queen" is in both."""
    folder, changed = home / ".citekit_cache" / TEXTS, 0
    with closing(sqlite3.connect(folder / DATABASE)) as database, database:
        texts = database.execute("SELECT first, blocks, resource_id, version FROM text").fetchall()
        for number, data, code in database.execute("SELECT number, data, code FROM block").fetchall():
            first, _, owner, version = next(each for each in texts if each[0] <= number < each[0] + each[1])
            forged = zlib.compress(zlib.decompress(data).replace(TRUE.encode(), FORGED.encode()))
            mark = HomeSeal(folder).code(*block_parts(owner, version, number - first, forged)) if _sealing else code
            database.execute("UPDATE block SET data = ?, code = ? WHERE number = ?", (forged, mark, number))
            changed += 1
    return changed


FORGERIES: dict[str, Forge] = {
    "texts for quotes": _texts,
    "rows of evidence": _evidence,
    "the digest of a source that was edited": _digests,
    "answers of the index": _index,
    "cards of maps": _cards,
    "nodes for the search": _nodes,
    "texts for the search of words": _indexed_texts,
}
