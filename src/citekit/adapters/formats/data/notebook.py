"""Jupyter notebooks: sections by the headings in Markdown cells, cells below them, with their lines in the file itself."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from attrs import evolve, field, frozen

from citekit.adapters.formats.data.content import Content, open_data_file
from citekit.adapters.formats.data.json import MINIFIED
from citekit.adapters.formats.data.json_scan import MemberOffsets, first_value, scan
from citekit.adapters.formats.markdown.outliner import plain, read_headings
from citekit.adapters.formats.shared.outline import Outline, OutlineItem, Outliner, nested, one_line
from citekit.adapters.formats.shared.summaries import first_sentence, has_text
from citekit.domain.locations import Lines
from citekit.domain.progress import Progress
from citekit.domain.source import Source

CELLS_LIMIT = 20_000
"""Cells that are nodes; of a longer notebook, the first ones."""

_SOURCE_LIMIT = 200_000
"""Bytes of a cell's source that is read; the outputs are not."""

_CELL = 99


@frozen
class Cell:
    """A cell: its place in the file, its kind, its text, the kinds of its outputs, the offset of each line of its text."""

    number: int
    lines: Lines
    kind: str
    text: str
    outputs: Sequence[str] = ()
    places: Sequence[int] = field(default=(), repr=False)


@frozen
class NotebookOutliner:
    """`fallback` maps what is no notebook (JSON), or too large to look into."""

    fallback: Outliner

    def outline(self, source: Source, progress: Progress) -> Outline:
        """Sections and cells. Raises `SourceUnreadable`."""
        file = open_data_file(source, progress)
        cells = [] if file.content is None else list(_cells(file.content))
        if file.content is None or not cells:
            return file.by_lines(self.fallback, source, progress)
        items = [item for cell in cells for item in _items(cell)]
        title = next((draft.title for level, draft in items if level == 1), None)
        return Outline(
            title=title,
            bounds=file.text.bounds,
            items=nested(_ended(items, cells[-1].lines.last)),
            facts={**file.text.facts, "cell_count": len(cells)},
            notes=[MINIFIED] if file.text.line_count == 1 else [],
        )


def _cells(content: Content) -> Iterator[Cell]:
    data = content.data
    cells = _cell_offsets(data)
    for index in range(min(cells.count, CELLS_LIMIT)):
        start, end = cells.value(index)
        if data[start : start + 1] == b"{":
            yield _cell(content, index + 1, start, end)


def _cell_offsets(data: bytes) -> MemberOffsets:
    """The cells: of the format 4 at the top, of the format 3 in the first worksheet."""
    root = _members(data, first_value(data))
    if "worksheets" in root and "cells" not in root:
        sheets = scan(data, root["worksheets"][0])
        root = _members(data, sheets.value(0)[0]) if sheets.count else {}
    start = root.get("cells", (len(data), 0))[0]
    return scan(data, start) if data[start : start + 1] == b"[" else MemberOffsets()


def _members(data: bytes, start: int) -> dict[str, tuple[int, int]]:
    """The places of the values of an object, by their keys."""
    if data[start : start + 1] != b"{":
        return {}
    parts = scan(data, start)
    return {parts.key(data, index) or "": parts.value(index) for index in range(min(parts.count, 1000))}


def _cell(content: Content, number: int, start: int, end: int) -> Cell:
    data = content.data
    members = _members(data, start)
    kind = _scalar_text(data, members.get("cell_type", (0, 0))) or "cell"
    where = members.get("source") or members.get("input") or (0, 0)
    text, places = _source(data, where)
    if kind == "heading":
        kind, text = "markdown", f"{'#' * int(_scalar_text(data, members.get('level', (0, 0))) or 1)} {text}"
    outputs = _outputs(data, members.get("outputs", (0, 0)))
    return Cell(number, content.lines(start, end), kind, text, outputs, [content.line(each) for each in places])


