"""Sections of configuration files, nested by their dotted names; and INI files, with a node per section.

A section extends from its header to the next one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from attrs import evolve, frozen

from citekit.adapters.formats.data.groups import SINGLE, grouped
from citekit.adapters.formats.shared.outline import Outline, OutlineItem, Outliner
from citekit.adapters.formats.shared.text_file import open_text
from citekit.domain.locations import Lines
from citekit.domain.progress import Progress
from citekit.domain.source import Source


@frozen
class KeyedSection:
    """A part of a file: `first` and `last` are lines, `summary` says what it holds."""

    title: str
    type: str
    first: int
    last: int
    summary: str | None = None
    children: tuple[OutlineItem, ...] = ()

    def outline_item(self) -> OutlineItem:
        """The entry as a node."""
        return OutlineItem(self.title, self.type, Lines(self.first, self.last), self.summary, self.children)


def section_items(entries: Sequence[KeyedSection], word: str) -> tuple[OutlineItem, ...]:
    """A node for each entry, or for groups of them where they are many; `word` names several (`keys`, `items`)."""
    if len(entries) <= SINGLE:
        return tuple(entry.outline_item() for entry in entries)

    def name(start: int, end: int) -> tuple[str, str | None]:
        first, last = entries[start], entries[end - 1]
        return f"{word.capitalize()} {start + 1}-{end}: {first.title} - {last.title}", first.summary

    groups = grouped(len(entries), lambda i, j: Lines(entries[i].first, entries[j - 1].last), name, type=word)
    if len(entries) > SINGLE * 10:
        return groups
    return tuple(_filled(group, entries) for group in groups)


def _filled(group: OutlineItem, entries: Sequence[KeyedSection]) -> OutlineItem:
    """A group with its entries below it."""
    place = group.location
    if group.children or not isinstance(place, Lines):
        return evolve(group, children=tuple(_filled(each, entries) for each in group.children))
    inside = tuple(each.outline_item() for each in entries if place.first <= each.first and each.last <= place.last)
    return evolve(group, children=inside)


def summarize_keys(keys: Sequence[str], more: int = 0) -> str | None:
    """A summary: the first keys of a part."""
    if not keys:
        return None
    shown = ", ".join(keys[:8])
    count = len(keys) + more
    return f"{count} key{'s' if count > 1 else ''}: {shown}{', ...' if count > 8 else ''}"


_SECTION = re.compile(r"[ \t]*\[([^\]\[]{1,200})\][ \t]*(?:[;#].*)?\Z")
_PAIR = re.compile(r"([^\s;#=:\[][^=:]{0,100}?)\s*[=:]")


@frozen
class IniOutliner:
    """`fallback` maps what is long, or has no sections."""

    fallback: Outliner

    def outline(self, source: Source, progress: Progress) -> Outline:
        """Sections, each to before the next; what comes before the first is `Keys`. Raises `SourceUnreadable`."""
        text = open_text(source.path, progress)
        names, starts, keys = ["Keys"], [1], [list[str]()]
        for number, line in enumerate(() if text.is_long else text.lines(progress), 1):
            section = _SECTION.match(line)
            if section:
                names.append(section[1].strip())
                starts.append(number)
                keys.append([])
            elif len(keys[-1]) < 1000 and (pair := _PAIR.match(line)):
                keys[-1].append(pair[1])
        if len(names) == 1:
            return self.fallback.outline(source, progress)
        ends = [*(start - 1 for start in starts[1:]), text.line_count]
        entries = [
            KeyedSection(name, "section", first, last, summarize_keys(held))
            for name, first, last, held in zip(names, starts, ends, keys, strict=True)
            if last >= first and (name != "Keys" or held)
        ]
        return Outline(title=None, bounds=text.bounds, items=section_items(entries, "sections"), facts=text.facts)
