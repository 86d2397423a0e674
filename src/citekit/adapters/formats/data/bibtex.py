"""Outlines bibliographies (BibTeX, BibLaTeX) by entry."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice, zip_longest

from attrs import frozen

from citekit.adapters.formats.data.content import Content, open_data_file
from citekit.adapters.formats.data.groups import gathered
from citekit.adapters.formats.markup.latex_words import plain
from citekit.adapters.formats.shared.outline import Outline, OutlineItem, Outliner
from citekit.domain.progress import Progress
from citekit.domain.source import Source

ENTRIES_LIMIT = 50_000
"""The maximum number of entries that become nodes."""

_ENTRY = re.compile(
    rb"^[ \t]*@([A-Za-z]{1,40})[ \t\r\n]{0,20}\{[ \t\r\n]{0,20}([^\s,{}()\"=#%]{1,200})[ \t\r\n]{0,20},", re.M
)
_FIELD = re.compile(r"([A-Za-z][\w-]{0,40})\s{0,40}=\s{0,40}")
_STRING = re.compile(rb"^[ \t]*@string[ \t\r\n]{0,20}[{(]", re.M | re.I)
_NO_ENTRIES = frozenset((b"comment", b"preamble", b"string"))
_ENTRY_LIMIT = 20_000
_MACROS_LIMIT = 10_000
_MACRO_LIMIT = 1000
"""The maximum number of characters of a macro, whose value may contain other macros."""
_AUTHORS = 3
_CONTAINERS = ("journal", "journaltitle", "booktitle", "publisher", "institution", "school")
_BRACE = re.compile(rb"[{}]")


@frozen
class BibtexOutliner:
    """Outlines bibliographies. `fallback` outlines files that are too large or have no entries."""

    fallback: Outliner

    def outline(self, source: Source, progress: Progress) -> Outline:
        """See `Outliner.outline`. Each entry is a node, whose ID is made from the key of the entry."""
        file = open_data_file(source, progress)
        items = [] if file.content is None else list(_entries(file.content))
        if not items:
            return file.by_lines(self.fallback, source, progress)
        facts = {**file.text.facts, "entry_count": len(items)}
        return Outline(title=None, extent=file.text.extent, items=gathered(items, "entries"), facts=facts)


def _entries(content: Content) -> Iterator[OutlineItem]:
    data = content.data
    found = [each for each in islice(_ENTRY.finditer(data), ENTRIES_LIMIT) if each[1].lower() not in _NO_ENTRIES]
    ends = [
        _closing(data, entry.start(), after.start() if after else len(data))
        for entry, after in zip_longest(found, found[1:])
    ]
    places = {entry[2]: (entry.end(), end) for entry, end in zip(found, ends, strict=True)}
    macros = _macros(data)
    for entry, end in zip(found, ends, strict=True):
        kind, key = entry[1].decode().lower(), entry[2].decode("utf-8", "replace")
        fields = _plain_fields(data, entry.end(), end, macros)
        parent = places.get(fields.get("crossref", "").encode())
        if parent is not None and parent != (entry.end(), end):
            inherited = _plain_fields(data, *parent, macros)
            if "title" in inherited:
                inherited.setdefault("booktitle", inherited.pop("title"))
            fields = {**inherited, **fields}
        year = fields.get("year") or fields.get("date", "")[:4]
        title = fields.get("title") or fields.get("booktitle") or key
        where = next((fields[each] for each in _CONTAINERS if fields.get(each)), "")
        summary = ", ".join(filter(None, (_names(fields.get("author") or fields.get("editor") or ""), where, year)))
        lines = content.lines(entry.start(), end)
        yield OutlineItem(
            f"{title} ({year})" if year else title, kind, lines, f"{key}: {summary}", keep_case=True, name=key
        )


def _closing(data: bytes, start: int, limit: int) -> int:
    """Return the offset after the entry at `start`, or after its last text before `limit` if it is not closed."""
    depth = 0
    for brace in _BRACE.finditer(data, start, limit):
        depth += 1 if brace[0] == b"{" else -1
        if depth == 0:
            return brace.end()
    return start + len(data[start:limit].rstrip())


def _macros(data: bytes) -> Mapping[str, str]:
    """Return the values of the macros that `@string` defines, by name in lowercase. A value may contain earlier macros."""
    macros: dict[str, str] = {}
    for string in islice(_STRING.finditer(data), _MACROS_LIMIT):
        text = data[string.end() : string.end() + _MACRO_LIMIT].decode("utf-8", "replace")
        for name, value in islice(_fields(text, macros), 1):
            macros[name] = value[:_MACRO_LIMIT]
    return macros


def _plain_fields(data: bytes, start: int, end: int, macros: Mapping[str, str]) -> dict[str, str]:
    text = data[start : min(end, start + _ENTRY_LIMIT)].decode("utf-8", "replace")
    return {name: " ".join(plain(value).split()) for name, value in _fields(text, macros)}


def _fields(text: str, macros: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the name, in lowercase, and the value of each field of an entry, with macros replaced by their values."""
    position = 0
    while field := _FIELD.search(text, position):
        start = position = field.end()
        depth, quoted, value = 0, False, ""
        for position in range(start, len(text) + 1):
            sign = text[position : position + 1]
            if sign == '"' and depth == 0 and (quoted or not text[start:position].strip()):
                quoted = not quoted
            depth += (sign == "{") - (sign == "}")
            ends = not sign or depth < 0 or (sign in ",)" and depth == 0 and not quoted)
            if ends or (sign == "#" and depth == 0 and not quoted):
                piece = text[start:position].strip()
                if len(value) < _ENTRY_LIMIT:
                    value += macros.get(piece.lower(), piece.removeprefix('"').removesuffix('"'))
                start = position + 1
            if ends:
                break
        yield field[1].lower(), value.strip()
        position = max(position, field.end() + 1)


def _names(authors: str) -> str:
    names = authors.split(" and ")
    return "; ".join(names[:_AUTHORS]) + (" and others" if len(names) > _AUTHORS else "")
