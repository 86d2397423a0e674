"""Outlines Jupyter notebooks as sections, which begin at headings in Markdown cells, and the cells in them.

Locations are lines of the notebook file. A part of a notebook is a notebook with fewer cells.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from attrs import evolve, field, frozen

from citekit.adapters.formats.data.content import Content, open_data_file, read_content
from citekit.adapters.formats.data.json import MINIFIED
from citekit.adapters.formats.data.json_scan import MemberOffsets, first_value, scan
from citekit.adapters.formats.markdown.outliner import plain, read_headings
from citekit.adapters.formats.shared.line_parts import LinePart
from citekit.adapters.formats.shared.outline import Outline, OutlineItem, Outliner, nested, one_line
from citekit.adapters.formats.shared.summaries import first_sentence, has_text
from citekit.adapters.formats.shared.text_file import open_text
from citekit.domain.locations import Lines
from citekit.domain.progress import Progress
from citekit.domain.source import Source

CELLS_LIMIT = 20_000
"""The maximum number of cells of a notebook that become nodes."""

_SOURCE_LIMIT = 200_000
"""The maximum number of bytes of a cell's source that are read."""

_CELL = 99


@frozen
class Cell:
    """A notebook cell.

    `lines` are its lines in the file, and `outputs` the types of its outputs. `text_lines[i]` is the line of the file
    where line i + 1 of `text` begins.
    """

    number: int
    lines: Lines
    kind: str
    text: str
    outputs: Sequence[str] = ()
    text_lines: Sequence[int] = field(default=(), repr=False)


@frozen
class NotebookOutliner:
    """Outlines Jupyter notebooks. `fallback` outlines files that are not notebooks or are too large."""

    fallback: Outliner

    def outline(self, source: Source, progress: Progress) -> Outline:
        """See `Outliner.outline`. The items are sections and cells."""
        file = open_data_file(source, progress)
        cells = [] if file.content is None else list(_cells(file.content))
        if file.content is None or not cells:
            return file.by_lines(self.fallback, source, progress)
        items = [item for cell in cells for item in _items(cell)]
        title = next((item.title for level, item in items if level == 1), None)
        return Outline(
            title=title,
            extent=file.text.extent,
            items=nested(_ended(items, cells[-1].lines.last)),
            facts={**file.text.facts, "cell_count": len(cells)},
            notes=[MINIFIED] if file.text.line_count == 1 else [],
        )


def notebook_part(path: Path, lines: Lines) -> LinePart | None:
    """Return a notebook with the cells on these lines and the same metadata. See `PartOf`."""
    text = open_text(path)
    text.index.byte_range(lines)
    content = read_content(text)
    if content is None:
        return None
    data, cells = content.data, _cell_offsets(content.data)
    chosen = [
        index
        for index in range(cells.count if cells.whole else 0)
        if content.lines(*cells.value(index)).overlaps(lines) and data[cells.value(index)[0] :][:1] == b"{"
    ]
    if not chosen:
        return None
    spans = [cells.value(index) for index in chosen]
    last = cells.value(cells.count - 1)[1]
    cut = b",\n".join(data[start:end] for start, end in spans)
    extent = content.lines(spans[0][0], spans[-1][1])
    return LinePart(data[: cells.value(0)[0]] + cut + data[last:], extent, _whole_cells(lines, extent, chosen))


def _whole_cells(lines: Lines, extent: Lines, chosen: Sequence[int]) -> tuple[str, ...]:
    if lines.contains(extent):
        return ()
    shown = f"cell {chosen[0] + 1}" if len(chosen) == 1 else f"cells {chosen[0] + 1} to {chosen[-1] + 1}"
    return (f"Cells are extracted whole: {shown}, lines {extent.first}-{extent.last}.",)


def _cells(content: Content) -> Iterator[Cell]:
    data = content.data
    cells = _cell_offsets(data)
    for index in range(min(cells.count, CELLS_LIMIT)):
        start, end = cells.value(index)
        if data[start : start + 1] == b"{":
            yield _cell(content, index + 1, start, end)


def _cell_offsets(data: bytes) -> MemberOffsets:
    """Return the offsets of the cells: at the top level in notebook format 4, and in the first worksheet in format 3."""
    root = _members(data, first_value(data))
    if "worksheets" in root and "cells" not in root:
        sheets = scan(data, root["worksheets"][0])
        root = _members(data, sheets.value(0)[0]) if sheets.count else {}
    start = root.get("cells", (len(data), 0))[0]
    return scan(data, start) if data[start : start + 1] == b"[" else MemberOffsets()


def _members(data: bytes, start: int) -> dict[str, tuple[int, int]]:
    """Return the start and end offsets of the first 1,000 values of the JSON object at `start`, by key; empty for any
    other value.
    """
    if data[start : start + 1] != b"{":
        return {}
    parts = scan(data, start)
    return {parts.key(data, index) or "": parts.value(index) for index in range(min(parts.count, 1000))}


def _cell(content: Content, number: int, start: int, end: int) -> Cell:
    data = content.data
    members = _members(data, start)
    kind = _scalar_text(data, members.get("cell_type", (0, 0))) or "cell"
    where = members.get("source") or members.get("input") or (0, 0)
    text, offsets = _source(data, where)
    if kind == "heading":
        kind, text = "markdown", f"{'#' * _level(_scalar_text(data, members.get('level', (0, 0))))} {text}"
    outputs = _outputs(data, members.get("outputs", (0, 0)))
    return Cell(number, content.lines(start, end), kind, text, outputs, [content.line(each) for each in offsets])


