"""Outlines delimited tables (RFC 4180 and variants) as a header and groups of rows."""

from __future__ import annotations

import csv
import re
from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from attrs import frozen

from citekit.adapters.formats.data.content import Content, open_data_file, read_content
from citekit.adapters.formats.data.groups import grouped
from citekit.adapters.formats.shared.line_parts import LinePart, source_bytes
from citekit.adapters.formats.shared.outline import Outline, OutlineItem, Outliner, one_line
from citekit.domain.library.extracted_text import ExtractedText
from citekit.domain.locations import Lines
from citekit.domain.phrases import counted
from citekit.domain.progress import Progress
from citekit.domain.quotes.superscripts import CUT
from citekit.domain.source import Source

ROWS = 50
"""The minimum number of rows in a group. The last group may have fewer."""

_DELIMITERS = (",", "\t", ";", "|")
_SAMPLE = 50
_SNIFFED = 200_000
_RECORD_LIMIT = 4000
_COLUMNS = 200
_NUMBER = re.compile(
    r"\s*[-+]?[\d.,'\u00a0 ]*\d[\d.,%]*(?:[eE][-+]?\d+)?\s*[%€$£]?\s*\Z|\s*\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}.*\Z"
)


@frozen
class CsvOutliner:
    """Outlines tables. `fallback` outlines files that are empty or too large, or in which no delimiter is found."""

    fallback: Outliner

    def outline(self, source: Source, progress: Progress) -> Outline:
        """See `Outliner.outline`. Rows are numbered from 1, not counting the header."""
        file = open_data_file(source, progress)
        if file.content is None:
            return file.by_lines(self.fallback, source, progress)
        table = read_table(file.content, "\t" if source.format.name == "tsv" else None)
        if table is None:
            return file.by_lines(self.fallback, source, progress)
        return Outline(title=None, extent=file.text.extent, items=table.items(), facts=table.facts())


@frozen
class Table:
    """A parsed table.

    `starts[i]` is the 1-based line where record i (counted from 0) begins. `first` is the index of the first data
    record: 1 after a header, or else 0.
    """

    content: Content
    delimiter: str
    starts: array[int]
    first: int
    columns: Sequence[str]
    last_line: int

    def facts(self) -> dict[str, object]:
        """Return the metadata of the table: row count, column count, and, with a header, the column names."""
        named = {"columns": list(self.columns)} if self.first else {}
        count = len(self.starts) - self.first
        return {**self.content.text.facts, "row_count": count, "column_count": len(self.columns), **named}

    def items(self) -> tuple[OutlineItem, ...]:
        """Return outline items for the header, if there is one, and for groups of rows."""
        count = len(self.starts) - self.first
        names = ", ".join(self.columns[:_COLUMNS])
        rows = grouped(count, self._location, self._name, type="rows", least=ROWS) if count else ()
        if not self.first:
            return rows
        return (
            OutlineItem(
                f"Header: {names}", "header", self._lines(0, 1), f"{counted(len(self.columns), 'column')}: {names}"
            ),
            *rows,
        )

    def _lines(self, start: int, end: int) -> Lines:
        after = self.starts[end] if end < len(self.starts) else self.last_line + 1
        return Lines(self.starts[start], max(self.starts[start], after - 1))

    def records_of(self, lines: Lines) -> Lines:
        """Return the lines of the records that have a line in `lines`, or `lines` if there is no such record."""
        first, last = (max(0, bisect_right(self.starts, line) - 1) for line in (lines.first, lines.last))
        whole = Lines(self._lines(first, first + 1).first, self._lines(last, last + 1).last)
        return whole if whole.overlaps(lines) else lines

    def _location(self, start: int, end: int) -> Lines:
        return self._lines(start + self.first, end + self.first)

    def _name(self, start: int, end: int) -> tuple[str, str | None]:
        low, high = self.cells(start + self.first), self.cells(end - 1 + self.first)
        ends = [one_line(row[0], 30) if row else "" for row in (low, high)]
        title = f"Rows {start + 1}-{end}" + (f": {ends[0]} - {ends[1]}" if all(ends) else "")
        if end - start == 1:
            title = f"Row {end}" + (f": {ends[0]}" if ends[0] else "")
        if not self.first:
            return title, self.delimiter.join(low).replace("\t", " ")
        pairs = zip(self.columns, low, strict=False)
        return title, "; ".join(f"{name}: {value}" for name, value in pairs if value)[:1000]

    def cells(self, record: int) -> list[str]:
        """Return the cells of the record with index `record`. Only the first 4,000 bytes of a record are parsed."""
        location = self._lines(record, record + 1)
        data = self.content.data[self.content.start(location.first) : self.content.start(location.last + 1)][
            :_RECORD_LIMIT
        ]
        return _cells(data.decode("utf-8", "replace"), self.delimiter)


def table_part(path: Path, lines: Lines) -> LinePart | None:
    """Return the records on these lines, below the header of the table. See `PartOf`."""
    source = source_bytes(path, lines)
    content = read_content(source.text) if source else None
    table = read_table(content, "\t" if path.suffix.lower() == ".tsv" else None) if content else None
    if source is None or table is None:
        return None
    extent = table.records_of(lines)
    below = table.starts[table.first] if table.first < len(table.starts) else 1
    header = source.lines(1, below - 1) if table.first and extent.first >= below else b""
    notes = () if table.first else ("The table has no recognizable header.",)
    return LinePart(source.after(header, extent.first, extent.last), extent, notes)


