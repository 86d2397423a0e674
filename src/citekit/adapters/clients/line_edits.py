"""Changes one table of a TOML text, or one entry of a YAML text, line by line.

The caller compares the parsed result with the expected data, because these functions understand only common structures.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence


def toml_with(text: str, key: str, name: str, data: Mapping[str, object]) -> str:
    """Return the TOML text with the table `[key.name]`, which replaces an existing one and the tables in it."""
    newline = "\r\n" if "\r\n" in text else "\n"
    rows = [f"[{key}.{name}]", *(f"{each} = {_toml(value)}" for each, value in data.items())]
    lines = text.splitlines(keepends=True)
    span = _toml_span(lines, key, name)
    block = [f"{row}{newline}" for row in rows]
    if span is not None:
        start, end = span
        return "".join([*lines[:start], *block, *([newline] if end < len(lines) else []), *lines[end:]])
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += newline
    return "".join([*lines, *([newline] if lines and lines[-1].strip() else []), *block])


def toml_without(text: str, key: str, name: str) -> str:
    """Return the TOML text without the table `[key.name]` and the tables in it."""
    lines = text.splitlines(keepends=True)
    span = _toml_span(lines, key, name)
    if span is None:
        return text
    start, end = span
    if end == len(lines) and start and not lines[start - 1].strip():
        start -= 1
    return "".join(lines[:start] + lines[end:])


def _toml_span(lines: Sequence[str], key: str, name: str) -> tuple[int, int] | None:
    header = re.compile(rf"\s*\[\s*{key}\s*\.\s*[\"']?{name}[\"']?\s*([.\]])")
    start = next((at for at, line in enumerate(lines) if (found := header.match(line)) and found[1] == "]"), None)
    if start is None:
        return None
    end = start + 1
    while end < len(lines) and (not lines[end].lstrip().startswith("[") or header.match(lines[end])):
        end += 1
    while end > start + 1 and lines[end - 1].lstrip().startswith("#"):
        end -= 1  # keep a comment above the next table
    return start, end


def _toml(value: object) -> str:
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{json.dumps(name)} = {_toml(each)}' for name, each in value.items())} }}"
    return json.dumps(value, ensure_ascii=False)


def yaml_with(text: str, key: str, name: str, data: Mapping[str, object]) -> str:
    """Return the YAML text with `name` as the first entry of the top-level mapping `key`. An existing entry is
    replaced.
    """
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = yaml_without(text, key, name).splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += newline
    at = _yaml_key(lines, key)
    if at is None:
        lines.append(f"{key}:{newline}")
        at = len(lines) - 1
    else:
        lines[at] = re.sub(r":\s*\{\s*\}", ":", lines[at])
    indent = _child_indent(lines, at)
    rows = [f"{indent}{name}:", *(f"{indent}  {each}: {json.dumps(value)}" for each, value in data.items())]
    return "".join([*lines[: at + 1], *(f"{row}{newline}" for row in rows), *lines[at + 1 :]])


def yaml_without(text: str, key: str, name: str) -> str:
    """Return the YAML text without the entry `name` in the mapping `key`."""
    lines = text.splitlines(keepends=True)
    at = _yaml_key(lines, key)
    if at is None:
        return text
    indent = _child_indent(lines, at)
    entry = re.compile(rf"{indent}[\"']?{re.escape(name)}[\"']?\s*:")
    end = next((n for n in range(at + 1, len(lines)) if _depth(lines[n]) == 0), len(lines))
    start = next((n for n in range(at + 1, end) if entry.match(lines[n])), None)
    if start is None:
        return text
    stop = start + 1
    while stop < end and (_depth(lines[stop]) or 0) > len(indent):
        stop += 1
    is_last = not any(_depth(line) is not None for line in [*lines[at + 1 : start], *lines[stop:end]])
    if is_last:
        lines[at] = lines[at].replace(":", ": {}", 1)
    return "".join(lines[:start] + lines[stop:])


def _yaml_key(lines: Sequence[str], key: str) -> int | None:
    return next((at for at, line in enumerate(lines) if re.match(rf"{key}\s*:\s*(\{{\s*\}}\s*)?(#.*)?$", line)), None)


def _child_indent(lines: Sequence[str], at: int) -> str:
    for line in lines[at + 1 :]:
        depth = _depth(line)
        if depth is not None:
            return line[:depth] or "  "
    return "  "


def _depth(line: str) -> int | None:
    """Return the indentation of a line, or None for a line that is empty or a comment."""
    inner = line.strip()
    return None if not inner or inner.startswith("#") else len(line) - len(line.lstrip(" "))
