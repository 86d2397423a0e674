"""Sections of configuration files: what begins at a line and goes on to the next, nested by the names."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve, frozen

from citekit.adapters.mapping.local.data.grouping import SINGLE, grouped
from citekit.adapters.mapping.local.outline import Draft
from citekit.domain.locations import Lines


@frozen
class Entry:
    """A part of a file: `first` and `last` are lines, `summary` says what it holds."""

    title: str
    type: str
    first: int
    last: int
    summary: str | None = None
    children: tuple[Draft, ...] = ()

    def draft(self) -> Draft:
        """The entry as a node."""
        return Draft(self.title, self.type, Lines(self.first, self.last), self.summary, self.children)


def drafts(entries: Sequence[Entry], word: str) -> tuple[Draft, ...]:
    """A node for each entry, or for groups of them where they are many; `word` names several (`keys`, `items`)."""
    if len(entries) <= SINGLE:
        return tuple(entry.draft() for entry in entries)

    def name(start: int, end: int) -> tuple[str, str | None]:
        first, last = entries[start], entries[end - 1]
        return f"{word.capitalize()} {start + 1}-{end}: {first.title} - {last.title}", first.summary

    groups = grouped(len(entries), lambda i, j: Lines(entries[i].first, entries[j - 1].last), name, type=word)
    if len(entries) > SINGLE * 10:
        return groups
    return tuple(_filled(group, entries) for group in groups)


def _filled(group: Draft, entries: Sequence[Entry]) -> Draft:
    """A group with its entries below it."""
    place = group.location
    if group.children or not isinstance(place, Lines):
        return evolve(group, children=tuple(_filled(each, entries) for each in group.children))
    inside = tuple(each.draft() for each in entries if place.first <= each.first and each.last <= place.last)
    return evolve(group, children=inside)


def said(keys: Sequence[str], more: int = 0) -> str | None:
    """A summary: the first keys of a part."""
    if not keys:
        return None
    shown = ", ".join(keys[:8])
    count = len(keys) + more
    return f"{count} key{'s' if count > 1 else ''}: {shown}{', ...' if count > 8 else ''}"
