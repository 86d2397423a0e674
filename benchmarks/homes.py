"""Homes of many maps, written from templates: the product's own writer is not what is measured.

Titles and summaries are made of words whose frequencies follow Zipf, so that some words of a question are in half of the
nodes and some in a handful.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import random
import shutil
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from attrs import frozen

from benchmarks.places import BENCH

VERSION = "3"
"""Of what is written here; homes of another version are made again."""

VOCABULARY, SENTENCES = 20_000, 30_000
_SYLLABLES = ["".join(pair) for pair in itertools.product("bcdfghjklmnpqrstvwxz", "aeiou")]
_CREATED = "2026-01-05T09:30:00+00:00"

ASKED = "asked"
"""The id of the map of 200 nodes that is in every home, with a source of its own that is there."""

ASKED_NODES = 200


@frozen
class Home:
    """A folder with `maps` maps of `nodes` nodes each, and the one that is `ASKED`."""

    folder: Path
    maps: int
    nodes: int
    seconds: float

    def resource(self, number: int) -> str:
        """The id of a map."""
        return _name(number % self.maps)

    def node(self, number: int) -> str:
        """The id of a node, in every one of the maps."""
        return _node_id(number % self.nodes)


def home(maps: int, nodes: int) -> Home:
    """That home, as it was left by whoever used it before, or made now."""
    folder = BENCH / "homes" / f"{maps}x{nodes}"
    stamp, began = folder / "made", time.perf_counter()
    if not stamp.exists() or stamp.read_text("utf-8") != VERSION:
        shutil.rmtree(folder, ignore_errors=True)
        write(folder, maps, nodes)
        stamp.write_text(VERSION, "utf-8")
    return Home(folder, maps - 1, nodes, time.perf_counter() - began)


def write(folder: Path, maps: int, nodes: int) -> None:
    """Write so many maps to a new home."""
    (folder / ".resource_maps").mkdir(parents=True)
    _write_asked(folder)
    _write_maps(folder / ".resource_maps", maps - 1, nodes)


@cache
def _words() -> tuple[list[str], list[float]]:
    """The vocabulary, and how often each word comes, summed up."""
    made = itertools.islice(map("".join, itertools.product(_SYLLABLES, repeat=3)), 0, None, 41)
    short = itertools.islice(map("".join, itertools.product(_SYLLABLES, repeat=2)), 0, 9000, 30)
    vocabulary = [*short, *itertools.islice(made, VOCABULARY - 300)]
    random.Random(2).shuffle(vocabulary)
    return vocabulary, list(itertools.accumulate(1 / rank for rank in range(1, len(vocabulary) + 1)))


@cache
def sentences(length: int) -> list[str]:
    """Texts of that many words."""
    chosen, (vocabulary, frequency) = random.Random(length), _words()
    return [" ".join(chosen.choices(vocabulary, cum_weights=frequency, k=length)) for _ in range(SENTENCES)]


def questions(count: int) -> list[str]:
    """Questions of one to three words, as frequent as the texts have them but for the ten most frequent."""
    chosen, (vocabulary, frequency) = random.Random(3), _words()
    usual = [each - frequency[9] for each in frequency[10:]]
    return [" ".join(chosen.choices(vocabulary[10:], cum_weights=usual, k=1 + n % 3)) for n in range(count)]


def _name(number: int) -> str:
    return f"book-{number:06}"


def _node_id(number: int) -> str:
    return f"part_{number // 10 + 1}.section_{number % 10}" if number % 10 else f"part_{number // 10 + 1}"


def _write_maps(folder: Path, maps: int, nodes: int) -> None:
    chosen = random.Random(1)
    before = _frame(nodes)
    for number in range(maps):
        text = before(_name(number), f"texts/{number:06}.txt", f"{number:064x}", 40 * nodes, chosen.randrange(10**6))
        (folder / f"{_name(number)}.json").write_bytes(text.encode())


def _write_asked(folder: Path) -> None:
    text = "".join(f"Line {n}: {sentences(10)[n % SENTENCES]}.\n" for n in range(1, 40 * ASKED_NODES + 1)).encode()
    source = folder / "asked.txt"
    source.write_bytes(text)
    digest = hashlib.sha256(text).hexdigest()
    written = _frame(ASKED_NODES)(ASKED, str(source), digest, len(text), 0)
    (folder / ".resource_maps" / f"{ASKED}.json").write_text(written, "utf-8")


def _frame(nodes: int) -> Callable[[str, str, str, int, int], str]:
    """A function from (id, path, digest, size, seed) to the JSON of a map of so many nodes, in parts of ten."""
    titles, summaries = sentences(4), sentences(12)

    def node(number: int, seed: int, children: str) -> str:
        title = f"{titles[(seed + 7 * number) % SENTENCES]} {seed % 5000}"
        summary = summaries[(seed * 3 + 11 * number) % SENTENCES]
        first = 40 * number + 1
        return (
            f'{{"id":"{_node_id(number)}","title":"{title}","type":"section","location":{{"modality":"text",'
            f'"lines":[{first},{first + 39}]}},"summary":"{summary}","children":[{children}]}}'
        )

    def parts(seed: int) -> Iterator[str]:
        for first in range(0, nodes, 10):
            below = ",".join(node(number, seed, "") for number in range(first + 1, min(first + 10, nodes)))
            yield node(first, seed, below)

    def written(name: str, path: str, digest: str, size: int, seed: int) -> str:
        return (
            f'{{"resource_id":"{name}","type":"text","title":"{titles[seed % SENTENCES]}","source_path":{json.dumps(path)},'
            f'"metadata":{{"source_hash":"{digest}","source_size":{size},"format":"txt","line_count":{40 * nodes},'
            f'"map_version":1}},"nodes":[{",".join(parts(seed))}],"created_at":"{_CREATED}"}}\n'
        )

    return written