def _scalar_text(data: bytes, place: tuple[int, int]) -> str:
    """A string or a number as text."""
    return data[place[0] : place[1]][:100].decode("utf-8", "replace").strip('"')


def _source(data: bytes, place: tuple[int, int]) -> tuple[str, list[int]]:
    """The text of a cell, and the offset where each of its lines is written in the file."""
    if data[place[0] : place[0] + 1] != b"[":
        text = _string(data, place)
        return text, [place[0]] * (text.count("\n") + 1)
    parts = scan(data, place[0])
    pieces, offsets, size = [], [], 0
    for index in range(parts.count):
        span = parts.value(index)
        size += span[1] - span[0]
        if size > _SOURCE_LIMIT:
            break
        pieces.append(_string(data, span))
        offsets.extend([span[0]] * max(1, pieces[-1].count("\n")))
    return "".join(pieces), offsets


def _string(data: bytes, place: tuple[int, int]) -> str:
    token = data[place[0] : place[1]]
    if len(token) > _SOURCE_LIMIT:
        token = token[:_SOURCE_LIMIT].rstrip(b"\\") + b'"'
    try:
        found = json.loads(token)
    except (ValueError, RecursionError):
        return ""
    return found if isinstance(found, str) else ""


_OLD_OUTPUTS = frozenset(("pyout", "display_data"))
_NO_MEDIA = frozenset(("output_type", "metadata", "prompt_number"))
"""Of the format 3: outputs that hold their media beside one another (`html`, `png`), and what else they hold."""


def _outputs(data: bytes, place: tuple[int, int]) -> tuple[str, ...]:
    """The kinds of the outputs of a cell, each once: media types, `stream`, the name of an error."""
    if data[place[0] : place[0] + 1] != b"[":
        return ()
    parts, kinds = scan(data, place[0]), {}
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
    """(level, draft): a section for each heading of a Markdown cell, or the cell itself."""
    lines = cell.text.split("\n")
    headings = read_headings(cell.text) if cell.kind == "markdown" and ("#" in cell.text or "\n" in cell.text) else []
    if not headings:
        return [(_CELL, OutlineItem(_titled(cell, lines), f"{cell.kind}_cell", cell.lines, _summary(cell, lines)))]
    items = []
    for number, heading in enumerate(headings):
        first = cell.places[heading.line - 1] if number and heading.line <= len(cell.places) else cell.lines.first
        body = [plain(line) for line in lines[heading.line + heading.height - 1 :]]
        place = Lines(max(first, cell.lines.first), cell.lines.last)
        items.append((heading.level, OutlineItem(heading.title, "section", place, first_sentence(body))))
    return items


def _ended(items: Sequence[tuple[int, OutlineItem]], last: int) -> list[tuple[int, OutlineItem]]:
    """The sections, each to before the next of its own or a higher level."""
    ended, bound = [], dict[int, int]()
    for level, draft in reversed(items):
        place = draft.location
        if level < _CELL and isinstance(place, Lines):
            after = min((line for each, line in bound.items() if each <= level), default=last + 1)
            draft = evolve(draft, location=Lines(place.first, max(place.first, after - 1)))
            bound = {each: line for each, line in bound.items() if each < level} | {level: place.first}
        ended.append((level, draft))
    return ended[::-1]


def _titled(cell: Cell, lines: Sequence[str]) -> str:
    first = next((line for line in lines if has_text(line)), "")
    said = plain(first) if cell.kind == "markdown" else first.strip()
    return one_line(f"Cell {cell.number} ({cell.kind}): {said}" if said else f"Cell {cell.number} ({cell.kind})", 100)


def _summary(cell: Cell, lines: Sequence[str]) -> str | None:
    if cell.kind == "markdown":
        return first_sentence([plain(line) for line in lines])
    count = len(cell.text.splitlines())
    said = f"{count} line{'s' if count > 1 else ''}" if cell.text else "empty"
    return f"{said}; outputs: {', '.join(cell.outputs)}" if cell.outputs else said
