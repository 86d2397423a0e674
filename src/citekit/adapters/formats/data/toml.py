"""Outlines TOML 1.0 files by tables and elements of arrays of tables, nested by dotted name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from attrs import define, field, frozen

from citekit.adapters.formats.data.content import Content, open_data_file
from citekit.adapters.formats.data.keyed_sections import KeyedSection, section_items, summarize_keys
from citekit.adapters.formats.shared.outline import Outline, OutlineItem, Outliner
from citekit.domain.progress import Progress
from citekit.domain.source import Source

TABLES_LIMIT = 200_000
"""The maximum number of tables that are read."""

_TEXT = (
    rb'"""(?:[^"\\]|\\.|"(?!""))*+(?:"""(?:""?(?!"))?)|'
    rb"'''(?:[^']|'(?!''))*+(?:'''(?:''?(?!'))?)|"
    rb'"(?:[^"\\\r\n]|\\.)*+"|'
    rb"'[^'\r\n]*+'"
)
_NAME = rb"(?:[\w-]++|\"(?:[^\"\\\r\n]|\\.)*+\"|'[^'\r\n]*+')"
_DOTTED = _NAME + rb"(?:[ \t]*\.[ \t]*" + _NAME + rb")*+"
_HEADER = re.compile(rb"[ \t]*(\[\[?)[ \t]*(" + _DOTTED + rb")[ \t]*\]\]?[ \t]*(?:#[^\r\n]*)?(?=[\r\n]|\Z)")
_PAIR = re.compile(rb"[ \t]*(" + _DOTTED + rb")[ \t]*=")
_VALUE = re.compile(rb"(?s)" + _TEXT + rb"|#[^\r\n]*+|[\[\]{}\r\n]")
_LINE = re.compile(rb"[^\r\n]*+(?:\r\n|\n|\r|\Z)")
_PART = re.compile(_NAME)
_SIMPLE = re.compile(
    rb"[ \t]*("
    + _DOTTED
    + rb")[ \t]*=[ \t]*(\"(?!\"\")(?:[^\"\\\r\n]|\\.)*+\"|'(?!'')[^'\r\n]*+'|[\w.+:-]++)[ \t]*(?:\r\n|\n|\r|\Z)"
)
_NOTHING = re.compile(rb"(?:[ \t]*(?:#[^\r\n]*+)?(?:\r\n|\n|\r))++")
_NAME_KEYS = (b"name", b"title", b"id")


@define
class Table:
    """A TOML table, or an element of an array of tables.

    `names` are the parts of its dotted name, and `index` is its position in the array, from 0. `line` is the line of
    its header, and `last` its last line. `keys` are its first keys, and `count` is the number of all keys. `label` is
    the value of the first key that names the table, such as `name`.
    """

    names: tuple[str, ...]
    in_array: bool
    line: int
    keys: list[str] = field(factory=list)
    count: int = 0
    label: str = ""
    last: int = 0
    index: int = 0


@frozen
class TomlOutliner:
    """Outlines TOML files. `fallback` outlines files that are too large, or have neither tables nor keys."""

    fallback: Outliner

    def outline(self, source: Source, progress: Progress) -> Outline:
        """See `Outliner.outline`. Keys before the first table form an item of their own."""
        file = open_data_file(source, progress)
        tables = [] if file.content is None else read_tables(file.content)
        if not any(table.count or table.names for table in tables):
            return file.by_lines(self.fallback, source, progress)
        _end(tables, file.text.line_count)
        nonempty = [table for table in tables if table.names or table.count]
        return Outline(title=_title(nonempty), extent=file.text.extent, items=_tree(nonempty), facts=file.text.facts)


def read_tables(content: Content) -> list[Table]:
    """Return the first `TABLES_LIMIT` tables of the file. The first has no name and contains the keys before the first
    header.
    """
    data, position = content.data, 0
    tables, closes = [Table((), False, 1)], True
    while position < len(data) and len(tables) < TABLES_LIMIT:
        simple = _SIMPLE.match(data, position)
        if simple:
            _note(tables[-1], simple[1], simple[2])
            position = simple.end()
            continue
        nothing = _NOTHING.match(data, position)
        if nothing:
            position = nothing.end()
            continue
        header = _HEADER.match(data, position)
        if header:
            names = tuple(_plain(part) for part in _PART.findall(header[2]))
            tables.append(Table(names, header[1] == b"[[", content.line(header.start(2))))
            position = _next_line(data, header.end())
            continue
        pair = _PAIR.match(data, position)
        if pair is None:
            position = _next_line(data, position)
            continue
        end = _value_end(data, pair.end()) if closes else None
        if end is None:  # search for the end of an unclosed array only once
            closes, end = False, _next_line(data, pair.end())
        _note(tables[-1], pair[1], data[pair.end() : min(end, pair.end() + 300)])
        position = end
    return tables


def _note(table: Table, key: bytes, value: bytes) -> None:
    table.count += 1
    if len(table.keys) < 8:
        table.keys.append(_plain(key))
    if not table.label and key in _NAME_KEYS:
        table.label = _plain(value.strip())


def _next_line(data: bytes, position: int) -> int:
    found = _LINE.match(data, position)
    return found.end() if found else len(data)


def _value_end(data: bytes, position: int) -> int | None:
    """Return the offset of the line after the value at `position`, or None if an array or table is not closed."""
    depth = 0
    for found in _VALUE.finditer(data, position):
        mark = data[found.start()]
        if mark in b"[{":
            depth += 1
        elif mark in b"]}":
            depth -= 1
        elif mark in b"\r\n" and depth <= 0:
            return _next_line(data, found.start())
    return None if depth > 0 else len(data)


def _end(tables: Sequence[Table], line_count: int) -> None:
    """Set the last line of each table, and number the elements of arrays."""
    seen: dict[tuple[str, ...], int] = {}
    for table, after in zip(tables, [*(each.line for each in tables[1:]), line_count + 1], strict=True):
        table.last = max(table.line, after - 1)
        if table.in_array:
            table.index = seen[table.names] = seen.get(table.names, -1) + 1


def _title(tables: Sequence[Table]) -> str | None:
    for table in tables:
        if table.names in ((), ("project",), ("package",), ("tool", "poetry")) and not table.in_array and table.label:
            return table.label
    return None


def _tree(tables: Sequence[Table], depth: int = 0) -> tuple[OutlineItem, ...]:
    """Return outline items for the tables, nested by their dotted names. Several elements of an array are children of
    one item.
    """
    found: list[KeyedSection] = []
    for run in _runs(tables):
        first = run[0]
        if len(run) == 1 or not first[0].in_array:
            found.extend(_entry(family, depth) for family in run)
            continue
        entries = [_entry(family, depth) for family in run]
        name = ".".join(first[0].names)
        inner = section_items(entries, "items")
        found.append(KeyedSection(name, "array", entries[0].first, entries[-1].last, f"{len(run)} tables", inner))
    return section_items(found, "tables")


def _entry(family: Sequence[Table], depth: int) -> KeyedSection:
    head, below = family[0], family[1:]
    last = family[-1].last
    name = ".".join(head.names) or "Keys"
    title = f"{name}[{head.index}] {head.label}".strip() if head.in_array else name
    children = _tree(below, depth + 1) if below and depth < 20 else ()
    return KeyedSection(
        title, "table", head.line, last, summarize_keys(head.keys, head.count - len(head.keys)), children
    )


def _runs(tables: Sequence[Table]) -> Iterator[list[list[Table]]]:
    """Yield a list of families (a table and its subtables) for each array of tables, and for each other table."""
    run: list[list[Table]] = []
    for family in _families(tables):
        if run and not (family[0].in_array and run[0][0].in_array and family[0].names == run[0][0].names):
            yield run
            run = []
        run.append(family)
    if run:
        yield run


def _families(tables: Sequence[Table]) -> Iterator[list[Table]]:
    family: list[Table] = []
    for table in tables:
        names = family[0].names if family else ()
        inside = family and names and len(table.names) > len(names) and table.names[: len(names)] == names
        if family and not inside:
            yield family
            family = []
        family.append(table)
    if family:
        yield family


def _plain(text: bytes) -> str:
    plain = text.decode("utf-8", "replace").strip()
    return plain[1:-1] if len(plain) > 1 and plain[0] == plain[-1] and plain[0] in "\"'" else plain
