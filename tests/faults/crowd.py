"""Eight processes over one home at once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from attrs import define, field

from citekit import CiteKit
from tests.faults.audited import Log, audited
from tests.faults.table import Row
from tests.faults.truth import shelf, text

AREA = "processes"

PATIENCE = 60.0
"""Seconds beyond its time after which a process that has not ended hangs."""

GRACE = 1.0
"""Seconds in which evidence that was given out is not dropped; the product's are ten, too long to wait for here."""

LIMIT = 4000
"""Bytes of a store in which there is never room for all."""


@define
class Crowd:
    """What the processes of one run did."""

    home: Path
    log: Log
    deeds: Counter[str] = field(factory=Counter)
    refused: Counter[str] = field(factory=Counter)
    wrong: list[str] = field(factory=list)

    @classmethod
    def at_work(
        cls, folder: Path, seconds: float, *, processes: int = 8, servers: int = 8, pressure: bool, library: bool = True
    ) -> Crowd:
        """Let them work, and look at what they left. `pressure` gives the store too little room."""
        crowd = cls(folder / "home", Log(folder / "log"))
        known = [*shelf(), *map(text, ("guest0", "guest1", "guest2"))]
        paths = [each.write(crowd.home / "sources") for each in known]
        kit = audited(crowd.home, crowd.log)
        for each, path in zip(known, paths, strict=True):
            kit.ingest(path, resource_id=None if each.name == "guest2" else each.name)
        crowd._run(seconds, processes, servers, LIMIT if pressure else None, library)
        crowd.wrong += crowd._left(LIMIT if pressure else None)
        return crowd

    def row(self, what: str) -> Row:
        """One row of the table: deeds that were done, and those that ended well."""
        tried = sum(self.deeds.values())
        made = self.log.made("cut").total()
        note = f"{made} cut, {self.log.made('map').total()} mapped"
        if self.refused:
            note += "; refused as documented: " + ", ".join(f"{n} {name}" for name, n in sorted(self.refused.items()))
        if self.wrong:
            note += "; " + " / ".join(each.replace("|", "!").replace("\n", " ") for each in sorted(set(self.wrong))[:4])
        return Row(AREA, what, tried, tried - min(tried, len(self.wrong)), note)

    def _run(self, seconds: float, processes: int, servers: int, limit: int | None, library: bool) -> None:
        plan = {"home": str(self.home), "log": str(self.log.path), "limit": limit, "grace": GRACE}
        plan |= {"seconds": seconds, "patience": PATIENCE}
        running = [
            _started({**plan, "seed": seed, "serving": seed < servers, "library": library and seed % 2 == 0})
            for seed in range(processes)
        ]
        for process in running:
            assert process.stdout is not None
            process.stdout.readline()  # it is ready
        began = f"{time.time()}\n".encode()
        for process in running:
            assert process.stdin is not None
            process.stdin.write(began)
            process.stdin.close()
            process.stdin = None
        for process in running:
            out, err = process.communicate(timeout=seconds + 2 * PATIENCE)
            self._read(process.returncode, out, err)

    def _read(self, code: int, out: bytes, err: bytes) -> None:
        if code:
            self.wrong.append(f"a process ended with {code}: {err.decode(errors='replace')[-1500:]}")
            return
        told: dict[str, Any] = json.loads(out)
        self.deeds.update(told["deeds"])
        self.refused.update(told["refused"])
        self.wrong += told["wrong"]

    def _left(self, limit: int | None) -> Iterator[str]:
        """What is wrong with the home when all have gone."""
        kit = CiteKit(self.home)
        yield from (f"{each} was cut by two at once" for each in self.log.overlaps("cut"))
        yield from (f"{each} was mapped by two at once" for each in self.log.overlaps("map"))
        if limit is None:
            again = Counter({name: n for name, n in self.log.made("cut").items() if n > 1})
            yield from (f"{name} was cut {number} times" for name, number in again.items())
        again = self.log.made("map") - Counter(self.log.made("map").keys())
        removable = {_digest(text(f"guest{number}").data()) for number in range(3)}
        yield from (f"{name} was mapped {n + 1} times" for name, n in again.items() if name not in removable)
        yield from _lost(kit, self.home)
        yield from _leftovers(self.home)
        if limit is not None:
            time.sleep(GRACE + 0.1)
            audited(self.home, self.log, limit=limit, grace=GRACE).app.evidence.prune()
        store = audited(self.home, self.log, limit=limit, grace=GRACE).app.evidence
        if store.stats().size > store.stats().limit:
            yield f"the store has {store.stats().size} bytes of {store.stats().limit}"
        if store.verify().healed:
            yield "an object was damaged"


def _lost(kit: CiteKit, home: Path) -> Iterator[str]:
    """Maps that are not there, or of other bytes than their files."""
    ids = set(kit.resources())
    new = [path for path in (home / "sources").iterdir() if path.name.startswith("new")]
    wanted = {each.name: home / "sources" / each.file for each in shelf()} | {f"{path.stem}_txt": path for path in new}
    yield from (f"the map of {name} is lost" for name in sorted(wanted.keys() - ids))
    for name in sorted(wanted.keys() & ids):
        digest = kit.map(name).source_digest
        if digest is None or digest.hex != _digest(wanted[name].read_bytes()):
            yield f"the map of {name} is of other bytes"


def _leftovers(home: Path) -> Iterator[str]:
    """What nobody needs any more."""
    for path in home.rglob("*"):
        inside = path.relative_to(home).as_posix()
        if path.name.endswith(".tmp") or "/evidence/making/" in inside or "/evidence/locks/" in inside:
            yield f"{inside} was left"


def _digest(data: bytes) -> str:
    import hashlib

    return hashlib.sha256(data).hexdigest()


def _started(plan: dict[str, Any]) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.faults.crowd_worker", json.dumps(plan)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "CITEKIT_EMBEDDER": "hashing", "CITEKIT_MAPPER": "local"}
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, cwd=ROOT
    )


ROOT = Path(__file__).parents[2]
"""From where the modules of the tests are found."""


def run(seconds: float) -> Sequence[Row]:
    """With room for all, and under pressure, each for half of the time."""
    rows = []
    for what, pressure in (("8 processes, room for all", False), ("8 processes, eviction all the time", True)):
        with tempfile.TemporaryDirectory(prefix="citekit-faults-") as folder:
            rows.append(Crowd.at_work(Path(folder), seconds / 2, pressure=pressure).row(what))
    return rows
