"""Outlines JSON: the members of the top-level object or array, and those of long members."""

from __future__ import annotations

import re

from attrs import frozen

from citekit.adapters.formats.data.content import Content, open_data_file
from citekit.adapters.formats.data.groups import GROUPS, SINGLE, grouped
from citekit.adapters.formats.data.json_scan import MemberOffsets, first_value, scan, skip, text_of
from citekit.adapters.formats.shared.outline import Outline, OutlineItem, Outliner
from citekit.domain.phrases import counted
from citekit.domain.progress import Progress
from citekit.domain.source import Source

DEEPEST = 3
"""The maximum number of levels of nodes."""

_LONG = 30
"""An object or array that spans more lines than this has child nodes, unless it is at level `DEEPEST`."""

_ONE_LINE = 20
"""The number of groups that is always allowed, even if the values are on one line and have the same location."""

_EXCERPT_LIMIT = 120
_KEYS = 8
_LABEL_SEARCH_LIMIT = 4000
_NAMED = re.compile(
    rb'"(title|name|label|id|key|path|code|type)"\s*:\s*("[^"\\]*+(?:\\.[^"\\]*+)*+"|-?\d[\d.eE+-]*+)', re.IGNORECASE
)
_NAME_KEYS = (b"title", b"name", b"label", b"id", b"key", b"path", b"code", b"type")
_TITLES = ("title", "name", "$id", "id")
MINIFIED = "The whole file is a single line, so all nodes have the same location and cannot be extracted separately."


@frozen
class JsonOutliner:
    """Outlines JSON files. `fallback` outlines files that are not JSON, are too large, or have no members."""

    fallback: Outliner

    def outline(self, source: Source, progress: Progress) -> Outline:
        """See `Outliner.outline`.

        The items are the members of an object by key, or the elements of an array by index from 0. Several top-level
        values are outlined like an array.
        """
        file = open_data_file(source, progress)
        root = None if file.content is None else first_value(file.content.data)
        if file.content is None or root is None or file.content.data[root : root + 1] not in (b"{", b"["):
            return file.by_lines(self.fallback, source, progress)
        parts, roots = scan(file.content.data, root), _roots(file.content.data, root)
        builder = JsonItemBuilder(file.content)
        items = builder.children(parts, 1) if roots.count == 1 else builder.children(roots, 1, "Value")
        if not items:
            return file.by_lines(self.fallback, source, progress)
        return Outline(
            title=_title(file.content, parts) if roots.count == 1 else None,
            extent=file.text.extent,
            items=items,
            facts=file.text.facts,
            notes=_notes(file.content, roots),
        )


def _roots(data: bytes, start: int) -> MemberOffsets:
    """Return the offsets of the objects and arrays from `start` on. Some files contain several, one after another."""
    parts, position = MemberOffsets(), start
    while position < len(data) and data[position] in b"{[":
        end = skip(data, position + 1)
        parts.keys.extend((position, position))
        parts.values.extend((position, end))
        parts.whole = data[end - 1] in b"]}"
        position = first_value(data, end)
    parts.end = position
    return parts


def _title(content: Content, parts: MemberOffsets) -> str | None:
    """Return the title of an object: the string value of its key `title`, `name`, `$id`, or `id`, or None."""
    indexes = {parts.key(content.data, index): index for index in range(min(parts.count, SINGLE))}
    for name in _TITLES:
        start, end = parts.value(indexes[name]) if name in indexes else (0, 0)
        if content.data[start : start + 1] == b'"' and end - start <= 300:
            return text_of(content.data[start:end])
    return None


def _notes(content: Content, roots: MemberOffsets) -> list[str]:
    notes = [MINIFIED] if content.text.line_count == 1 else []
    if not roots.whole:
        notes.append("The JSON is incomplete: the file ends inside a value.")
    elif roots.end < len(content.data):
        notes.append(
            f"The outline ends on line {content.line(roots.end)}: what follows there is not a JSON object or array."
        )
    return notes


