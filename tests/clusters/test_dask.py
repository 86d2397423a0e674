"""Mapping on a cluster of Dask workers, real processes of which some are killed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from attrs import define, evolve, field

from citekit.adapters.clusters.dask import DaskCluster, connect
from citekit.application.ingest_many import Outcome
from citekit.container import bootstrap
from citekit.container.clusters import ingest_on, run
from citekit.domain.distribution import DISTRIBUTION
from citekit.domain.errors import (
    CiteKitError,
    ClusterUnavailable,
    HomeUnwritable,
    RequestRefused,
    SourceSetAside,
    SourceUnsupported,
)
from citekit.domain.ingest_run import FileResult, FileState
from citekit.domain.jobs import IngestJob, JobResult
from citekit.settings import settings_from
from citekit.wire.errors import to_plain_error

pytestmark = pytest.mark.long

pytest.importorskip("distributed", reason="the extra 'scale' is not installed")

ROOT = Path(__file__).parents[2]
VERSION = version(DISTRIBUTION)


def end_the_worker(job: IngestJob) -> JobResult:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError(job)


def job_for(home: Path, **other: Any) -> IngestJob:
    return IngestJob(home=str(home), path="", version=VERSION, **other)


def maps_in(home: Path) -> dict[str, str]:
    """Every map as it is stored, without the time when it was made."""
    found = {}
    for path in sorted((home / ".resource_maps").glob("*.json")):
        found[path.name] = "\n".join(
            line for line in path.read_text("utf-8").splitlines() if '"created_at"' not in line
        )
    return found


@pytest.fixture
def cluster() -> Iterator[DaskCluster]:
    started = connect("local:2", run)
    yield started
    started.close()


@pytest.fixture(params=[14, pytest.param(40, marks=pytest.mark.slow)])
def mixed_files(request: pytest.FixtureRequest, tmp_path: Path) -> list[Path]:
    """Real files of several formats, one of them damaged, and two with the same name."""
    samples = [ROOT / "src/citekit/samples" / name for name in ("PDDocument.java", "imageTextN.png")]
    code = sorted((ROOT / "src/citekit/domain").glob("*.py"))[:30]
    pages = sorted((ROOT / "docs/reference").glob("*.md"))
    large = [ROOT / "src/citekit/samples/r-intro.pdf"] if request.param == 40 else []
    chosen = [*samples, *large, *code[:: 30 // (request.param - 10)], *pages]
    folder = tmp_path / "files"
    (folder / "other").mkdir(parents=True)
    files = [Path(shutil.copy(path, folder)) for path in chosen[: request.param - 2]]
    (folder / "damaged.pdf").write_bytes(b"%PDF-1.7 and nothing else")
    return [*files, folder / "damaged.pdf", Path(shutil.copy(code[0], folder / "other"))]


def kill_a_worker(cluster: DaskCluster) -> None:
    nanny = next(each for each in cluster._server.workers.values() if each.pid)
    os.kill(nanny.pid, signal.SIGKILL)


def test_workers_that_dask_gives_up_are_replaced(mixed_files: list[Path], tmp_path: Path) -> None:
    import dask

    app = bootstrap(home=tmp_path / "home")
    with dask.config.set({"distributed.deploy.lost-worker-timeout": "1ms"}), closing(connect("local:1", run)) as one:
        kill_a_worker(one)

        done = list(ingest_on(one, app)(mixed_files, job_for(tmp_path / "home")))

    assert sorted(mixed_files) == sorted(each.path for each in done)


def test_parsers_stay_within_the_memory_limit_of_a_worker(tmp_path: Path) -> None:
    """The worker has 200 MB for itself."""
    paragraphs = "\n".join(f"<p>{sha256(str(n).encode()).hexdigest()}</p>" for n in range(80_000))
    (tmp_path / "large.html").write_text(f"<h1>A</h1>{paragraphs}")
    (tmp_path / "small.md").write_text("# A\n")

    with closing(with_memory("310MB")) as limited:
        large, small = (result_of(limited, tmp_path, name) for name in ("large.html", "small.md"))
    with closing(with_memory("2GB")) as roomy:
        again = result_of(roomy, tmp_path, "large.html")

    assert isinstance(large, JobResult)
    assert "on a cluster, the memory limit of its workers" in str(large.error)
    assert isinstance(small, JobResult)
    assert small.card is not None
    assert isinstance(again, JobResult)
    assert again.card is not None


def test_a_worker_with_too_little_memory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "small.md").write_text("# A\n")

    with closing(with_memory("250MB")) as limited:
        done = result_of(limited, tmp_path, "small.md")

    assert isinstance(done, JobResult)
    assert "may use only 250 MB of memory" in str(done.error)


def with_memory(limit: str) -> DaskCluster:
    """A cluster of one worker with this memory limit."""
    from distributed import Client, LocalCluster

    server = LocalCluster(n_workers=1, threads_per_worker=1, memory_limit=limit, dashboard_address=None)
    return DaskCluster("local:1", run, Client(server), server)


def result_of(cluster: DaskCluster, home: Path, name: str) -> JobResult | CiteKitError:
    """What comes of mapping a file of the folder `home`, which is the home, too."""
    cluster.submit(evolve(job_for(home, settings={"parsers": "subprocess"}), path=str(home / name)))
    done = None
    while done is None:
        done = cluster.finished(1)
    return done[1]


def test_a_result_that_is_lost_with_its_worker_is_made_again(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n")
    with closing(connect("local:1", run)) as one:
        one.submit(evolve(job_for(tmp_path), path=str(tmp_path / "a.md")))
        [(_, future)] = one._running.values()
        assert future.result(timeout=60)
        kill_a_worker(one)
        end = time.monotonic() + 30
        while future.status == "finished":
            assert time.monotonic() < end
            time.sleep(0.001)

        done = None
        while done is None:
            done = one.finished(1)

    assert isinstance(done[1], JobResult)
    assert done[1].card is not None


def test_maps_made_while_workers_are_killed_equal_those_of_one_process(
    cluster: DaskCluster, mixed_files: list[Path], tmp_path: Path
) -> None:
    here, there = bootstrap(home=tmp_path / "here"), bootstrap(home=tmp_path / "there")
    expected = list(here.ingest_many(mixed_files, concurrency=1))

    done: list[Outcome] = []
    for outcome in ingest_on(cluster, there)(mixed_files, job_for(tmp_path / "there")):
        done.append(outcome)
        if len(done) in (2, len(mixed_files) // 2):
            kill_a_worker(cluster)

    assert sorted(mixed_files) == sorted(each.path for each in done)
    assert {each.path for each in expected if each.error} == {each.path for each in done if each.error}
    assert ["damaged.pdf"] == [each.path.name for each in done if each.error]
    assert maps_in(tmp_path / "here") == maps_in(tmp_path / "there")
    again = list(ingest_on(cluster, there)(mixed_files[:3], job_for(tmp_path / "there")))
    assert [False] * 3 == [each.ingested is not None and each.ingested.mapped_now for each in again]


@pytest.mark.slow
def test_a_file_that_ends_its_workers_is_set_aside(tmp_path: Path) -> None:
    import dask

    with dask.config.set({"distributed.scheduler.allowed-failures": 0}):  # type: ignore[no-untyped-call, unused-ignore]
        cluster = connect("local:1", end_the_worker)
        try:
            [outcome] = ingest_on(cluster, bootstrap(home=tmp_path))([tmp_path / "bad.md"], job_for(tmp_path))
        finally:
            cluster.close()
    assert isinstance(outcome.error, SourceUnsupported)
    assert "was set aside" in str(outcome.error)


@define
class Scripted:
    """Runs jobs in this process, and returns what `script` has for them first."""

    script: list[CiteKitError]
    jobs: list[IngestJob] = field(factory=list)
    tried: int = 0
    workers: int = 2
    dashboard: str | None = None

    def submit(self, job: IngestJob) -> None:
        self.jobs.append(job)

    def finished(self, seconds: float) -> tuple[IngestJob, JobResult | CiteKitError] | None:
        self.tried += 1
        job = self.jobs.pop(0)
        return job, JobResult(error=to_plain_error(self.script.pop(0))) if self.script else run(job)

    def close(self) -> None:
        pass


def mapped_by(cluster: Scripted, home: Path, **other: Any) -> list[Outcome]:
    path = home / "a.md"
    if not path.exists():
        path.write_text("# A\n")
    return list(ingest_on(cluster, bootstrap(home=home))([home / "a.md"], job_for(home, **other)))


def test_a_temporary_error_of_a_worker_is_repeated(tmp_path: Path) -> None:
    cluster = Scripted([HomeUnwritable("The disk is full."), HomeUnwritable("The disk is full.")])

    [outcome] = mapped_by(cluster, tmp_path)

    assert outcome.error is None
    assert 3 == cluster.tried


def test_the_client_does_not_read_the_maps_of_a_shared_store(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n")
    store = str(tmp_path / "store")
    app = bootstrap(settings_from({"CITEKIT_STORE": store}, tmp_path / "client"))
    app.made["objects"] = UnusedStore()

    [outcome] = ingest_on(Scripted([]), app)([tmp_path / "a.md"], job_for(tmp_path, settings={"store": store}))

    assert outcome.ingested is not None
    assert ("a_md", True) == (outcome.ingested.card.resource_id, outcome.ingested.mapped_now)


class UnusedStore:
    """A store that nobody asks."""


def test_a_lasting_error_is_repeated_twice_and_a_permanent_one_never(tmp_path: Path) -> None:
    full = Scripted([HomeUnwritable("The disk is full.")] * 9)
    damaged = Scripted([SourceUnsupported("The file is damaged.")] * 9)

    assert isinstance(mapped_by(full, tmp_path)[0].error, HomeUnwritable)
    assert isinstance(mapped_by(damaged, tmp_path)[0].error, SourceUnsupported)
    assert (3, 1) == (full.tried, damaged.tried)


def test_a_file_that_was_set_aside_is_tried_again_only_if_it_changed_or_by_force(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("# A\n")
    with bootstrap(home=tmp_path).ingest_runs.recording(["."], 1) as record:
        record(FileResult(path=str(path), state=FileState.SET_ASIDE, reason="It was set aside."))

    [kept] = mapped_by(Scripted([]), tmp_path)
    assert isinstance(kept.error, SourceSetAside)
    [forced] = mapped_by(Scripted([]), tmp_path, force=True)
    path.write_text("# Another A\n")
    [changed] = mapped_by(Scripted([]), tmp_path)
    assert (None, None) == (forced.error, changed.error)


def test_a_worker_of_another_version_refuses(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n")

    done = run(IngestJob(home=str(tmp_path), path=str(tmp_path / "a.md"), version="0.9"))

    assert done.error is not None
    assert "Install the same version on both" in str(done.error["text"])


@pytest.mark.parametrize("address", ["", "local", "local:0", "host", "http://x"])
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(RequestRefused, match="local:N"):
        connect(address, run)


def test_the_link_to_the_dashboard_of_a_running_scheduler_is_printed(tmp_path: Path) -> None:
    distributed: Any = pytest.importorskip("distributed")
    (tmp_path / "a.md").write_text("# A\n")
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    with distributed.LocalCluster(**options) as cluster:
        command = [sys.executable, "-m", "citekit", "--home", str(tmp_path / "home"), "ingest", str(tmp_path / "a.md")]

        done = subprocess.run(
            [*command, "--cluster", cluster.scheduler_address], capture_output=True, text=True, timeout=120, check=True
        )

    assert f"Dashboard of the cluster: {cluster.dashboard_link}\n" in done.stderr


def test_a_scheduler_that_does_not_answer_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("citekit.adapters.clusters.dask.CONNECT_SECONDS", 0.5)
    with pytest.raises(ClusterUnavailable, match=r"tcp://127\.0\.0\.1:9 cannot be reached"):
        connect("tcp://127.0.0.1:9", run)


@pytest.mark.slow
def test_the_command_maps_on_processes(tmp_path: Path) -> None:
    for name in ("a.md", "b.md"):
        (tmp_path / name).write_text(f"# {name}\n")
    command = [sys.executable, "-m", "citekit", "--json", "ingest", ".", "--cluster", "local:1"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)

    assert 0 == done.returncode, done.stderr
    assert {"a_md", "b_md"} == {each["resource_id"] for each in json.loads(done.stdout)["ingested"]}
