"""Builds outline items from the sections of configuration files, and outlines INI files."""

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
    """A section of a configuration file. `first` and `last` are its 1-based lines. `summary` describes its content."""

    title: str
    type: str
    first: int
    last: int
    summary: str | None = None
    children: tuple[OutlineItem, ...] = ()

    def outline_item(self) -> OutlineItem:
        """Convert the section to an outline item."""
        return OutlineItem(self.title, self.type, Lines(self.first, self.last), self.summary, self.children)


def section_items(entries: Sequence[KeyedSection], word: str) -> tuple[OutlineItem, ...]:
    """Return an outline item for each section, or for groups of sections if there are many.

    `word` is the plural noun in the titles of groups.
    """
    if len(entries) <= SINGLE:
        return tuple(entry.outline_item() for entry in entries)

    def name(start: int, end: int) -> tuple[str, str | None]:
        first, last = entries[start], entries[end - 1]
        return f"{word.capitalize()} {start + 1}-{end}: {first.title} - {last.title}", first.summary

    groups = grouped(len(entries), lambda i, j: Lines(entries[i].first, entries[j - 1].last), name, type=word)
    if len(entries) > SINGLE * 10:
        return groups
    return tuple(_with_members(group, entries) for group in groups)


def _with_members(group: OutlineItem, entries: Sequence[KeyedSection]) -> OutlineItem:
    """Return a copy of `group` in which the children of each innermost group are the sections within its lines."""
    location = group.location
    if group.children or not isinstance(location, Lines):
        return evolve(group, children=tuple(_with_members(each, entries) for each in group.children))
    inside = tuple(
        each.outline_item() for each in entries if location.first <= each.first and each.last <= location.last
    )
    return evolve(group, children=inside)


def summarize_keys(keys: Sequence[str], more: int = 0) -> str | None:
    """Return a summary with the number of keys and the first eight, or None if `keys` is empty.

    `more` is the number of keys that are not in `keys`.
    """
    if not keys:
        return None
    names = ", ".join(keys[:8])
    count = len(keys) + more
    return f"{count} key{'s' if count > 1 else ''}: {names}{', ...' if count > 8 else ''}"


_SECTION = re.compile(r"[ \t]*\[([^\]\[]{1,200})\][ \t]*(?:[;#].*)?\Z")
_PAIR = re.compile(r"([^\s;#=:\[][^=:]{0,100}?)\s*[=:]")


@frozen
class IniOutliner:
    """Outlines INI files. `fallback` outlines files that are very long or have no sections."""

    fallback: Outliner

    def outline(self, source: Source, progress: Progress) -> Outline:
        """See `Outliner.outline`. Keys before the first section form a section named `Keys`."""
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
        return Outline(title=None, extent=text.extent, items=section_items(entries, "sections"), facts=text.facts)
