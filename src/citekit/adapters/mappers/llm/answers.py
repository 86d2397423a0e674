"""Parses the text of a model's reply into nodes, even if the text is malformed or truncated.

In addition to the requested form (`title`, and `nodes` with levels), it accepts the nested form (`children`) and the
bare array of CiteKit 0.2, prose or code fences around them, and lists in which single nodes are not valid JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from attrs import evolve, field, frozen

NODE_LIMIT = 5000
"""The maximum number of nodes of one answer that are read."""

DEPTH_LIMIT = 32
"""The maximum number of levels of a nested answer that are read."""

_OPENING = re.compile(r'\{\s*(?:["}]|$)|\[\s*(?:[\{\]]|$)')
_LIST = re.compile(r'"(?:nodes|sections|segments|chapters|regions)"\s*:\s*\[|\A\[')
_TITLE = re.compile(r'"title"\s*:\s*("(?:[^"\\]|\\.)*+")', re.DOTALL)
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"|["{}\[\]]', re.DOTALL)
_THOUGHTS = re.compile(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)
_BETWEEN = re.compile(r"[\s,]*")


@frozen
class RawNode:
    """One node as the model wrote it. `path` is its position in the answer, such as `nodes[3]`.

    `record` has its fields; if it is None, `error` says why.
    """

    path: str
    level: int
    record: Mapping[str, object] | None
    error: str = ""


@frozen(kw_only=True)
class Answer:
    """The nodes and the title in a model's reply.

    `truncated` means that the reply ends early; `items` then has the complete nodes. `error` is set if the reply
    contains no answer.
    """

    title: str | None = None
    items: tuple[RawNode, ...] = field(default=(), converter=tuple[RawNode, ...])
    truncated: bool = False
    error: str | None = None


def read_answer(text: str) -> Answer:
    """Parse `text`, a model's reply, and return the answer in it, without incomplete nodes."""
    body = without_thoughts(text).strip()
    opening = _OPENING.search(body)
    if opening is None:
        said = " ".join(body.split())[:80]
        return Answer(error=f"it contains no JSON object; it begins with {said!r}" if said else "it is empty")
    body = body[opening.start() :]
    try:
        value, _ = _DECODER.raw_decode(body)
    except (ValueError, RecursionError) as wrong:
        return _salvaged(body, f"it {_reason(wrong)}")
    nodes = _nodes_of(value)
    if nodes is None:
        return Answer(error="it contains no list of nodes")
    return Answer(title=_title_of(value), items=_first_nodes(_items(nodes)))


def without_thoughts(text: str) -> str:
    """Return a reply without a byte order mark and without the thoughts that some models write first."""
    return _THOUGHTS.sub("", text.lstrip("\ufeff"))


def join_answers(answer: Answer, tail: Answer) -> Answer:
    """Return `answer` followed by `tail`, its continuation, without the nodes that the continuation repeats."""
    known = {_fingerprint(item) for item in answer.items}
    new = [item for item in tail.items if _fingerprint(item) not in known]
    numbered = (evolve(item, path=f"nodes[{len(answer.items) + n}]") for n, item in enumerate(new))
    items = (*answer.items, *numbered)
    return Answer(title=answer.title or tail.title, items=items[:NODE_LIMIT], truncated=tail.truncated)


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number in JSON")


_DECODER = json.JSONDecoder(strict=False, parse_constant=_no_constant)


def _reason(wrong: Exception) -> str:
    if isinstance(wrong, json.JSONDecodeError):
        return f"is not valid JSON: {wrong.msg} at line {wrong.lineno}, column {wrong.colno}"
    return "is nested too deeply" if isinstance(wrong, RecursionError) else f"is not valid JSON: {str(wrong)[:100]}"


def _nodes_of(value: object, depth: int = 0) -> list[Any] | None:
    """Return the list of nodes in a parsed answer; None if it has no such list."""
    if isinstance(value, list):
        return value
    if not isinstance(value, dict) or depth > 2:
        return None
    if isinstance(value.get("nodes"), list):
        return list(value["nodes"])
    lists = [item for item in value.values() if isinstance(item, list) and item and isinstance(item[0], dict)]
    if isinstance(value.get("title"), str) and set(value) & _LOCATION_FIELDS:
        return [value]
    if lists:
        return list(lists[0])
    inner = (_nodes_of(item, depth + 1) for item in value.values() if isinstance(item, dict))
    return next((found for found in inner if found is not None), None)


_LOCATION_FIELDS = {
    "location",
    "first_page",
    "first_line",
    "start",
    "pages",
    "lines",
    "bbox",
    "box_2d",
    "first_chapter",
    "chapter",
}


