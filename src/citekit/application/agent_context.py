"""Renders the outlines of maps as one text for a model, within a token budget."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, chain, zip_longest
from typing import Any, Protocol

from attrs import define, field, frozen

from citekit.domain.address import Address
from citekit.domain.errors import MapCorrupt, RequestRefused, ResourceMissing
from citekit.domain.node import Node
from citekit.domain.ports.map_store import MapStore
from citekit.domain.resource_map import ResourceMap
from citekit.domain.unicode_controls import IGNORED

TOKEN = 4
"""Characters per token: an estimate for English prose."""

SUMMARY_LIMIT = 160
TITLE_LIMIT = 120

FORMATS = ("markdown", "json")


@frozen
class AgentContext:
    """The text for a model, and the numbers of nodes that are shown and that did not fit."""

    text: str
    shown: int
    left_out: int


@frozen
class ReadContext:
    """Renders stored maps as one text."""

    maps: MapStore

    def __call__(
        self, resources: Sequence[str] = (), *, format: str = "markdown", budget: int | None = None
    ) -> AgentContext:
        """Return the outline of `resources`, or of every readable map if none are given, without the library's chunks.

        Raise `ResourceMissing` and `MapCorrupt` for the given resources, and the errors of `agent_context`.
        """
        found = [self.maps.get(name) for name in dict.fromkeys(resources)] if resources else list(self._readable())
        return agent_context([each.outline for each in found], format=format, budget=budget)

    def _readable(self) -> Iterator[ResourceMap]:
        for name in self.maps.ids():
            try:
                yield self.maps.get(name)
            except (MapCorrupt, ResourceMissing):
                continue


def agent_context(maps: Sequence[ResourceMap], *, format: str = "markdown", budget: int | None = None) -> AgentContext:
    """Render the outline of `maps`: nodes with IDs and addresses, in at most `budget` tokens (4 characters each).

    Higher levels are included first; the text is in reading order. Raise `RequestRefused` for an unknown format, or for
    a budget that is too small for the titles of the maps.
    """
    if format not in FORMATS:
        raise RequestRefused(f"The format of an outline must be {' or '.join(FORMATS)}, not {format!r}.")
    writer: _Writer = _Json(maps) if format == "json" else _Markdown(maps)
    order = list(_coarse_first(maps))
    count = len(order) if budget is None else _fitting(writer, order, budget * TOKEN)
    shown = {(number, node.id) for number, node, _ in order[:count]}
    return AgentContext(writer.text(shown, len(order) - count), count, len(order) - count)


_Shown = set[tuple[int, str]]
_Place = tuple[int, Node, int]
"""The index of a map, one of its nodes, and the depth of the node, from 0."""


class _Writer(Protocol):
    def text(self, shown: _Shown, left_out: int) -> str: ...

    def cost(self, place: _Place) -> int: ...


def _coarse_first(maps: Sequence[ResourceMap]) -> Iterator[_Place]:
    """Yield every node, level by level; within a level, one node per map in turn."""
    levels = [[(number, node, 0) for node in each.nodes] for number, each in enumerate(maps)]
    while any(levels):
        yield from (place for place in chain.from_iterable(zip_longest(*levels)) if place is not None)
        levels = [
            [(number, child, depth + 1) for number, node, depth in level for child in node.children] for level in levels
        ]


def _fitting(writer: _Writer, order: Sequence[_Place], room: int) -> int:
    """Return the number of nodes that fit into `room` characters.

    Raise `RequestRefused` if the titles of the maps do not fit.
    """
    if len(writer.text({(number, node.id) for number, node, _ in order}, 0)) <= room:
        return len(order)
    needed = len(writer.text(set(), len(order)))
    if needed > room:
        raise RequestRefused(
            f"The titles of the resources alone need {-(-needed // TOKEN)} tokens, but the budget is {room // TOKEN}. "
            "Increase the budget, or select fewer resources."
        )
    costs = accumulate(writer.cost(place) for place in order[:-1])
    return sum(needed + cost <= room for cost in costs)


@define
class _Markdown:
    maps: Sequence[ResourceMap]
    lines: dict[tuple[int, str], str] = field(factory=dict)

    def text(self, shown: _Shown, left_out: int) -> str:
        return "\n".join([*self._lines(shown), *self._end(left_out)])

    def cost(self, place: _Place) -> int:
        return len(self._line(place)) + 1

    def _lines(self, shown: _Shown) -> Iterator[str]:
        yield "# Resources"
        for number, each in enumerate(self.maps):
            yield ""
            yield f"## {_quoted(each.title, TITLE_LIMIT)} (id: {_inert(each.resource_id)}, {each.modality})"
            yield from (self._line(place) for place in _within(number, each.nodes, shown))

    def _end(self, left_out: int) -> Sequence[str]:
        nodes = "node was" if left_out == 1 else "nodes were"
        return ["", f"({left_out} more {nodes} left out to fit the budget.)"] if left_out else []

    def _line(self, place: _Place) -> str:
        number, node, depth = place
        if (number, node.id) not in self.lines:
            where = Address(self.maps[number].resource_id, node.location)
            summary = _quoted(node.summary or "", SUMMARY_LIMIT)
            title = _quoted(node.title, TITLE_LIMIT)
            line = f"{'  ' * depth}- **{_inert(node.id)}**: {title} <{where}>{f' - {summary}' if summary else ''}"
            self.lines[number, node.id] = line
        return self.lines[number, node.id]


@define
class _Json:
    maps: Sequence[ResourceMap]

    def text(self, shown: _Shown, left_out: int) -> str:
        resources = [
            {**self._head(each), "nodes": self._nodes(number, each.nodes, shown)}
            for number, each in enumerate(self.maps)
        ]
        return _compact({"resources": resources, "left_out": left_out})

    def cost(self, place: _Place) -> int:
        number, node, _ = place
        return len(_compact({**self._plain(number, node), "children": []})) + 1

    def _head(self, each: ResourceMap) -> dict[str, Any]:
        return {"id": each.resource_id, "title": _brief(each.title, TITLE_LIMIT), "type": each.modality.value}

    def _nodes(self, number: int, nodes: Sequence[Node], shown: _Shown) -> list[dict[str, Any]]:
        kept = [node for node in nodes if (number, node.id) in shown]
        found = []
        for node in kept:
            children = self._nodes(number, node.children, shown)
            found.append({**self._plain(number, node), **({"children": children} if children else {})})
        return found

    def _plain(self, number: int, node: Node) -> dict[str, Any]:
        where = str(Address(self.maps[number].resource_id, node.location))
        plain = {"id": node.id, "title": _brief(node.title, TITLE_LIMIT), "address": where}
        summary = _brief(node.summary or "", SUMMARY_LIMIT)
        return {**plain, "summary": summary} if summary else plain


def _within(number: int, nodes: Sequence[Node], shown: _Shown) -> Iterator[_Place]:
    """Yield the shown nodes, in reading order."""
    pending = [(node, 0) for node in reversed(nodes)]
    while pending:
        node, depth = pending.pop()
        if (number, node.id) in shown:
            yield number, node, depth
            pending.extend((child, depth + 1) for child in reversed(node.children))


def _is_seen(character: str) -> bool:
    """Return whether readers see a character: some fillers and selectors are invisible, but printable for Python."""
    return character.isprintable() and not _FILLER.match(character)


_FILLER = re.compile(f"[{IGNORED}]")


def _quoted(text: str, limit: int) -> str:
    return _inert(_brief(text, limit))


def _inert(text: str) -> str:
    """Escape text from a file so that it cannot imitate the outline's markup."""
    if text.isidentifier():
        return text
    flat = "".join(c if _is_seen(c) else " " for c in text)
    return _MARKS.sub(r"\\\g<0>", flat)


_MARKS = re.compile(r"[\\`*\[\]<]")


def _brief(text: str, limit: int) -> str:
    flat = " ".join("".join(c if _is_seen(c) or c.isspace() else " " for c in text).split())
    return flat if len(flat) <= limit else f"{flat[: limit - 3].rstrip()}..."


def _compact(plain: Mapping[str, Any]) -> str:
    text = json.dumps(plain, ensure_ascii=False, separators=(",", ":"))
    return text if text.isprintable() else "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)
