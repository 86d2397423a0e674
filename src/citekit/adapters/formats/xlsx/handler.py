"""The format handler for workbooks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from citekit.adapters.formats.handler import NativeHandler, Services
from citekit.adapters.formats.shared.outline import Outliner
from citekit.domain.extent import Extent
from citekit.domain.formats import Format
from citekit.domain.ports.extractor import Extractor
from citekit.domain.ports.text_reader import TextReader


class XlsxHandler(NativeHandler):
    """A format handler for workbooks. A location is a sheet or a rectangle of its cells."""

    def outliner(self, format: Format, services: Services) -> Outliner:  # noqa: ARG002
        """See `FormatHandler.outliner`."""
        from citekit.adapters.formats.xlsx.outliner import XlsxOutliner

        return XlsxOutliner()

    def measure(self, path: Path, services: Services) -> Extent:  # noqa: ARG002
        """See `FormatHandler.measure`. The extent has the last row and column in use, for each sheet."""
        from citekit.adapters.formats.xlsx.workbook import Workbook
        from citekit.adapters.libraries.office_package import opened_package

        with opened_package(path) as package:
            workbook = Workbook.of(package)
            found = []
            for sheet in workbook.sheets:
                rows = columns = 0
                for value in workbook.values(sheet):
                    rows, columns = max(rows, value.row), max(columns, value.column)
                found.append((sheet.name, rows, columns))
            return Extent(sheets=tuple(found))

    def text_reader(self, services: Services, *, marked: bool) -> TextReader:  # noqa: ARG002
        """See `FormatHandler.text_reader`."""
        from citekit.adapters.formats.xlsx.text_reader import SheetsTextReader

        return SheetsTextReader(as_seen=marked)

    def extractors(self) -> Mapping[str, Callable[[Services], Extractor]]:
        """See `FormatHandler.extractors`."""
        return {"cells": _cells}


def _cells(_: Services) -> Extractor:
    from citekit.adapters.formats.xlsx.extractor import CellsExtractor

    return CellsExtractor()


HANDLER = XlsxHandler()
