"""Reads tables in Parquet files with PyArrow, which is imported on first use."""

from __future__ import annotations

import importlib
from collections.abc import Collection
from pathlib import Path
from typing import Any

from citekit.adapters.system.files import unreadable
from citekit.domain.errors import DriverMissing, FaultyAnswer

ROW_LIMIT = 5_000_000
SIZE_LIMIT = 1 << 30
"""Maximum total size, in bytes, of the uncompressed row groups of a file, according to its metadata."""


def table(pyarrow: Any) -> dict[type[BaseException], str]:
    """Map each exception that reading a table raises to a description of the problem with the file."""
    lib = pyarrow.lib
    return {
        lib.ArrowInvalid: "the file is damaged, or is not a Parquet file",
        lib.ArrowNotImplementedError: "the file uses a feature that PyArrow does not support",
        lib.ArrowMemoryError: "reading the file needs more memory than is available",
        lib.ArrowCapacityError: "the file is too large",
        lib.ArrowException: "the file may be damaged",
        MemoryError: "reading the file needs more memory than is available",
        UnicodeDecodeError: "the file contains text that is not UTF-8",
        OSError: "the file may be damaged",
    }


def read_rows(path: Path, columns: Collection[str]) -> list[dict[str, object]]:
    """Return the rows of the Parquet file at `path` as dictionaries of those of `columns` that exist.

    Raise `DriverMissing` if PyArrow is not installed, `SourceUnreadable` if the file cannot be read, or `FaultyAnswer`
    if it is damaged, unsupported, or too large.
    """
    try:
        pyarrow: Any = importlib.import_module("pyarrow")
        parquet: Any = importlib.import_module("pyarrow.parquet")
    except ImportError as error:
        raise DriverMissing(f"Reading {path.name}", "parquet") from error
    try:
        with path.open("rb") as stream:
            return _rows(parquet.ParquetFile(stream), path, columns)
    except tuple(table(pyarrow)) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise unreadable(error, path) from error
        says = next(text for kind, text in table(pyarrow).items() if isinstance(error, kind))
        detail = " ".join(str(error).split())[:200].rstrip(".") or type(error).__name__
        raise FaultyAnswer(str(path), [f"$: {says} ({detail})"]) from error


def _rows(file: Any, path: Path, columns: Collection[str]) -> list[dict[str, object]]:
    facts = file.metadata
    size = sum(facts.row_group(number).total_byte_size for number in range(facts.num_row_groups))
    if facts.num_rows > ROW_LIMIT or size > SIZE_LIMIT:
        raise FaultyAnswer(
            str(path),
            [
                f"$: the table has {facts.num_rows:,} rows and {size:,} bytes, but the limits are {ROW_LIMIT:,} rows and "
                f"{SIZE_LIMIT:,} bytes"
            ],
        )
    wanted = [name for name in file.schema_arrow.names if name in columns]
    rows: list[dict[str, object]] = file.read(columns=wanted, use_threads=False).to_pylist()
    return rows
