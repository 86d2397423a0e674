"""The structure that an outliner finds in a file: outline items, the future nodes of a map."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from attrs import evolve, field, frozen

from citekit.domain.errors import LocationOutside
from citekit.domain.extent import Extent
from citekit.domain.ids import node_id
from citekit.domain.locations import Location
from citekit.domain.node import Node
from citekit.domain.progress import Progress
from citekit.domain.source import Source

TITLE_LIMIT = 200
SUMMARY_LIMIT = 300

_JOINERS = "\u200c\u200d"
_INVISIBLE_IN_WORDS = re.compile(
    f"[\u00ad\u2060\ufeff]|(?<![^\\x00-\\x7f\\s{_JOINERS}])[{_JOINERS}]|[{_JOINERS}](?![^\\x00-\\x7f\\s{_JOINERS}])"
)
"""Matches invisible characters in words, except joiners between non-ASCII characters (for Persian, Hindi, and emoji).
"""


@frozen
class OutlineItem:
    """A future node of a map. Its ID is derived from `name` or the title; with `keep_case`, upper case is kept."""

    title: str
    type: str
    location: Location
    summary: str | None = None
    children: Sequence[OutlineItem] = field(default=(), converter=tuple["OutlineItem", ...])
    keep_case: bool = False
    name: str | None = None


@frozen(kw_only=True)
class Outline:
    """The structure of one file. `title` is the file's own title, or None if it has none.

    `facts` are added to the metadata of the map, and `notes` are for the readers of the map.
    """

    title: str | None
    extent: Extent
    items: Sequence[OutlineItem] = field(converter=tuple[OutlineItem, ...])
    facts: Mapping[str, Any] = field(factory=dict)
    notes: Sequence[str] = field(default=(), converter=tuple[str, ...])


class Outliner(Protocol):
    """A component that finds the structure of files of one format."""

    def outline(self, source: Source, progress: Progress) -> Outline:
        """Return the structure of `source`, and report progress with `progress`. Raise the same errors as `Mapper.map`."""


def make_nodes(outline: Outline) -> tuple[Node, ...]:
    """Return the nodes for an outline, with unique IDs and single-line titles and summaries.

    Locations are clamped to the extent of the file, and items outside it are dropped with their children. Outliners
    must return parents whose locations contain those of their children.
    """
    return tuple(_make_nodes(outline.items, "", outline.extent, set()))


def _make_nodes(items: Sequence[OutlineItem], parent: str, extent: Extent, used_ids: set[str]) -> Iterator[Node]:
    for item in items:
        try:
            location = item.location.clamp(extent)
        except LocationOutside:
            continue
        identifier = node_id(parent, item.name or item.title, used_ids, fallback=item.type, keep_case=item.keep_case)
        used_ids.add(identifier)
        yield Node(
            id=identifier,
            title=one_line(item.title, TITLE_LIMIT) or item.type,
            type=item.type,
            location=location,
            summary=one_line(item.summary or "", SUMMARY_LIMIT) or None,
            children=tuple(_make_nodes(item.children, identifier, extent, used_ids)),
        )


def one_line(text: str, limit: int) -> str:
    """Return `text` on one line without control characters and invisible characters in words; longer texts are cut to
    at most `limit` characters, including "...".
    """
    visible = text if text.isascii() else _INVISIBLE_IN_WORDS.sub("", text)
    characters = (c if c.isprintable() or c.isspace() or c in _JOINERS else " " for c in visible)
    flat = " ".join("".join(characters).split())
    if len(flat) <= limit:
        return flat
    head = flat[: limit - 3].rsplit(" ", 1)[0]
    return f"{head if len(head) > limit // 2 else flat[: limit - 3]}..."


def nested(leveled: Sequence[tuple[int, OutlineItem]]) -> tuple[OutlineItem, ...]:
    """Build a tree from (level, item) pairs in reading order; return its top-level items.

    The parent of an item is the nearest preceding item with a smaller level. Children that an item already has come
    first.
    """
    roots: list[tuple[OutlineItem, list[Any]]] = []
    stack: list[tuple[int, list[Any]]] = [(-1, roots)]
    for level, item in leveled:
        while stack[-1][0] >= level:
            stack.pop()
        branch: tuple[OutlineItem, list[Any]] = (item, [])
        stack[-1][1].append(branch)
        stack.append((level, branch[1]))
    return _build_tree(roots)


def _build_tree(branches: list[tuple[OutlineItem, list[Any]]]) -> tuple[OutlineItem, ...]:
    return tuple(evolve(item, children=(*item.children, *_build_tree(below))) for item, below in branches)
