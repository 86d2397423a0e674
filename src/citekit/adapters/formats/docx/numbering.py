"""Computes the numbers that Word prints before automatically numbered paragraphs (ECMA-376 part 1, 17.9)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from attrs import define, field, frozen

from citekit.adapters.formats.docx.styles import Styles, own_number, said_of, value_of, whole
from citekit.adapters.formats.shared.roman_numbers import to_roman
from citekit.adapters.libraries.office_package import attribute, below

if TYPE_CHECKING:
    from lxml.etree import _Element

DEPTH = 9
"""The number of levels of a list."""

LONGEST = 24
"""Maximum number of characters of a number with the words around it, such as `Article IV.`. Others are left out."""

_PLACE = re.compile(r"%([1-9])")


@frozen
class _Level:
    start: int
    format: str
    text: str
    is_decimal: bool
    """Whether all numbers in `text` are decimal (17.9.4)."""


@define
class Numbering:
    """The lists that a document defines, and where each of them is while the paragraphs are numbered in order.

    `levels` maps the ID of a definition and a level, counted from 0, to what that level prints. `kinds` maps the ID of
    a list to its definition, `restarts` the ID of a list and a level to the number with which it begins there, and
    `styled` a definition and a paragraph style to the level that the style has there.
    """

    levels: dict[tuple[str, int], _Level] = field(factory=dict)
    kinds: dict[str, str] = field(factory=dict)
    restarts: dict[tuple[str, int], int] = field(factory=dict)
    styled: dict[tuple[str, str], int] = field(factory=dict)
    _counts: dict[str, list[int | None]] = field(factory=dict)

    @classmethod
    def of(cls, root: _Element | None) -> Numbering:
        """Read the lists defined below `root`. If `root` is None, there are none."""
        made = cls()
        links, defined = {}, {}
        for each in () if root is None else below(root, "abstractNum"):
            key = attribute(each, "abstractNumId") or ""
            made._define(key, each)
            defined[value_of(each, "styleLink") or key] = key
            links[key] = value_of(each, "numStyleLink") or ""
        for each in () if root is None else below(root, "num"):
            number, kind = attribute(each, "numId") or "", value_of(each, "abstractNumId") or ""
            made.kinds[number] = defined.get(links.get(kind) or kind, kind)
            for override in below(each, "lvlOverride"):
                start = whole(value_of(override, "startOverride"))
                if start is not None:
                    made.restarts[number, whole(attribute(override, "ilvl")) or 0] = start
        return made

    def _define(self, key: str, definition: _Element) -> None:
        for level in below(definition, "lvl"):
            at = whole(attribute(level, "ilvl")) or 0
            run = next(below(level, "rPr"), None)
            is_hidden = run is not None and said_of(run, "vanish") is True
            start = whole(value_of(level, "start"))
            self.levels[key, at] = _Level(
                start=0 if start is None else start,
                format=value_of(level, "numFmt") or "decimal",
                text="" if is_hidden else value_of(level, "lvlText") or "",
                is_decimal=said_of(level, "isLgl") is True,
            )
            style = value_of(level, "pStyle")
            if style:
                self.styled[key, style] = at

    def numbers(self, paragraphs: Sequence[_Element], styles: Styles) -> Mapping[int, str]:
        """Return what is printed before the numbered ones of `paragraphs`, by position.

        Bullets, numbers in unusual formats, and numbers of more than `LONGEST` characters are left out.
        """
        if not self.kinds:
            return {}
        found = {}
        for position, paragraph in enumerate(paragraphs):
            place = self._place(paragraph, styles)
            if place is not None and (number := self._next(*place)):
                found[position] = number
        return found

    def _place(self, paragraph: _Element, styles: Styles) -> tuple[str, int] | None:
        """Return the ID of the list of a paragraph and its level there, or None.

        Word does not number empty paragraphs that end a section of pages, nor those that tracked changes delete.
        """
        properties = next(below(paragraph, "pPr"), None)
        if properties is None or properties.find("{*}rPr/{*}del") is not None:
            return None
        if next(below(properties, "sectPr"), None) is not None and next(paragraph.iter("{*}t"), None) is None:
            return None
        style = value_of(properties, "pStyle") or ""
        own, own_level = own_number(properties)
        number, level = styles.number(style)
        number = number if own is None else own
        if number is None or number not in self.kinds:
            return None
        kind = self.kinds[number]
        linked = (self.styled[kind, each] for each in styles.names(style) if (kind, each) in self.styled)
        if own_level is None:
            own_level = next(linked, level)
        return number, min(own_level or 0, DEPTH - 1)

    def _next(self, number: str, level: int) -> str:
        """Count one paragraph of the list `number`, and return what is printed before it, or ""."""
        kind = self.kinds[number]
        counts = self._counts.setdefault(kind, [None] * DEPTH)
        for above in range(level):
            if counts[above] is None:
                counts[above] = self._start(kind, above)
        restart = self.restarts.pop((number, level), None)
        before = counts[level]
        counts[level] = restart if restart is not None else self._start(kind, level) if before is None else before + 1
        counts[level + 1 :] = [None] * (DEPTH - level - 1)
        return self._printed(kind, level, counts)

    def _start(self, kind: str, level: int) -> int:
        return self.levels[kind, level].start if (kind, level) in self.levels else 1

    def _printed(self, kind: str, level: int, counts: Sequence[int | None]) -> str:
        definition = self.levels.get((kind, level))
        if definition is None or definition.format == "bullet":
            return ""
        text = definition.text
        for digit in dict.fromkeys(_PLACE.findall(definition.text[:LONGEST])):
            at = int(digit) - 1
            named = self.levels.get((kind, at))
            format = "decimal" if definition.is_decimal or named is None else named.format
            count = _counted(counts[at] or 0, format)
            if not count and format != "none":
                return ""
            text = text.replace(f"%{digit}", count)
        text = " ".join(text.split())
        return text if len(text) <= LONGEST and any(map(str.isalnum, text)) else ""


def _counted(number: int, format: str) -> str:
    """Return a number in one of the formats of 17.18.59, or "" for an unusual format, or after the letters `zzz`."""
    if format in ("decimal", "decimalZero"):
        return f"{number:02}" if format == "decimalZero" else str(number)
    if format in ("upperRoman", "lowerRoman"):
        return to_roman(number).upper() if format == "upperRoman" else to_roman(number)
    if format in ("upperLetter", "lowerLetter") and 0 < number <= 26 * 3:
        letters = chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)
        return letters.upper() if format == "upperLetter" else letters
    return ""
