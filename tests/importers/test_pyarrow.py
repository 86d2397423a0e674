"""Parquet, where PyArrow is installed; and what is said where it is not."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from citekit.adapters.libraries import pyarrow as driver
from citekit.container import bootstrap
from citekit.domain.errors import FaultyAnswer, SourceUnreadable
from tests.foreign_indexes import GRAPHRAG, TEXT


@pytest.fixture
def pyarrow() -> Any:
    return pytest.importorskip("pyarrow", reason="the extra 'parquet' is not installed")


@pytest.fixture
def parquet(pyarrow: Any, tmp_path: Path) -> Callable[..., Path]:
    import importlib

    writer: Any = importlib.import_module("pyarrow.parquet")

    def write(name: str, rows: list[dict[str, Any]], **options: Any) -> Path:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        writer.write_table(pyarrow.Table.from_pylist(rows), path, **options)
        return path

    return write


@pytest.mark.parametrize("compression", ["snappy", "zstd", "gzip", "none"])
def test_a_folder_of_parquet_gives_what_the_same_rows_give(
    parquet: Callable[..., Path], tmp_path: Path, compression: str
) -> None:
    for name, rows in GRAPHRAG.items():
        embedded = [{**row, "description_embedding": [0.5] * 8} for row in rows]
        parquet(f"output/{name}.parquet", embedded, compression=compression)
    story = tmp_path / "story.txt"
    story.write_text(TEXT)
    app = bootstrap(home=tmp_path / "home")
    source = app.sources.identify(story)

    from_files = app.adapter_called("graphrag").adapt(tmp_path, "graph", source)
    from_rows = app.adapter_called("graphrag").adapt(GRAPHRAG, "graph", source)

    assert from_rows.nodes == from_files.nodes


def test_only_the_wanted_columns_are_read(parquet: Callable[..., Path]) -> None:
    path = parquet("entities.parquet", [{"id": "a", "embedding": [1.0]}])

    assert [{"id": "a"}] == driver.read_rows(path, {"id", "title"})


@pytest.mark.parametrize("data", [b"", b"PAR1", b"PAR1" + b"\0" * 50 + b"PAR1", b"{}", b"\xff" * 200])
def test_a_file_that_is_no_parquet_is_one_clear_error(pyarrow: Any, tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "entities.parquet"
    path.write_bytes(data)

    with pytest.raises(FaultyAnswer, match=r"entities\.parquet"):
        driver.read_rows(path, {"id"})


def test_a_file_cut_anywhere_is_one_clear_error(parquet: Callable[..., Path], tmp_path: Path) -> None:
    whole = parquet("whole.parquet", GRAPHRAG["entities"]).read_bytes()
    path = tmp_path / "cut.parquet"
    for size in range(0, len(whole), 97):
        path.write_bytes(whole[:size])
        with pytest.raises(FaultyAnswer):
            driver.read_rows(path, {"id"})


def test_damaged_bytes_are_an_error_of_ours_or_are_not_noticed(parquet: Callable[..., Path], tmp_path: Path) -> None:
    whole = bytearray(parquet("whole.parquet", GRAPHRAG["text_units"]).read_bytes())
    path = tmp_path / "damaged.parquet"
    refused = 0
    for place in range(0, len(whole), 41):
        damaged = bytearray(whole)
        damaged[place] ^= 0xFF
        path.write_bytes(damaged)
        try:
            driver.read_rows(path, {"id", "text"})
        except FaultyAnswer:
            refused += 1

    assert refused


def test_a_missing_file_is_reported(pyarrow: Any, tmp_path: Path) -> None:
    with pytest.raises(SourceUnreadable, match="no such file"):
        driver.read_rows(tmp_path / "none.parquet", {"id"})


def test_a_file_of_more_rows_than_are_read_is_refused(
    parquet: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = parquet("entities.parquet", [{"id": str(n)} for n in range(5)])
    monkeypatch.setattr(driver, "ROW_LIMIT", 4)

    with pytest.raises(FaultyAnswer, match="exceed the limit"):
        driver.read_rows(path, {"id"})


def test_every_exception_of_pyarrow_is_in_the_table(pyarrow: Any) -> None:
    known = tuple(driver.table(pyarrow))
    kinds = [kind for kind in vars(pyarrow.lib).values() if isinstance(kind, type) and issubclass(kind, Exception)]

    own = [kind for kind in kinds if kind.__module__.startswith("pyarrow")]

    assert [] == [kind.__name__ for kind in own if not issubclass(kind, known)]
    assert own


@pytest.mark.long
def test_without_pyarrow_the_extra_is_named(tmp_path: Path) -> None:
    (tmp_path / "entities.parquet").write_bytes(b"PAR1")
    program = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "from citekit.entrypoints.cli.program import run\n"
        "sys.exit(run(['adapt', 'entities.parquet', '--adapter', 'graphrag']))"
    )

    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)

    assert 1 == done.returncode
    assert "pip install 'citekit-evidence[parquet]'" in done.stderr
