"""Outlines the elements at the first levels of an XML file.

The parser expat reports the offsets of tags and loads no external entities.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Mapping
from html import unescape
from typing import Any

from attrs import define, evolve, field, frozen

from citekit.adapters.formats.data.content import Content, open_data_file
from citekit.adapters.formats.data.groups import SINGLE, grouped
from citekit.adapters.formats.shared.outline import Outline, OutlineItem, Outliner
from citekit.domain.locations import Lines
from citekit.domain.phrases import counted
from citekit.domain.progress import Progress
from citekit.domain.source import Source

DEEPEST = 5
"""The maximum number of levels of elements that are recorded, including levels with a single element."""

ELEMENTS_LIMIT = 2_000_000
"""The maximum number of elements that are recorded."""

_LONG = 30
"""An element that spans more lines than this can have child nodes."""

_LABELS = 50_000
_LABEL_NAMES = ("title", "name", "label", "id", "key", "ref")
_LABEL_LIMIT = 200
_TAG = re.compile(rb"<(?:[^>\"']|\"[^\"]*+\"|'[^']*+')*+>")
_EXCERPT_LIMIT = 1000
_STEP = 50_000


@define
class Elements:
    """The elements at the first levels of an XML file, in the order of their start tags.

    `depths` are levels counted from 0. `starts` are the byte offsets of the start tags, and `ends` those of the end
    tags or, for an empty-element tag, the offset after the tag. `tags` are indexes into `names`. `labels` are by index
    of the element. `fault` describes a syntax error, or is None.
    """

    depths: array[int] = field(factory=lambda: array("b"), repr=False)
    starts: array[int] = field(factory=lambda: array("q"), repr=False)
    ends: array[int] = field(factory=lambda: array("q"), repr=False)
    tags: array[int] = field(factory=lambda: array("l"), repr=False)
    names: list[str] = field(factory=list)
    labels: dict[int, str] = field(factory=dict)
    fault: str | None = None

    def name(self, index: int) -> str:
        """Return the tag name of the element with index `index`."""
        return self.names[self.tags[index]]


@frozen
class XmlOutliner:
    """Outlines XML files. `fallback` outlines files that are too large or have no elements."""

    fallback: Outliner

    def outline(self, source: Source, progress: Progress) -> Outline:
        """See `Outliner.outline`. The elements are in groups if there are many."""
        file = open_data_file(source, progress)
        if file.content is None:
            return file.by_lines(self.fallback, source, progress)
        found = read_elements(file.content.data, progress)
        if not found.depths:
            return file.by_lines(self.fallback, source, progress)
        tree = _Tree(file.content, found)
        top = tree.top()
        return Outline(
            title=next((found.labels[index] for index in top if index in found.labels), None),
            extent=file.text.extent,
            items=tree.items(top[-1]),
            facts={**file.text.facts, "root": found.name(0)},
            notes=[found.fault] if found.fault else [],
        )


def read_elements(data: bytes, progress: Progress) -> Elements:
    """Return the elements of the UTF-8 document `data`, up to the first syntax error, which `fault` describes."""
    from xml.parsers import expat

    reader = _Reader(expat.ParserCreate("utf-8"), Elements(), len(data), progress)
    try:
        reader.parser.Parse(data, True)
    except expat.ExpatError as error:
        line = reader.parser.ErrorLineNumber
        reader.found.fault = f"The XML cannot be parsed from line {line} on: {expat.ErrorString(error.code)}."
    reader.close()
    return reader.found


class _Reader:
    """Collects elements from the events of the XML parser expat."""

    def __init__(self, parser: Any, found: Elements, size: int, progress: Progress) -> None:
        self.parser, self.found, self.size, self.progress = parser, found, size, progress
        self.depth, self.seen = 0, 0
        self.open: list[int] = []
        self.numbers: dict[str, int] = {}
        self.label: int | None = None
        self.words: list[str] = []
        parser.StartElementHandler, parser.EndElementHandler = self.start, self.end
        parser.CharacterDataHandler = None

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        self.seen += 1
        if self.seen % _STEP == 0:
            self.progress(self.parser.CurrentByteIndex, self.size, "reading elements")
        found = self.found
        if self.depth < DEEPEST and len(found.depths) < ELEMENTS_LIMIT:
            index = len(found.depths)
            self.open.append(index)
            found.depths.append(self.depth)
            found.starts.append(self.parser.CurrentByteIndex)
            found.ends.append(-1)
            found.tags.append(self._number(name))
            self._label_from_attributes(index, attributes)
        elif self.depth < DEEPEST:
            self.open.append(-1)
        if self.open and name.rpartition(":")[2].lower() in _LABEL_NAMES[:3]:
            self._collect_label(self.depth - 1)
        self.depth += 1

    def _number(self, name: str) -> int:
        if name not in self.numbers:
            self.numbers[name] = len(self.found.names)
            self.found.names.append(name)
        return self.numbers[name]

    def _label_from_attributes(self, index: int, attributes: Mapping[str, str]) -> None:
        if len(self.found.labels) < _LABELS and attributes:
            plain = {name.rpartition(":")[2].lower(): value for name, value in attributes.items()}
            text = next((plain[name] for name in _LABEL_NAMES if plain.get(name)), None)
            if text:
                self.found.labels[index] = text[:_LABEL_LIMIT]

    def _collect_label(self, depth: int) -> None:
        """Collect the text of a `title`, `name`, or `label` element as the label of its parent at the level `depth`."""
        above = self.open[depth] if 0 <= depth < len(self.open) else -1
        if above >= 0 and len(self.found.labels) < _LABELS and self.label is None and above not in self.found.labels:
            self.label, self.words = above, []
            self.parser.CharacterDataHandler = self._add_text

    def _add_text(self, text: str) -> None:
        if sum(map(len, self.words)) < _LABEL_LIMIT and len(self.words) < _LABEL_LIMIT:
            self.words.append(text)

    def end(self, _name: str) -> None:
        self.depth -= 1
        if self.label is not None:
            text = " ".join("".join(self.words).split())[:_LABEL_LIMIT]
            if text:
                self.found.labels[self.label] = text
            self.label, self.parser.CharacterDataHandler = None, None
        if self.depth < DEEPEST:
            index = self.open.pop()
            if index >= 0:
                self.found.ends[index] = self.parser.CurrentByteIndex

    def close(self) -> None:
        """Set the end of all elements that are still open to the end of the data."""
        for index in self.open:
            if index >= 0:
                self.found.ends[index] = self.size


@frozen
class _Tree:
    content: Content
    found: Elements

    def top(self) -> list[int]:
        """Return the root element and the chain of only children below it that have children."""
        top, below = [0], self._below(0)
        while len(below) == 1 and len(top) < DEEPEST - 1:
            inner = self._below(below[0])
            if not inner:
                break
            top.append(below[0])
            below = inner
        return top

    def items(self, index: int) -> tuple[OutlineItem, ...]:
        """Return outline items for the children of an element, or for the element itself if it has none."""
        below = self._below(index)
        return self._many(below) if below else (self._one(index),)

    def _below(self, index: int) -> list[int]:
        """Return the indexes of an element's children."""
        depths, starts, end = self.found.depths, self.found.starts, self.found.ends[index]
        depth, found = depths[index] + 1, []
        for each in range(index + 1, len(depths)):
            if depths[each] < depth or starts[each] > end:
                break
            if depths[each] == depth:
                found.append(each)
        return found

    def _location(self, first: int, last: int) -> Lines:
        return self.content.lines(self.found.starts[first], self._end(last))

    def _end(self, index: int) -> int:
        """Return the byte offset after the end tag of an element."""
        data, start, end = self.content.data, self.found.starts[index], self.found.ends[index]
        tag = _TAG.match(data, start)
        if tag and tag.end() == end and tag[0].endswith(b"/>"):
            return end
        closed = data.find(b">", end)
        return closed + 1 if closed >= 0 else len(data)

    def _many(self, indexes: list[int]) -> tuple[OutlineItem, ...]:
        if len(indexes) <= SINGLE:
            return tuple(self._one(index) for index in indexes)

        def name(start: int, end: int) -> tuple[str, str | None]:
            first, last = indexes[start], indexes[end - 1]
            tag = self.found.name(first)
            labels = [self.found.labels.get(each, "") for each in (first, last)]
            return f"{tag} {start + 1}-{end}", " - ".join(labels) if all(labels) else None

        height = self._location(indexes[0], indexes[-1])
        most = max(20, (height.last - height.first) // 4)
        return grouped(
            len(indexes),
            lambda i, j: self._location(indexes[i], indexes[j - 1]),
            name,
            type="elements",
            most=min(2500, most),
        )

    def _one(self, index: int) -> OutlineItem:
        location, label = self._location(index, index), self.found.labels.get(index, "")
        long = location.last - location.first >= _LONG
        below = self._below(index) if self.found.depths[index] < DEEPEST - 1 else []
        summary = self._names(below) if below else self._excerpt(index) if not label else None
        children = self._many(below) if long and below else ()
        item = OutlineItem(f"{self.found.name(index)} {label}".strip(), "element", location, summary)
        return evolve(item, children=children)

    def _names(self, below: list[int]) -> str:
        names = list(dict.fromkeys(self.found.name(each) for each in below))
        more = ", ..." if len(names) > 8 else ""
        return f"{counted(len(below), 'element')}: {', '.join(names[:8])}{more}"

    def _excerpt(self, index: int) -> str | None:
        """Return the text at the beginning of an element, without tags, or None."""
        start = self.found.starts[index]
        written = self.content.data[start : min(max(start, self.found.ends[index]), start + _EXCERPT_LIMIT)]
        words = unescape(_TAG.sub(b" ", written).decode("utf-8", "replace"))
        return " ".join(words.partition("<")[0].split()) or None
