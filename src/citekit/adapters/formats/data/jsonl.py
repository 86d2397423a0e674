"""Outlines JSON Lines: groups of records, with one record per line."""

from __future__ import annotations

from array import array

from attrs import frozen

from citekit.adapters.formats.data.content import Content, open_data_file
from citekit.adapters.formats.data.groups import SINGLE, grouped
from citekit.adapters.formats.data.json import label, source_excerpt, summarize_value
from citekit.adapters.formats.data.json_scan import first_value, scan
from citekit.adapters.formats.shared.outline import Outline, OutlineItem, Outliner
from citekit.domain.locations import Lines
from citekit.domain.progress import Progress
from citekit.domain.source import Source


@frozen
class JsonLinesOutliner:
    """Outlines JSON Lines files.

    `fallback` outlines files that are too large. `json` outlines files whose lines are not complete records.
    """

    fallback: Outliner
    json: Outliner

    def outline(self, source: Source, progress: Progress) -> Outline:
        """See `Outliner.outline`. The records are numbered from 1."""
        file = open_data_file(source, progress)
        if file.content is None:
            return file.by_lines(self.fallback, source, progress)
        records = _records(file.content)
        if not len(records) or not _is_records(file.content, records):
            return self.json.outline(source, progress)
        keys = _keys(file.content, records[0])
        return Outline(
            title=None,
            extent=file.text.extent,
            items=_items(file.content, records),
            facts={**file.text.facts, "record_count": len(records), **({"columns": keys} if keys else {})},
        )


def _records(content: Content) -> array[int]:
    """Return the 1-based numbers of the lines that are not blank."""
    data, ends = content.data, [*content.starts[1:], len(content.data)]
    return array(
        "q",
        (
            number
            for number, (start, end) in enumerate(zip(content.starts, ends, strict=True), 1)
            if data[start] not in b"\r\n \t" or data[start:end].strip()
        ),
    )


def _span(content: Content, line: int) -> tuple[int, int]:
    """Return the start and end offsets of the value on a line, without surrounding spaces."""
    start, end = content.start(line), content.start(line + 1)
    data = content.data
    while end > start and data[end - 1] in b" \t\r\n":
        end -= 1
    return min(first_value(data, start), end), end


def _is_records(content: Content, records: array[int]) -> bool:
    """Return whether each of the first three lines that are not blank is a complete value."""
    return all(_is_whole(content.data[slice(*_span(content, line))]) for line in records[:3])


def _is_whole(value: bytes) -> bool:
    return value[:1] not in (b"{", b"[") or scan(value, 0).whole


def _keys(content: Content, line: int) -> list[str]:
    start = _span(content, line)[0]
    if content.data[start : start + 1] != b"{":
        return []
    parts = scan(content.data, start)
    return [parts.key(content.data, index) or "" for index in range(min(parts.count, SINGLE))]


def _items(content: Content, records: array[int]) -> tuple[OutlineItem, ...]:
    if len(records) <= SINGLE:
        return tuple(_one(content, number, line) for number, line in enumerate(records, 1))

    def name(start: int, end: int) -> tuple[str, str | None]:
        first = _span(content, records[start])
        return f"Records {start + 1}-{end}", label(content.data, *first) or source_excerpt(content.data, *first)

    return grouped(len(records), lambda i, j: Lines(records[i], records[j - 1]), name, type="records")


def _one(content: Content, number: int, line: int) -> OutlineItem:
    start, end = _span(content, line)
    data = content.data
    kind = {b"{": "object", b"[": "array"}.get(data[start : start + 1])
    name = label(data, start, end)
    summary = summarize_value(data, scan(data, start), kind) if kind and name else source_excerpt(data, start, end)
    return OutlineItem(f"Record {number} {name}".strip(), "record", Lines(line, line), summary)
