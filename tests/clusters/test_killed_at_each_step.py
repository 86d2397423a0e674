"""A worker is killed before and after each step on the shared store and its catalog: the next one completes the job."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

import pytest

from citekit.adapters.libraries.postgres.database import Database
from citekit.adapters.storage.object_store.folder import FolderObjectStore
from citekit.container import bootstrap
from citekit.container.clusters import run
from citekit.container.container import Container
from citekit.domain.address import Address
from citekit.domain.distribution import DISTRIBUTION
from citekit.domain.jobs import IngestJob
from citekit.settings import settings_from
from citekit.wire import maps

STEPS = ((FolderObjectStore, ("put", "put_file", "read", "size", "listing")), (Database, ("run",)))
TEXT = "# Bees\n\nBees store honey.\n\n## Winter\n\nIn winter, bees rest.\n"


@contextmanager
def killed_at(step: int, *, is_after: bool) -> Iterator[None]:
    """Kill this process before or after the step with that number."""
    count = 0

    def stepped(method: Callable[..., object]) -> Callable[..., object]:
        def counted(*arguments: object, **named: object) -> object:
            nonlocal count
            count += 1
            is_last = count == step
            if is_last and not is_after:
                os.kill(os.getpid(), signal.SIGKILL)
            result = method(*arguments, **named)
            if is_last:
                os.kill(os.getpid(), signal.SIGKILL)
            return result

        return counted

    with pytest.MonkeyPatch.context() as patch:
        for kind, names in STEPS:
            for name in names:
                patch.setattr(kind, name, stepped(getattr(kind, name)))
        yield


def is_killed(work: Callable[[], object], step: int, *, is_after: bool) -> bool:
    """Do the work in a process of its own, and return whether it was killed at the step."""
    child = os.fork()
    if not child:
        code = 1
        try:
            with killed_at(step, is_after=is_after):
                work()
            code = 0
        finally:
            os._exit(code)
    status = os.waitpid(child, 0)[1]
    assert status in (0, signal.SIGKILL)
    return status != 0


def facts(app: Container, name: str) -> object:
    """The map without the time when it was made, and the evidence of its last node."""
    found = app.maps.get(name)
    cut = app.resolve(Address(name, found.nodes[-1].location))
    assert cut.output_path is not None
    text = [line for line in maps.to_json(found).splitlines() if '"created_at"' not in line]
    return text, cut.output_path.read_bytes()


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a system with fork")
@pytest.mark.parametrize("is_after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("has_catalog", [False, True], ids=["store", "catalog"])
def test_a_worker_that_is_killed_at_any_step_costs_only_its_job(
    request: pytest.FixtureRequest, tmp_path: Path, has_catalog: bool, is_after: bool
) -> None:
    catalog: str | None = request.getfixturevalue("postgres") if has_catalog else None
    file = tmp_path / "bees.md"
    file.write_text(TEXT)
    alone = bootstrap(settings_from({"CITEKIT_PARSERS": "inline"}, tmp_path / "alone"))
    alone.ingest(file)
    expected, step, was_killed = facts(alone, "bees_md"), 0, True

    while was_killed:
        step += 1
        place = tmp_path / str(step)
        settings = {"store": str(place / "store"), "parsers": "inline"} | ({"catalog": catalog} if catalog else {})
        variables = {"CITEKIT_STORE": settings["store"], "CITEKIT_PARSERS": "inline"}
        variables |= {"CITEKIT_DATABASE": catalog} if catalog else {}
        job = IngestJob(home=str(place / "first"), path=str(file), version=version(DISTRIBUTION), settings=settings)

        def work(job: IngestJob = job, place: Path = place, variables: dict[str, str] = variables) -> None:
            assert run(job).error is None
            facts(bootstrap(settings_from(variables, place / "first")), "bees_md")

        was_killed = is_killed(work, step, is_after=is_after)
        done = run(IngestJob(home=str(place / "second"), path=job.path, version=job.version, settings=settings))

        app = bootstrap(settings_from(variables, place / "second"))
        assert (None, ["bees_md"], 1) == (done.error, list(app.maps.ids()), len(app.maps.cards())), step
        assert ["00000001"] == [path.name for path in (place / "store/maps/rbees_md").iterdir()], step
        assert expected == facts(app, "bees_md"), step
    assert step > 8
