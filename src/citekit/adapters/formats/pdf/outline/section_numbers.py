"""Moves sections below the siblings that their numbers name as their parents."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve

from citekit.adapters.formats.pdf.outline.heading_location import Section
from citekit.adapters.formats.pdf.outline.heading_numbers import number_parts


def nested_by_numbers(sections: Sequence[Section]) -> list[Section]:
    """Return the sections of bookmarks, with those such as `3.2.1` below a preceding sibling `3.2`.

    The sections below them are moved, too. Programs with few levels of bookmarks give deeper headings the lowest one.
    """
    nested: list[Section] = []
    around: list[tuple[int, int, tuple[str, ...]]] = []  # the levels said and used, and the number of each parent
    for section in sections:
        own = number_parts(section.title)
        while around and not _is_within(section.level, own, *around[-1]):
            around.pop()
        level = max(section.level, around[-1][1] + 1) if around else section.level
        around.append((section.level, level, own))
        nested.append(evolve(section, level=level))
    return nested


def _is_within(level: int, own: tuple[str, ...], said: int, _used: int, number: tuple[str, ...]) -> bool:
    """Return whether a section with the `level` and number `own` is in one with the level `said` and `number`."""
    is_part = len(own) > len(number) > 0 and own[: len(number)] == number
    return level > said or (level == said and is_part)
