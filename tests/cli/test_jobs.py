"""`citekit jobs`: what became of each file of the last ingest of many files."""

from __future__ import annotations

from pathlib import Path

import pytest

from citekit.adapters.storage.ingest_runs import KEPT, IngestRuns, stamp_of
from citekit.domain.ingest_run import FileResult, FileState
from tests.cli.program import Cli


def test_the_last_ingest_of_a_folder_is_shown(cli: Cli) -> None:
    none = cli("jobs")
    assert (1, True) == (none.code, "No ingest of several files is recorded" in none.err)
    cli.write("docs/a.md", "# A\n")
    cli.write("docs/b.md", "# B\n")
    cli("ingest", "docs")
    assert {"state": "ended", "files": 2, "done": 2, "skipped": 0, "failed": 0, "remaining": 0}.items() <= cli.json(
        "jobs"
    ).items()
    cli.write("docs/damaged.pdf", b"%PDF-1.7 and nothing else")
    cli("ingest", "docs")
    answer = cli("jobs", "--json")
    assert 1 == answer.code
    assert {"done": 0, "skipped": 2, "failed": 1, "remaining": 0}.items() <= answer.document.items()
    [problem] = answer.document["problems"]
    assert ("damaged.pdf", "failed") == (Path(problem["path"]).name, problem["state"])
    assert problem["reason"]
    assert "2 skipped, 1 failed" in cli("jobs").out


@pytest.fixture
def runs(tmp_path: Path) -> IngestRuns:
    return IngestRuns(tmp_path / "runs")


def test_a_run_that_lasts_is_running_and_one_that_was_killed_has_lost_files(runs: IngestRuns) -> None:
    seen = []

    def interrupted() -> None:
        with runs.recording(["/docs"], 3) as record:
            record(FileResult(path="/docs/a", state=FileState.DONE, resource_id="a"))
            seen.append(runs.last())
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    [now] = seen
    assert now is not None
    assert (True, 2, True) == (now.is_running, now.remaining, now.is_complete)
    [path] = runs.folder.glob("*.jsonl")
    path.write_text(path.read_text("utf-8") + '{"path": "/docs/b", "sta', "utf-8")
    ended = runs.last()
    assert ended is not None
    assert (False, 2, False, None) == (ended.is_running, ended.remaining, ended.is_complete, ended.ended)


def test_a_file_that_was_set_aside_is_remembered_until_it_is_mapped(runs: IngestRuns, tmp_path: Path) -> None:
    bad = tmp_path / "bad.md"
    bad.write_text("# Bad\n")
    with runs.recording(["."], 1) as record:
        record(FileResult(path=str(bad), state=FileState.SET_ASIDE, reason="It ended its workers."))
    assert stamp_of(bad) == runs.set_aside()[str(bad)].stamp
    bad.write_text("# Better\n")
    assert stamp_of(bad) != runs.set_aside()[str(bad)].stamp
    for _ in range(KEPT + 2):
        with runs.recording(["."], 1) as record:
            record(FileResult(path=str(bad), state=FileState.DONE, resource_id="bad"))
    assert {} == runs.set_aside()
    assert KEPT == len(list(runs.folder.glob("*.jsonl")))


@pytest.mark.parametrize("text", ["", "[]", "null", '{"started": 1}', '{"files": "x", "places": 1, "started": "2026"}'])
def test_a_damaged_record_counts_as_none(runs: IngestRuns, text: str) -> None:
    runs.folder.mkdir()
    (runs.folder / "20260101T000000.000000-1.jsonl").write_text(text)
    assert runs.last() is None
    assert {} == runs.set_aside()
