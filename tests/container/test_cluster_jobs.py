"""Jobs of a cluster leave in the home what mapping a folder leaves there."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

from citekit.container.clusters import run
from citekit.container.container import Container
from citekit.domain.distribution import DISTRIBUTION
from citekit.domain.jobs import IngestJob
from citekit.domain.text_search.blocks import TextBlock
from citekit.settings.chosen import Settings


def blocks_in(home: Path) -> dict[str, tuple[str, list[TextBlock]]]:
    index = Container(Settings(home=home)).text_index
    return {
        name: (known.version, list(index.blocks(name, known.version, range(index.size(name, known.version))).values()))
        for name, known in index.texts().items()
    }


def test_a_job_indexes_the_same_text_as_mapping_a_folder(tmp_path: Path) -> None:
    files = [tmp_path / f"{name}.md" for name in ("one", "two")]
    for path in files:
        path.write_text(f"# {path.stem}\n\nA sentence that only {path.stem} has.\n", "utf-8")
    for path in files:
        job = IngestJob(home=str(tmp_path / "cluster"), path=str(path), version=version(DISTRIBUTION))
        assert run(job).error is None
    done = list(Container(Settings(home=tmp_path / "folder")).ingest_many(files))
    assert all(each.error is None for each in done)
    assert blocks_in(tmp_path / "cluster") == blocks_in(tmp_path / "folder")
    assert set(blocks_in(tmp_path / "cluster")) == {"one_md", "two_md"}