def _title_of(value: object) -> str | None:
    title = value.get("title") if isinstance(value, dict) else None
    return title if isinstance(title, str) and title.strip() else None


def _salvaged(body: str, reason: str) -> Answer:
    """Return the complete nodes of a reply that is not valid JSON as a whole, or the error `reason` if there are none."""
    opening = _LIST.search(body)
    if opening is None:
        return Answer(error=reason)
    title = _TITLE.search(body, 0, opening.start())
    values, closed = _values(body, opening.end())
    items = _first_nodes(_items(values))
    if not items:
        return Answer(error=reason)
    return Answer(title=_read_title(title), items=items, truncated=not closed)


def _read_title(found: re.Match[str] | None) -> str | None:
    try:
        return str(json.loads(found[1], strict=False)) or None if found else None
    except ValueError:
        return None


class _MalformedNode(str):
    """The reason why one node of an answer is not valid JSON."""

    __slots__ = ()


def _values(text: str, position: int) -> tuple[list[Any], bool]:
    """Return the objects of the JSON array that is open at `position`, and whether it is closed or has more than
    `NODE_LIMIT`.
    """
    values: list[Any] = []
    while len(values) <= NODE_LIMIT:
        between = _BETWEEN.match(text, position)
        position = between.end() if between else position
        if text[position : position + 1] != "{":
            return values, text[position : position + 1] == "]"
        end = _object_end(text, position)
        if end is None:
            return values, False
        values.append(_decoded(text[position:end]))
        position = end
    return values, True


def _object_end(text: str, start: int) -> int | None:
    """Return the position after the JSON object that starts at `start`; None if it is incomplete or malformed."""
    open_ = []
    for token in _TOKEN.finditer(text, start):
        if token[0] in "{[":
            open_.append("}" if token[0] == "{" else "]")
        elif token[0] in "}]":
            if token[0] != open_.pop():
                return None
            if not open_:
                return token.end()
        elif token[0] == '"':
            return None
    return None


def _decoded(text: str) -> Any:
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError) as wrong:
        return _MalformedNode(_reason(wrong))


def _items(values: list[Any]) -> Iterator[RawNode]:
    """Yield a `RawNode` for each of the parsed nodes `values`, each before its children."""
    dotted = _dotted_ids(values)
    pending = [(value, f"nodes[{n}]", 1) for n, value in reversed(list(enumerate(values)))]
    while pending:
        value, path, depth = pending.pop()
        if not isinstance(value, dict):
            reason = str(value) if isinstance(value, _MalformedNode) else "is not an object"
            yield RawNode(path, depth, None, reason)
            continue
        children = value.get("children")
        if isinstance(children, list) and depth < DEPTH_LIMIT:
            pending.extend((c, f"{path}.children[{n}]", depth + 1) for n, c in reversed(list(enumerate(children))))
        yield RawNode(path, _level(value, depth, dotted), _flattened(value))


def _first_nodes(items: Iterator[RawNode]) -> tuple[RawNode, ...]:
    return tuple(item for item, _ in zip(items, range(NODE_LIMIT), strict=False))


def _flattened(value: dict[str, object]) -> dict[str, object]:
    """Return the fields of a node and of its `location`, without nulls and without `children`."""
    inner = value.get("location")
    both = {**inner, **{k: v for k, v in value.items() if v is not None}} if isinstance(inner, dict) else value
    return {key: item for key, item in both.items() if item is not None and key not in ("location", "children")}


def _level(value: dict[str, object], depth: int, dotted: set[str]) -> int:
    """Return the level of a node: its depth if it is nested; otherwise, from its field `level` or its dotted ID, such
    as `ch1.intro`.
    """
    level = value.get("level")
    if isinstance(level, int) and not isinstance(level, bool) and depth == 1:
        return min(max(level, 1), DEPTH_LIMIT)
    name = value.get("id")
    if depth > 1 or not isinstance(name, str):
        return depth
    parts = name.split(".")[:DEPTH_LIMIT]
    return 1 + sum(".".join(parts[:n]) in dotted for n in range(1, len(parts)))


def _dotted_ids(values: list[Any]) -> set[str]:
    return {value["id"] for value in values if isinstance(value, dict) and isinstance(value.get("id"), str)}


def _fingerprint(item: RawNode) -> str:
    """Return a text that is equal for copies of a node that differ only in their summary, level, or ID."""
    record = item.record or {"": item.path}
    return repr(sorted((key, value) for key, value in record.items() if key not in ("summary", "level", "id")))
