"""What the module of one format says about a file, before it becomes a map."""

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
_WITHIN_WORDS = re.compile(
    f"[\u00ad\u2060\ufeff]|(?<![^\\x00-\\x7f\\s{_JOINERS}])[{_JOINERS}]|[{_JOINERS}](?![^\\x00-\\x7f\\s{_JOINERS}])"
)
"""What parts no word and is not seen: soft hyphens, and joiners but those with which Persian, Hindi and emoji are written."""


@frozen
class Draft:
    """A node without an id, which is made of `name`, else of the title.

    `keep_case` is for names of code, which are case-sensitive in ids too.
    """

    title: str
    type: str
    location: Location
    summary: str | None = None
    children: Sequence[Draft] = field(default=(), converter=tuple["Draft", ...])
    keep_case: bool = False
    name: str | None = None


@frozen(kw_only=True)
class Outline:
    """The structure of one file: `facts` go into the map's metadata as they are and give its `bounds`.

    `notes` are sentences about how the structure was found, where that matters to its reader.
    """

    title: str | None
    bounds: Extent
    drafts: Sequence[Draft] = field(converter=tuple[Draft, ...])
    facts: Mapping[str, Any] = field(factory=dict)
    notes: Sequence[str] = field(default=(), converter=tuple[str, ...])


class Outliner(Protocol):
    """The module of one format."""

    def outline(self, source: Source, progress: Progress) -> Outline:
        """The structure of `source`. Raises as `Mapper.map` does."""


def plant(outline: Outline) -> tuple[Node, ...]:
    """The nodes of an outline: ids given, titles and summaries tidied, places clamped to the file.

    A draft that lies outside the file is dropped, its children with it. Parents are not stretched: an outliner gives
    parents that hold their children.
    """
    taken: set[str] = set()
    return tuple(_planted(outline.drafts, "", outline.bounds, taken))


def _planted(drafts: Sequence[Draft], parent: str, bounds: Extent, taken: set[str]) -> Iterator[Node]:
    for draft in drafts:
        try:
            location = draft.location.clamp(bounds)
        except LocationOutside:
            continue
        identifier = node_id(parent, draft.name or draft.title, taken, fallback=draft.type, keep_case=draft.keep_case)
        taken.add(identifier)
        yield Node(
            id=identifier,
            title=one_line(draft.title, TITLE_LIMIT) or draft.type,
            type=draft.type,
            location=location,
            summary=one_line(draft.summary or "", SUMMARY_LIMIT) or None,
            children=tuple(_planted(draft.children, identifier, bounds, taken)),
        )


def one_line(text: str, limit: int) -> str:
    """`text` on one line, control characters gone, cut at a word to at most `limit` characters."""
    whole = text if text.isascii() else _WITHIN_WORDS.sub("", text)
    parts = (c if c.isprintable() or c.isspace() or c in _JOINERS else " " for c in whole)
    flat = " ".join("".join(parts).split())
    if len(flat) <= limit:
        return flat
    head = flat[: limit - 3].rsplit(" ", 1)[0]
    return f"{head if len(head) > limit // 2 else flat[: limit - 3]}..."


def nested(items: Sequence[tuple[int, Draft]]) -> tuple[Draft, ...]:
    """Drafts with levels, in reading order, as a tree: each goes below the nearest one before it of a smaller level.

    Children that a draft has already come before those.
    """
    roots: list[tuple[Draft, list[Any]]] = []
    stack: list[tuple[int, list[Any]]] = [(-1, roots)]
    for level, draft in items:
        while stack[-1][0] >= level:
            stack.pop()
        entry: tuple[Draft, list[Any]] = (draft, [])
        stack[-1][1].append(entry)
        stack.append((level, entry[1]))
    return _grown(roots)


def _grown(entries: list[tuple[Draft, list[Any]]]) -> tuple[Draft, ...]:
    return tuple(evolve(draft, children=(*draft.children, *_grown(below))) for draft, below in entries)
