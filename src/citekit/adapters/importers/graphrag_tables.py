"""Reads the tables that GraphRAG writes, as Parquet or JSON, from one file or a folder.

The schema is that of GraphRAG's "Outputs" documentation page (0.4 and later), or that of the older files
`create_final_*`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from attrs import define, field

from citekit.adapters.importers.foreign_files import ForeignFiles
from citekit.adapters.importers.json_files import in_folder, read_json
from citekit.domain.errors import FaultyAnswer

Row = Mapping[str, object]

TABLES = ("communities", "community_reports", "entities", "nodes", "text_units", "documents")
"""The supported tables; only old versions have `nodes`."""

COLUMNS = frozenset(
    {
        *("id", "human_readable_id", "community", "raw_community", "parent", "children", "level", "title", "name"),
        *("entity_ids", "text_unit_ids", "summary", "type", "description", "text", "document_ids"),
    }
)
"""The columns that are read; embeddings are not."""

_OLD = "create_final_"
_FOLDERS = (".", "output")


@define
class Tables:
    """The rows of GraphRAG's tables; a missing table has no rows."""

    communities: list[Row] = field(factory=list)
    community_reports: list[Row] = field(factory=list)
    entities: list[Row] = field(factory=list)
    nodes: list[Row] = field(factory=list)
    text_units: list[Row] = field(factory=list)
    documents: list[Row] = field(factory=list)

    def add(self, table: str, rows: Iterable[Row]) -> None:
        """Append `rows` to the table named `table`."""
        getattr(self, table).extend(rows)

    def __bool__(self) -> bool:
        return bool(self.communities or self.community_reports or self.entities)


def read_tables(data: object, where: str, files: ForeignFiles) -> Tables:
    """Return GraphRAG's tables from a folder, from one file, or from plain data; `files` reads Parquet.

    `where` names the data in messages. Raise `FaultyAnswer` if the data is not valid or has no communities, reports, or
    entities, and the errors of reading the files.
    """
    if isinstance(data, Path):
        tables = _read_folder(data, files) if data.is_dir() else _read_file(data, Tables(), files)
    else:
        tables = Tables()
        _add_rows(data, None, tables, where)
    if not tables:
        raise FaultyAnswer(where, ["$: the data contains no GraphRAG communities, community reports, or entities"])
    return tables


def _read_folder(folder: Path, files: ForeignFiles) -> Tables:
    tables = Tables()
    places = [folder / name for name in _FOLDERS]
    for table in TABLES:
        names = [f"{start}{table}{end}" for start in ("", _OLD) for end in (".parquet", ".json", ".jsonl")]
        found = next((path for place in places for name in names if (path := place / name).is_file()), None)
        if found is not None:
            _read_file(in_folder(folder, found), tables, files)
    if not tables:
        looked = "entities, communities, and community_reports (.parquet, .json, or .jsonl)"
        raise FaultyAnswer(str(folder), [f"$: the GraphRAG tables {looked} are missing or empty"])
    return tables


def _read_file(path: Path, tables: Tables, files: ForeignFiles) -> Tables:
    table = path.stem.removeprefix(_OLD)
    known = table if table in TABLES else None
    if path.suffix == ".parquet":
        _add_rows(files.rows(path, COLUMNS), known, tables, str(path))
    else:
        _add_rows(read_json(path), known, tables, str(path))
    return tables


def _add_rows(data: object, table: str | None, tables: Tables, where: str) -> None:
    """Add the rows of `data` to `table`; if it is None, to the tables that keys of `data` name or that the columns of
    the rows determine.
    """
    if isinstance(data, Mapping) and table is None:
        named = {key: rows for key, rows in data.items() if str(key).removeprefix(_OLD) in TABLES}
        if named:
            for key, rows in named.items():
                _add_rows(rows, str(key).removeprefix(_OLD), tables, where)
            return
    for row in _rows(data, where):
        tables.add(table or _table_of(row), [row])


def _rows(data: object, where: str) -> Sequence[Row]:
    """Return the rows in `data`: a list of objects, columns as pandas writes them, or an object that is one row."""
    if isinstance(data, Mapping):
        columns = [list(values.values()) if isinstance(values, Mapping) else values for values in data.values()]
        if not columns or not all(isinstance(values, list) for values in columns):
            return [data]
        return [dict(zip(data, row, strict=False)) for row in zip(*columns, strict=False)]
    if not isinstance(data, list):
        raise FaultyAnswer(
            where, [f"$: a table must be a list of rows or an object of columns, not {type(data).__name__}"]
        )
    wrong = next((number for number, row in enumerate(data) if not isinstance(row, Mapping)), None)
    if wrong is not None:
        raise FaultyAnswer(where, [f"$[{wrong}]: every row of a table must be a JSON object"])
    return data


def _table_of(row: Row) -> str:
    """Return the name of the table that a row belongs to, by its columns; `documents` for unknown rows."""
    if "description" in row and ("title" in row or "name" in row):
        return "entities"
    if "summary" in row and "title" in row:
        return "community_reports"
    if "community" in row and "level" in row:
        return "communities"
    return "text_units" if "text" in row and "title" not in row else "documents"


def text_of(row: Row, *names: str) -> str:
    """Return the first text in the columns `names`, without quotation marks around it, or ""."""
    for name in names:
        value = row.get(name)
        if isinstance(value, str) and value.strip():
            return value.strip().strip('"') or value
    return ""


def identifier(row: Row, *names: str) -> str:
    """Return the first identifier in the columns `names`, as text, or ""."""
    for name in names:
        found = as_identifier(row.get(name))
        if found:
            return found
    return ""


def as_identifier(value: object) -> str:
    """Return an identifier as text, or "" for other values, such as null, NaN, or a negative number (no parent)."""
    if isinstance(value, bool) or value is None:
        return ""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and value >= 0 else ""
    if isinstance(value, int):
        return str(value) if value >= 0 else ""
    text = value.strip() if isinstance(value, str) else ""
    return "" if text in ("-1", "nan", "None") else text


def identifiers(row: Row, name: str) -> list[str]:
    """Return the identifiers in the list in the column `name`; empty if the column contains no list."""
    value = row.get(name)
    return [found for each in value if (found := as_identifier(each))] if isinstance(value, list) else []
