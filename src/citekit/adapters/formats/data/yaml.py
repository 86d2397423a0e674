"""Outlines YAML 1.2 line by line: documents, keys of the top-level mapping, and items of the top-level sequence.

Block mappings and sequences are recognized by their indentation, without a parser, in linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from attrs import define, frozen

from citekit.adapters.formats.data.content import Content, open_data_file
from citekit.adapters.formats.data.groups import grouped
from citekit.adapters.formats.data.keyed_sections import KeyedSection, section_items, summarize_keys
from citekit.adapters.formats.shared.outline import Outline, Outliner
from citekit.domain.locations import Lines
from citekit.domain.progress import Progress
from citekit.domain.source import Source

DEEPEST = 3
"""The maximum number of levels of nodes below a document."""

MANY = 5000
"""A level with more keys or items is outlined in groups, without a node for each key or item."""

_LONG = 30
"""A key or item that spans more lines than this has child nodes, unless it is at level `DEEPEST`."""

_KEY = (
    rb"(?:\"(?:[^\"\\\r\n]|\\.)*+\"|'(?:[^'\r\n]|'')*+'|<<|"
    rb"(?:[^\s#&*!|>'\"%@`\[\]{},?:-]|[?:-](?=[^\s]))(?:[^:#\r\n]|:(?=[^\s])|(?<=\S)#)*+)"
)
_PAIR = re.compile(rb"(?:[!&][^\s]*[ \t]+)?(" + _KEY + rb")[ \t]*:(?=[ \t\r\n]|\Z)[ \t]*([^\r\n]*)")
_EMPTY_VALUE = re.compile(rb"(?:[!&][^\s]*+[ \t]*+)*+(?:#.*)?\Z")
_DOCUMENT = re.compile(rb"(?m)^---(?=[ \t\r\n]|\Z)")
_END = re.compile(rb"(?m)^\.\.\.(?=[ \t\r\n]|\Z)")
_AT: dict[int, re.Pattern[bytes]] = {}
_FLOW = re.compile(rb"(?s)(?<!\w)\"(?:[^\"\\]|\\.)*+\"|(?<!\w)'(?:[^']|'')*+'|(?<![^\s])#[^\r\n]*|[\[\]{}]")
_TEXT = re.compile(rb"[ \t]*+[^\s#]")
_NAME = ("name", "title", "id")


@frozen
class YamlOutliner:
    """Outlines YAML files.

    `json` outlines files that begin with `{` or `[`, and `fallback` files that are too large or have neither keys nor
    items.
    """

    fallback: Outliner
    json: Outliner

    def outline(self, source: Source, progress: Progress) -> Outline:
        """See `Outliner.outline`. Long keys and items are nested."""
        file = open_data_file(source, progress)
        if file.content is None:
            return file.by_lines(self.fallback, source, progress)
        if file.content.data.lstrip()[:1] in (b"{", b"["):
            return self.json.outline(source, progress)
        spans = list(_documents(file.content))
        several = len(spans) > 1
        found = [_document(file.content, first, last, number) for number, (first, last) in enumerate(spans, 1)]
        entries = section_items(found, "documents") if several else found[0].children if found else ()
        if not entries:
            return file.by_lines(self.fallback, source, progress)
        facts = {**file.text.facts, **({"document_count": len(spans)} if several else {})}
        return Outline(title=None, extent=file.text.extent, items=entries, facts=facts)


def _documents(content: Content) -> Iterator[tuple[int, int]]:
    """Yield the 1-based first and last line of each document that is not empty."""
    data = content.data
    starts = [content.line(found.start()) for found in _DOCUMENT.finditer(data)]
    bounds = sorted({1, *starts})
    for first, after in pairwise([*bounds, content.text.line_count + 1]):
        begin, end = content.start(first), content.start(after)
        closed = _END.search(data, begin, end)
        last = content.line(closed.start()) if closed else after - 1
        body = data[begin : min(end, closed.start() if closed else end)]
        if any(_TEXT.match(line) and not line.startswith((b"---", b"%")) for line in body.splitlines()) or (
            len(body.partition(b"\n")[0].strip()) > 3 and body.startswith(b"---")
        ):
            yield first, last


def _document(content: Content, first: int, last: int, number: int) -> KeyedSection:
    below = Block(content).entries(first, last, 1)
    names = {entry.title: entry for entry in below}
    kind = _value(names.get("kind"))
    name = next((_value(names[each]) for each in _NAME if each in names and _value(names[each])), "")
    if not name and "metadata" in names:
        name = next((_value(KeyedSection("", "", 0, 0, text)) for text in _named(content, names["metadata"])), "")
    title = " ".join(each for each in (kind, name) if each) or (below[0].title if below else "")
    children = section_items(below, below[0].type + "s" if below else "keys")
    summary = summarize_keys([entry.title for entry in below]) if below and below[0].type == "key" else None
    return KeyedSection(f"Document {number} {title}".strip(), "document", first, last, summary, children)


def _named(content: Content, entry: KeyedSection) -> Iterator[str]:
    for line in content.data[content.start(entry.first) : content.start(entry.last + 1)].splitlines()[1:20]:
        found = _PAIR.match(line.strip())
        if found and found[1] == b"name":
            yield found[2].decode("utf-8", "replace")


def _value(entry: KeyedSection | None) -> str:
    text = (entry.summary or "") if entry else ""
    return text.strip("\"'") if len(text) < 80 and ":" not in text else ""


@define
class Block:
    """Reads block collections of YAML: mappings and sequences that are structured by indentation.

    `flows` becomes False at the first flow collection or quoted string that is not closed.
    """

    content: Content
    flows: bool = True

    def entries(self, first: int, last: int, depth: int) -> list[KeyedSection]:
        """Return the keys or items of the collection on these lines, or groups of them if there are more than `MANY`.

        `depth` is the nesting level of the collection. If the lines have no keys and items, the result is empty.
        """
        indent = self._indent(first, last)
        if indent is None:
            return []
        starts = list(self._starts(first, last, indent))
        if len(starts) > MANY:
            return _grouped_entries(starts, last)
        ends = [*(line - 1 for line, _ in starts[1:]), last][: len(starts)]
        return [
            self._entry(line, self._trimmed(line, end), text, depth)
            for (line, text), end in zip(starts, ends, strict=True)
        ]

    def _line(self, number: int) -> bytes:
        return self.content.data[self.content.start(number) : self.content.start(number + 1)]

    def _indent(self, first: int, last: int) -> int | None:
        """Return the indentation, in spaces, of the first line with content, or None."""
        for number in range(first, last + 1):
            line = self._line(number)
            if _TEXT.match(line) and not line.startswith((b"---", b"%", b"...")):
                return len(line) - len(line.lstrip(b" "))
        return None

    def _starts(self, first: int, last: int, indent: int, *, keys: bool | None = None) -> Iterator[tuple[int, bytes]]:
        """Yield the line number and the text of each key or item that is indented by `indent` spaces.

        Only keys are yielded if `keys` is True, and only items if it is False. If it is None, the first one decides.
        """
        data, flow_end = self.content.data, 0
        begin, end = self.content.start(first), self.content.start(last + 1)
        pattern = _AT.setdefault(indent, re.compile(rb"(?m)(?:^|(?<=\r)) {%d}(?=[^\s#])" % indent))
        for found in pattern.finditer(data, begin, end):
            if found.start() < flow_end:
                continue
            stop = data.find(b"\n", found.end(), end)
            text = data[found.end() : stop if stop >= 0 else end].rstrip(b"\r\n")
            item = text[:2] in (b"- ", b"-") or text[:2] == b"-\t"
            pair = None if item else _PAIR.match(text)
            if not item and pair is None:
                continue
            keys = not item if keys is None else keys
            if item == keys:
                continue
            yield self.content.line(found.start()), text
            value = text[2:].lstrip() if item else pair[2] if pair else b""
            if self.flows and value and value[:1] in b"{[\"'":
                begins = found.end() + len(text) - len(value)
                flow_end = _flow_end(data, begins, end)
                self.flows = flow_end > begins  # search for the end of an unclosed flow only once

    def _entry(self, first: int, last: int, text: bytes, depth: int) -> KeyedSection:
        item = text[:1] == b"-" and text[1:2] in (b"", b" ", b"\t")
        pair = _PAIR.match(text[1:].lstrip() if item else text)
        below: list[KeyedSection] = []
        long = last - first >= _LONG and depth < DEEPEST
        if long and not item and pair and _EMPTY_VALUE.match(pair[2]):
            below = self.entries(first + 1, last, depth + 1)
        elif long and item and pair:
            below = self._keys(first, last, text, depth)
        title = _excerpt(pair[1]) if pair and not item else self._label(first, last, text)
        summary = summarize_keys([entry.title for entry in below]) if below and below[0].type == "key" else None
        if summary is None and below:
            summary = f"{len(below)} items" if len(below) > 1 else "1 item"
        elif summary is None and pair:
            summary = _excerpt(pair[2]) or None if not item else None
        children = section_items(below, f"{below[0].type}s") if below else ()
        return KeyedSection(title or "item", "item" if item else "key", first, last, summary, children)

    def _keys(self, first: int, last: int, text: bytes, depth: int) -> list[KeyedSection]:
        """Return the keys of a mapping that is an item of a sequence.

        Return an empty list if there is only one key, or more than `MANY`.
        """
        line, key = self._line(first), text[1:].lstrip()
        indent = len(line) - len(line.lstrip(b" ")) + len(text) - len(key)
        starts = [(first, key), *self._starts(first + 1, last, indent, keys=True)]
        ends = [*(start - 1 for start, _ in starts[1:]), last]
        return (
            [
                self._entry(at, self._trimmed(at, end), text_at, depth + 1)
                for (at, text_at), end in zip(starts, ends, strict=True)
            ]
            if 1 < len(starts) <= MANY
            else []
        )

    def _label(self, first: int, last: int, text: bytes) -> str:
        """Return the `name`, `title`, or `id` of a sequence item, or else its first line."""
        start = text[1:].lstrip()
        for number in range(first, min(last, first + 12) + 1):
            pair = _PAIR.match(start if number == first else self._line(number).strip())
            if pair and pair[1] in (b"name", b"title", b"id") and pair[2].strip():
                return _excerpt(pair[2])
        return _excerpt(start)

    def _trimmed(self, first: int, last: int) -> int:
        """Return the last line of an entry without the blank lines and comments that belong to the next entry."""
        while last > first:
            line = self._line(last)
            if line.strip() and not line.startswith(b"#"):
                break
            last -= 1
        return last


def _grouped_entries(starts: Sequence[tuple[int, bytes]], last: int) -> list[KeyedSection]:
    """Return groups of entries without the entries themselves. `starts` contains the first line and the text of each."""

    def location_of(i: int, j: int) -> Lines:
        return Lines(starts[i][0], starts[j][0] - 1 if j < len(starts) else last)

    def describe(i: int, j: int) -> tuple[str, str | None]:
        item = starts[i][1][:1] == b"-"
        ends = [_excerpt(starts[n][1][1:] if item else starts[n][1].partition(b":")[0]) for n in (i, j - 1)]
        return f"{'Items' if item else 'Keys'} {i + 1}-{j}: {ends[0]} - {ends[1]}", None

    found = grouped(len(starts), location_of, describe, type="items" if starts[0][1][:1] == b"-" else "keys")
    return [
        KeyedSection(each.title, each.type, each.location.first, each.location.last, None, tuple(each.children))
        for each in found
        if isinstance(each.location, Lines)
    ]


def _flow_end(data: bytes, start: int, end: int) -> int:
    """Return the offset after the flow collection or quoted string at `start`, or `start` if it is not closed."""
    if data[start] in b"\"'":
        found = _FLOW.match(data, start, end)
        return found.end() if found else start
    depth = 0
    for found in _FLOW.finditer(data, start, end):
        mark = found[0]
        depth += (mark in (b"[", b"{")) - (mark in (b"]", b"}"))
        if depth <= 0:
            return found.end()
    return start


def _excerpt(text: bytes) -> str:
    plain = text[:200].decode("utf-8", "replace").strip()
    return plain[1:-1] if len(plain) > 1 and plain[0] == plain[-1] and plain[0] in "\"'" else plain
