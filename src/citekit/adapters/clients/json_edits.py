"""Adds, replaces, or removes one member of a JSON text with comments. The rest of the text is kept."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from attrs import define, field

_SPACE = re.compile(r"(?:[ \t\r\n\ufeff]+|//[^\n]*|/\*.*?\*/)*+", re.DOTALL)
_SCALAR = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*+"')
_DEEPEST = 100


class EditError(ValueError):
    """The text is not valid, or cannot be changed. The message is a clause."""


@define
class _Member:
    start: int
    value: _Value
    comma: int | None = None


@define
class _Value:
    """A value in the text, from `start` to `end`. `members` are those of an object, by name."""

    start: int
    end: int
    data: Any
    members: dict[str, _Member] | None = None
    duplicates: set[str] = field(factory=set)


def read(text: str) -> Any:
    """Return the data of a JSON text with comments and trailing commas, or None if it has no value.

    Raise `EditError` if it is not valid.
    """
    value = _document(text)
    return None if value is None else value.data


def with_member(text: str, path: Sequence[str], data: object) -> str:
    """Return the text with the member at `path` added or replaced. Missing objects are added.

    Raise `EditError` if the text is not valid, or a value on the path is not an object or contains the next name twice.
    """
    root = _document(text)
    newline = "\r\n" if "\r\n" in text else "\n"
    if root is None:
        written = _dumped(_nested(path, data), "", "  ", newline)
        return f"{text}{newline if text.strip() else ''}{written}{newline}"
    inner, rest = _deepest(root, path)
    unit = _unit(text, root)
    if not rest:
        member = inner.value
        indent = _indent_of_line(text, inner.start)
        return f"{text[: member.start]}{_dumped(data, indent, unit, newline)}{text[member.end :]}"
    return _inserted(text, inner, rest[0], _nested(rest[1:], data), unit, newline)


def without_member(text: str, path: Sequence[str]) -> str:
    """Return the text without the member at `path`, if there is one. Raise the same errors as `with_member`."""
    root = _document(text)
    if root is None:
        return text
    found, rest = _deepest(root, path)
    if rest:
        return text
    parent, _ = _deepest(root, path[:-1]) if len(path) > 1 else (_Member(0, root), ())
    members = list((parent.value.members or {}).values())
    start = len(text[: found.start].rstrip(" \t\r\n"))
    if text[start - 1] not in "{,":  # a comment precedes the member, perhaps up to the end of its line
        start = found.start
    end, comma = found.value.end, found.comma
    if comma is None:
        before = members[members.index(found) - 1].comma if members.index(found) else None
        cut = text[:start] + text[end:]
        return cut if before is None else cut[:before] + cut[before + 1 :]
    if text[end:comma].strip():
        return text[:start] + text[end:comma] + text[comma + 1 :]
    return text[:start] + text[comma + 1 :]


def _deepest(root: _Value, path: Sequence[str]) -> tuple[_Member, Sequence[str]]:
    """Return the deepest existing member on the path, and the rest of the path."""
    here = _Member(root.start, root)
    for depth, name in enumerate(path):
        if here.value.members is None:
            raise EditError(f"{'.'.join(path[:depth]) or 'its top level'} is not an object")
        if name in here.value.duplicates:
            raise EditError(f"it contains {name!r} more than once")
        if name not in here.value.members:
            return here, path[depth:]
        here = here.value.members[name]
    return here, ()


def _inserted(text: str, inner: _Member, name: str, data: object, unit: str, newline: str) -> str:
    value = inner.value
    assert value.members is not None
    at, label = value.start + 1, f"{json.dumps(name, ensure_ascii=False)}: "
    outer = _indent_of_line(text, value.start)
    first = next(iter(value.members.values()), None)
    if first is not None and "\n" not in text[at : first.start]:
        return f"{text[:at]}{label}{json.dumps(data, ensure_ascii=False)}, {text[at:]}"
    indent = outer + unit if first is None else _indent_of_line(text, first.start)
    member = f"{newline}{indent}{label}{_dumped(data, indent, unit, newline)}"
    if first is not None:
        return f"{text[:at]}{member},{text[at:]}"
    inside = text[at : value.end - 1]
    end = "" if "\n" in inside else f"{newline}{outer}"
    return f"{text[:at]}{member}{inside.rstrip(' ') if end else inside}{end}{text[value.end - 1 :]}"


def _nested(path: Sequence[str], data: object) -> object:
    for name in reversed(path):
        data = {name: data}
    return data


def _dumped(data: object, indent: str, unit: str, newline: str) -> str:
    return json.dumps(data, ensure_ascii=False, indent=unit).replace("\n", f"{newline}{indent}")


def _indent_of_line(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _unit(text: str, root: _Value) -> str:
    first = next(iter((root.members or {}).values()), None)
    line = "" if first is None else text[text.rfind("\n", 0, first.start) + 1 : first.start]
    return line if line and not line.strip(" \t") else "  "


def _document(text: str) -> _Value | None:
    at = _skip(text, 0)
    if at == len(text):
        return None
    try:
        value = _value(text, at, 0)
    except RecursionError as error:
        raise EditError("it is nested too deeply") from error
    if _skip(text, value.end) != len(text):
        raise _invalid(text, _skip(text, value.end))
    return value


def _value(text: str, at: int, depth: int) -> _Value:
    if depth > _DEEPEST:
        raise EditError("it is nested too deeply")
    match text[at : at + 1]:
        case "{":
            return _object(text, at, depth)
        case "[":
            return _array(text, at, depth)
        case '"':
            data, end = _string(text, at)
            return _Value(at, end, data)
    found = _SCALAR.match(text, at)
    if found is None:
        raise _invalid(text, at)
    return _Value(at, found.end(), json.loads(found[0]))


def _object(text: str, start: int, depth: int) -> _Value:
    found = _Value(start, start, {}, {})
    assert found.members is not None
    at = _skip(text, start + 1)
    while text[at : at + 1] != "}":
        name, end = _string(text, at)
        colon = _skip(text, end)
        if text[colon : colon + 1] != ":":
            raise _invalid(text, colon)
        member = _Member(at, _value(text, _skip(text, colon + 1), depth + 1))
        if name in found.members:
            found.duplicates.add(name)
        found.members[name] = member
        found.data[name] = member.value.data
        at = _skip(text, member.value.end)
        if text[at : at + 1] == ",":
            member.comma = at
            at = _skip(text, at + 1)
        elif text[at : at + 1] != "}":
            raise _invalid(text, at)
    found.end = at + 1
    return found


def _array(text: str, start: int, depth: int) -> _Value:
    items: list[Any] = []
    at = _skip(text, start + 1)
    while text[at : at + 1] != "]":
        item = _value(text, at, depth + 1)
        items.append(item.data)
        at = _skip(text, item.end)
        if text[at : at + 1] == ",":
            at = _skip(text, at + 1)
        elif text[at : at + 1] != "]":
            raise _invalid(text, at)
    return _Value(start, at + 1, items)


def _string(text: str, at: int) -> tuple[str, int]:
    found = _STRING.match(text, at)
    if found is None:
        raise _invalid(text, at)
    try:
        return str(json.loads(found[0])), found.end()
    except ValueError as error:
        raise _invalid(text, at) from error


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return at if found is None else found.end()


def _invalid(text: str, at: int) -> EditError:
    return EditError(f"it is not valid JSON at line {text.count(chr(10), 0, at) + 1}")
