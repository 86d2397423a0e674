"""Reads the cells of a sheet as they are shown, for a viewer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from citekit.adapters.formats.xlsx.text_reader import TEXT_LIMIT
from citekit.adapters.formats.xlsx.workbook import Workbook
from citekit.adapters.libraries.office_package import opened_package
from citekit.domain.errors import LocationOutside, SourceUnsupported
from citekit.domain.page_view import SheetRow


def sheet_rows(path: Path, name: str) -> Sequence[SheetRow]:
    """See `PageViews.rows`. Also raise `SourceUnsupported` if the texts have more than `TEXT_LIMIT` characters."""
    with opened_package(path) as package:
        workbook = Workbook.of(package)
        sheet = workbook.sheet(name)
        if sheet is None:
            raise LocationOutside(f"The workbook has no sheet named {name!r}.")
        merged, rows, length = workbook.merged(sheet), dict[int, dict[int, str]](), 0
        for value in workbook.values(sheet):
            text = " ".join(workbook.shown(value).split())
            merged.apply(value)
            if not text or not workbook.is_shown(value):
                continue
            rows.setdefault(value.row, {})[value.column] = text
            length += len(text)
            if length > TEXT_LIMIT:
                raise SourceUnsupported(
                    f"{path.name} has more than {TEXT_LIMIT >> 20} million characters of text; split it."
                )
    return [SheetRow(number, tuple(sorted(cells.items()))) for number, cells in sorted(rows.items())]