@frozen
class JsonItemBuilder:
    """Builds outline items from JSON values."""

    content: Content

    def children(self, parts: MemberOffsets, depth: int, word: str = "Item") -> tuple[OutlineItem, ...]:
        """Return an outline item for each member, or for groups of members if there are many.

        `depth` is their nesting level, and `word` is used in the titles of groups.
        """
        if parts.count <= SINGLE:
            return tuple(self.one(parts, index, depth) for index in range(parts.count))
        data = self.content.data
        height = self.content.line(parts.end) - self.content.line(parts.begin(0))
        return grouped(
            parts.count,
            lambda i, j: self.content.lines(parts.begin(i), parts.value(j - 1)[1]),
            lambda i, j: (self._range(parts, i, j, word), source_excerpt(data, *parts.value(i))),
            type="items",
            most=min(GROUPS, max(_ONE_LINE, height // 4)),
        )

    def one(self, parts: MemberOffsets, index: int, depth: int) -> OutlineItem:
        """Return the outline item for the member with index `index`, with children if it is long."""
        data = self.content.data
        start, end = parts.value(index)
        key = parts.key(data, index)
        kind = {b"{": "object", b"[": "array"}.get(data[start : start + 1], "value")
        location = self.content.lines(parts.begin(index), end)
        title = key if key is not None else " ".join((f"[{index}]", label(data, start, end))).strip()
        if kind == "value":
            return OutlineItem(title, kind, location, source_excerpt(data, start, end))
        below = scan(data, start)
        long = depth < DEEPEST and location.last - location.first >= _LONG
        return OutlineItem(
            title, kind, location, summarize_value(data, below, kind), self.children(below, depth + 1) if long else ()
        )

    def _range(self, parts: MemberOffsets, first: int, end: int, word: str) -> str:
        low, high = parts.key(self.content.data, first), parts.key(self.content.data, end - 1)
        if low is not None and high is not None:
            return f"{low} - {high}"
        return f"{word}s {first}-{end - 1}"


def label(data: bytes, start: int, end: int) -> str:
    """Return a short text that identifies the array element at the bytes [`start`, `end`) of `data`.

    For an object or array, this is the value of a key such as `name`, or "" if there is no such key. For any other
    value, it is the beginning of the value.
    """
    head = data[start : min(end, start + _LABEL_SEARCH_LIMIT)]
    if head[:1] not in (b"{", b"["):
        return source_excerpt(data, start, end)
    inner = head[1:]
    nested = min((at for at in (inner.find(b"{"), inner.find(b"[")) if at >= 0), default=len(inner))
    named = {found[1].lower(): found[2] for found in reversed(list(_NAMED.finditer(inner, 0, nested)))}
    return next((text_of(named[name]) for name in _NAME_KEYS if name in named), "")


def summarize_value(data: bytes, parts: MemberOffsets, kind: str) -> str:
    """Summarize an array as its length and first item, or an object as its number of keys and its first keys."""
    if kind == "array":
        first = source_excerpt(data, *parts.value(0)) if parts.count else ""
        return f"{counted(parts.count, 'item')}{f', the first {first}' if first else ''}"
    keys = [parts.key(data, index) or "" for index in range(min(parts.count, _KEYS))]
    return (
        f"{counted(parts.count, 'key')}: {', '.join(keys)}{', ...' if parts.count > _KEYS else ''}" if keys else "empty"
    )


def source_excerpt(data: bytes, start: int, end: int) -> str:
    """Return the beginning of the value at the bytes [`start`, `end`) as written. A string loses its quotes."""
    head = data[start : min(end, start + _EXCERPT_LIMIT)]
    text = text_of(head) if head[:1] == b'"' else head.decode("utf-8", "replace")
    return f"{text.rstrip()}..." if end - start > _EXCERPT_LIMIT else text