def _level(text: str) -> int:
    """Return the level of a heading cell, from 1 to 6, or 1 if `text` is not a whole number."""
    return min(max(int(text), 1), 6) if text.isascii() and text.isdigit() else 1


def _scalar_text(data: bytes, span: tuple[int, int]) -> str:
    """Return the first 100 bytes of the JSON string or number at the bytes `span` as text, without quotes."""
    return data[span[0] : span[1]][:100].decode("utf-8", "replace").strip('"')


def _source(data: bytes, span: tuple[int, int]) -> tuple[str, list[int]]:
    """Return the text of the `source` value of a cell, and an offset in `data` for each line."""
    if data[span[0] : span[0] + 1] != b"[":
        text = _string(data, span)
        return text, [span[0]] * (text.count("\n") + 1)
    parts = scan(data, span[0])
    lines, offsets, size = [], [], 0
    for index in range(parts.count):
        line = parts.value(index)
        size += line[1] - line[0]
        if size > _SOURCE_LIMIT:
            break
        lines.append(_string(data, line))
        offsets.extend([line[0]] * max(1, lines[-1].count("\n")))
    return "".join(lines), offsets


def _string(data: bytes, span: tuple[int, int]) -> str:
    token = data[span[0] : span[1]]
    if len(token) > _SOURCE_LIMIT:
        token = token[:_SOURCE_LIMIT].rstrip(b"\\") + b'"'
    try:
        found = json.loads(token)
    except (ValueError, RecursionError):
        return ""
    return found if isinstance(found, str) else ""


_OLD_OUTPUTS = frozenset(("pyout", "display_data"))
_NO_MEDIA = frozenset(("output_type", "metadata", "prompt_number"))
"""In format 3, the keys of an output that are not media types."""


def _outputs(data: bytes, span: tuple[int, int]) -> tuple[str, ...]:
    """Return the distinct types of a cell's outputs: media types, `text`, or the names of errors."""
    if data[span[0] : span[0] + 1] != b"[":
        return ()
    parts, kinds = scan(data, span[0]), {}
    for index in range(min(parts.count, 50)):
        output = _members(data, parts.value(index)[0])
        kind = _scalar_text(data, output.get("output_type", (0, 0)))
        if "data" in output:
            kinds.update(dict.fromkeys(_members(data, output["data"][0])))
        elif kind in _OLD_OUTPUTS:
            kinds.update(dict.fromkeys(name for name in output if name not in _NO_MEDIA))
        elif kind in ("error", "pyerr"):
            kinds[_scalar_text(data, output.get("ename", (0, 0))) or kind] = None
        elif kind:
            kinds[{"stream": "text"}.get(kind, kind)] = None
    return tuple(kinds)


def _items(cell: Cell) -> list[tuple[int, OutlineItem]]:
    """Return outline items with their levels: for each heading of a Markdown cell, or else for the cell."""
    lines = cell.text.split("\n")
    headings = read_headings(cell.text) if cell.kind == "markdown" and ("#" in cell.text or "\n" in cell.text) else []
    if not headings:
        return [(_CELL, OutlineItem(_titled(cell, lines), f"{cell.kind}_cell", cell.lines, _summary(cell, lines)))]
    items = []
    for number, heading in enumerate(headings):
        first = (
            cell.text_lines[heading.line - 1] if number and heading.line <= len(cell.text_lines) else cell.lines.first
        )
        body = [plain(line) for line in lines[heading.line + heading.height - 1 :]]
        location = Lines(max(first, cell.lines.first), cell.lines.last)
        items.append((heading.level, OutlineItem(heading.title, "section", location, first_sentence(body))))
    return items


def _ended(items: Sequence[tuple[int, OutlineItem]], last: int) -> list[tuple[int, OutlineItem]]:
    """Return the items with each section extended to the next section of the same or a higher level, or to line `last`."""
    ended, bound = [], dict[int, int]()
    for level, item in reversed(items):
        location = item.location
        if level < _CELL and isinstance(location, Lines):
            after = min((line for each, line in bound.items() if each <= level), default=last + 1)
            item = evolve(item, location=Lines(location.first, max(location.first, after - 1)))
            bound = {each: line for each, line in bound.items() if each < level} | {level: location.first}
        ended.append((level, item))
    return ended[::-1]


def _titled(cell: Cell, lines: Sequence[str]) -> str:
    first = next((line for line in lines if has_text(line)), "")
    text = plain(first) if cell.kind == "markdown" else first.strip()
    return one_line(f"Cell {cell.number} ({cell.kind}): {text}" if text else f"Cell {cell.number} ({cell.kind})", 100)


def _summary(cell: Cell, lines: Sequence[str]) -> str | None:
    if cell.kind == "markdown":
        return first_sentence([plain(line) for line in lines])
    count = len(cell.text.splitlines())
    text = f"{count} line{'s' if count > 1 else ''}" if cell.text else "empty"
    return f"{text}; outputs: {', '.join(cell.outputs)}" if cell.outputs else text