def read_table(content: Content, delimiter: str | None = None) -> Table | None:
    """Parse the file as a table. Return None if it is empty.

    If `delimiter` is None, it is detected. Also return None if no delimiter is found, as in a file with one column.
    """
    kind = delimiter or _sniff_delimiter(content)
    if kind is None:
        return None
    starts = record_lines(content, kind)
    if not starts:
        return None
    last = content.text.line_count
    table = Table(content, kind, starts, 0, [], last)
    rows = [table.cells(number) for number in range(min(_SAMPLE, len(starts)))]
    header = int(_has_header(rows))
    columns = [one_line(cell, 60) for cell in rows[0][:_COLUMNS]]
    return Table(content, kind, starts, header, columns, last)


def record_lines(content: Content, delimiter: str) -> array[int]:
    """Return the 1-based line where each record begins. A quoted line break does not end a record. Blank lines are
    skipped.
    """
    data = content.data
    if b'"' not in data:
        return array("q", _nonblank_lines(content))
    mark = re.escape(delimiter.encode())
    quoted = rb'"(?:[^"]|"")*+"[^\r\n' + mark + rb"]*+"
    plain = rb'(?!")[^\r\n' + mark + rb"]*+"
    broken = rb"[^\r\n]*+"
    field = rb"(?:" + quoted + rb"|" + plain + rb")"
    record = re.compile(
        rb"(" + field + rb"(?:" + mark + field + rb")*+(?=[\r\n]|\Z)|" + broken + rb")(?:\r\n|\n|\r|\Z)"
    )
    found, line, broke = array("q"), 1, 0
    position = 0
    while position < len(data):
        if broke > 20:  # stop searching for closing quotes after more than 20 failures
            record = re.compile(rb"(" + broken + rb")(?:\r\n|\n|\r|\Z)")
        match = record.match(data, position)
        if match is None or match.end() == position:
            break
        if match.end(1) > match.start(1):
            found.append(line)
        broke += match[1].count(b'"') % 2
        line += _ends(match[0])
        position = match.end()
    return found


def _ends(record: bytes) -> int:
    """Count the line breaks in a record. CR LF counts as one."""
    if b"\r" not in record:
        return record.count(b"\n")
    return record.count(b"\n") + record.count(b"\r") - record.count(b"\r\n")


def _nonblank_lines(content: Content) -> list[int]:
    data = content.data
    return [
        number for number, start in enumerate(content.starts, 1) if start < len(data) and data[start] not in b"\r\n"
    ]


def _cells(text: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([text.rstrip("\r\n")], delimiter=delimiter), [])
    except csv.Error:
        return text.rstrip("\r\n").split(delimiter)


def cells_apart(text: ExtractedText, delimiter: str | None = None) -> ExtractedText | None:
    """Return the lines of a table in which a delimiter may be part of a number (`2000,4.97`).

    `CUT` separates their cells, so that no quote crosses the border of a cell. Lines with doubled quotation marks are
    also returned, with single ones. If `delimiter` is None, it is detected. Return None if there are no such lines, or
    no delimiter is found.
    """
    lines = [text.text[unit.start : unit.end] for unit in text.units]
    mark = delimiter or _sniff("\n".join(lines[: _SAMPLE * 2])[:_SNIFFED])
    if mark is None:
        return None
    blurred, apart, at = re.compile(rf"[\d.]{re.escape(mark)}[\d.]|\"\""), list[tuple[int, str]](), 0
    rows = csv.reader((f"{line}\n" for line in lines), delimiter=mark)
    try:
        for row in rows:
            whole = range(at, rows.line_num)
            at = rows.line_num
            if any(blurred.search(lines[each]) for each in whole):
                said = CUT.join(row).split("\n")
                apart += [(text.units[each].number, line) for each, line in zip(whole, said, strict=False)]
    except csv.Error:  # a cell exceeds the limit of the csv module: skip the remaining rows
        pass
    return text.with_units(apart) if apart else None


def _sniff_delimiter(content: Content) -> str | None:
    return _sniff(content.data[: min(content.start(_SAMPLE * 2), _SNIFFED)].decode("utf-8", "replace"))


def _sniff(head: str) -> str | None:
    """Return the delimiter that best splits the rows in `head`, or None.

    At least half of the rows must have the same number of cells, more than one.
    """
    best: tuple[float, str] | None = None
    for mark in _DELIMITERS:
        try:
            rows = [row for row in csv.reader(head.splitlines(keepends=True), delimiter=mark) if row][:_SAMPLE]
        except csv.Error:
            continue
        widths = Counter(len(row) for row in rows)
        width, count = max(widths.items(), key=lambda item: (item[1], item[0]), default=(1, 0))
        if width > 1 and count * 2 >= len(rows):
            score = count / len(rows) + min(width, 20) / 1000
            best = max(best or (0.0, ""), (score, mark))
    return best[1] if best else None


def _has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row contains the column names: short, distinct cells that are neither numbers nor dates."""
    first = [cell.strip() for cell in rows[0]]
    if len(rows) < 2 or not any(first) or any(_NUMBER.match(cell) for cell in first if cell):
        return False
    if len({cell for cell in first if cell}) < sum(map(bool, first)) or max(map(len, first)) > 100:
        return False
    return not any(list(row) == list(rows[0]) for row in rows[1:])
