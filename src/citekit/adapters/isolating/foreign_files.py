"""Opens what other programs made, and the files that it speaks of, in a child."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from attrs import frozen

from citekit.adapters.isolating.children import Children
from citekit.wire.parsed import pages_from, rows_from


@frozen
class IsolatedForeignFiles:
    """Pages of PDFs, and tables in Parquet; raises `SourceUnsupported` where the child dies over the file."""

    children: Children

    def pages(self, path: Path) -> Sequence[tuple[str, str]]:
        """The label of each page of a PDF, and its text."""
        return pages_from(self.children.ask("pages", path, {"path": str(path)}))

    def rows(self, path: Path, columns: Collection[str]) -> Sequence[dict[str, Any]]:
        """The rows of a table, with those of `columns` that it has."""
        return rows_from(self.children.ask("rows", path, {"path": str(path), "columns": sorted(columns)}))
