"""Streams a workbook with one sheet to a file: values, number formats, column widths, and merged cells.

Strings are stored in their cells (`inlineStr`), so that no string table has to be kept in memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from attrs import define, field

from citekit.adapters.formats.shared.reproducible_zip import still_archive
from citekit.adapters.formats.xlsx.cells import Value
from citekit.adapters.formats.xlsx.workbook import Workbook
from citekit.domain.errors import LocationMalformed
from citekit.domain.locations import Cells
from citekit.domain.locations.cells import cell_name

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_HEADER = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_KIND = "application/vnd.openxmlformats-officedocument.spreadsheetml."
_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_NUMBER = re.compile(r"-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_WIDTH = re.compile(r"\d{1,4}(?:\.\d{1,20})?", re.ASCII)
_FIRST_OWN = 164
"""The first ID of a number format that is not built in (18.8.30)."""

COLUMNS_KEPT = 500
MERGES_KEPT = 10_000


@define
class Layout:
    """The column widths and merged cells of a sheet, collected while the sheet is read."""

    widths: list[tuple[int, int, str]] = field(factory=list)
    merges: list[Cells] = field(factory=list)

    def see(self, tag: str, said: dict[str, str]) -> None:
        """Record the element `tag` with the attributes `said` if it is a column or a merged cell."""
        if tag == "col" and len(self.widths) < COLUMNS_KEPT and _WIDTH.fullmatch(said.get("width", "")):
            first, last = said.get("min", ""), said.get("max", "")
            if first.isdigit() and last.isdigit() and len(first) < 6 and len(last) < 6:
                self.widths.append((int(first), int(last), said["width"]))
        elif tag == "mergeCell" and len(self.merges) < MERGES_KEPT:
            try:
                self.merges.append(Cells.read("x", said.get("ref", "")))
            except LocationMalformed:
                return

    def keep(self, top: int, left: int, bottom: int, right: int) -> None:
        """Keep only the merged cells within the given rectangle of row and column numbers."""
        place = Cells("x", (top, left), (bottom, right))
        self.merges = [each for each in self.merges if place.contains(each) and each.first != each.last]


def write_workbook(workbook: Workbook, name: str, layout: Layout, values: Iterator[Value], target: Path) -> None:
    """Write `values` (sorted by row) to a workbook at `target`, at their original addresses on a sheet called `name`.

    Raise `HomeUnwritable` if the file cannot be written, and the errors of `values`.
    """
    styles = _Styles(workbook)
    with still_archive(target) as archive:
        for part, text in _frame(name, workbook.epoch.year == 1904).items():
            archive.add(part, [text.encode()])
        archive.add("xl/worksheets/sheet1.xml", _sheet(workbook, layout, values, styles))
        archive.add("xl/styles.xml", [styles.part().encode()])


def _frame(name: str, from_1904: bool) -> dict[str, str]:
    parts = (
        ("/xl/workbook.xml", "sheet.main"),
        ("/xl/worksheets/sheet1.xml", "worksheet"),
        ("/xl/styles.xml", "styles"),
    )
    overrides = "".join(f'<Override PartName="{part}" ContentType="{_KIND}{kind}+xml"/>' for part, kind in parts)
    default = '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    dates = '<workbookPr date1904="1"/>' if from_1904 else ""
    return {
        "[Content_Types].xml": f'{_HEADER}<Types xmlns="{_PACKAGE}/content-types">{default}{overrides}</Types>',
        "_rels/.rels": _relations(("officeDocument", "xl/workbook.xml")),
        "xl/workbook.xml": f'{_HEADER}<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}">{dates}<sheets>'
        f'<sheet name={quoteattr(_ILLEGAL.sub("", name))} sheetId="1" r:id="rId1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": _relations(("worksheet", "worksheets/sheet1.xml"), ("styles", "styles.xml")),
    }


def _relations(*targets: tuple[str, str]) -> str:
    lines = "".join(
        f'<Relationship Id="rId{number}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
        for number, (kind, target) in enumerate(targets, 1)
    )
    return f'{_HEADER}<Relationships xmlns="{_PACKAGE}/relationships">{lines}</Relationships>'


@define
class _Styles:
    """The cell styles of the new workbook in order of first use: number formats only."""

    workbook: Workbook
    codes: dict[str, int] = field(factory=lambda: {"{0}": 0})

    def number(self, value: Value) -> int:
        """Return the index of the style for `value`; add the style if it is new."""
        return self.codes.setdefault(self.workbook.format_of(value.style), len(self.codes))

    def part(self) -> str:
        """Return the styles part (ECMA-376 part 1, 18.8), with the entries that spreadsheet programs require."""
        own = [code for code in self.codes if not code.startswith("{")]
        ids = {code: _FIRST_OWN + number for number, code in enumerate(own)}
        formats = "".join(f'<numFmt numFmtId="{ids[code]}" formatCode={quoteattr(code)}/>' for code in own)
        styles = "".join(
            f'<xf numFmtId="{ids.get(code, code.strip("{}"))}" fontId="0" fillId="0" borderId="0" xfId="0" '
            'applyNumberFormat="1"/>'
            for code in self.codes
        )
        return (
            f'{_HEADER}<styleSheet xmlns="{_MAIN}">'
            + (f'<numFmts count="{len(own)}">{formats}</numFmts>' if own else "")
            + '<fonts count="1"><font><sz val="11"/><name val="Calibri"/></font></fonts>'
            '<fills count="2"><fill><patternFill patternType="none"/></fill>'
            '<fill><patternFill patternType="gray125"/></fill></fills>'
            '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>'
            '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>'
            f'<cellXfs count="{len(self.codes)}">{styles}</cellXfs>'
            '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>'
        )


def _sheet(workbook: Workbook, layout: Layout, values: Iterator[Value], styles: _Styles) -> Iterator[bytes]:
    first = next(values, None)
    yield f'{_HEADER}<worksheet xmlns="{_MAIN}">'.encode()
    if layout.widths:
        columns = (
            f'<col min="{a}" max="{b}" width="{width}" customWidth="1"/>' for a, b, width in layout.widths if a <= b
        )
        yield f"<cols>{''.join(columns)}</cols>".encode()
    yield b"<sheetData>"
    row = 0
    for value in _after(first, values):
        if value.row != row:
            yield f'{"</row>" if row else ""}<row r="{value.row}">'.encode()
            row = value.row
        yield _cell(workbook, value, styles.number(value)).encode()
    yield b"</row></sheetData>" if row else b"</sheetData>"
    if layout.merges:
        merged = "".join(f'<mergeCell ref="{each.range}"/>' for each in layout.merges)
        yield f'<mergeCells count="{len(layout.merges)}">{merged}</mergeCells>'.encode()
    yield b"</worksheet>"


def _after(first: Value | None, rest: Iterator[Value]) -> Iterator[Value]:
    if first is not None:
        yield first
        yield from rest


def _cell(workbook: Workbook, value: Value, style: int) -> str:
    """Return the markup of one cell with the style index `style`. Numbers are copied digit by digit."""
    start = f'<c r="{cell_name((value.row, value.column))}"' + (f' s="{style}"' if style else "")
    text = value.text.strip()
    if value.kind == "n" and _NUMBER.fullmatch(text):
        return f"{start}><v>{text}</v></c>"
    if value.kind in ("b", "e", "d"):
        return f'{start} t="{value.kind}"><v>{escape(_ILLEGAL.sub("", text))}</v></c>'
    words = escape(_ILLEGAL.sub("", workbook.shown(value)))
    return f'{start} t="inlineStr"><is><t xml:space="preserve">{words}</t></is></c>'
