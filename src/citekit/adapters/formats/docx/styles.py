"""The styles of a Word document: what they say of headings, of how text looks, and of what is hidden.

WordprocessingML: ECMA-376 part 1, 17.7. The built-in styles of headings are called `heading 1` to `heading 9` in every
language, whatever their ids.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from attrs import define, field

from citekit.adapters.libraries.office_package import attribute, below

if TYPE_CHECKING:
    from lxml.etree import _Element

BODY = 9
"""The outline level of what is no heading."""

CHAIN_LIMIT = 50
"""Styles that a style may be based on, one after the other."""

_HEADING = re.compile(r"heading ([1-9])", re.I)


@define
class _Style:
    name: str
    based_on: str
    level: int | None
    bold: bool
    size: int | None
    hidden: bool | None
    height: str | None


@define
class Styles:
    """The styles of a document: `known` are those of paragraphs, `runs` those of characters."""

    known: dict[str, _Style] = field(factory=dict)
    runs: dict[str, _Style] = field(factory=dict)
    default: str = ""

    @classmethod
    def of(cls, root: _Element | None) -> Styles:
        """Those of the part that holds them; none without."""
        styles = cls()
        for each in () if root is None else below(root, "style"):
            if (attribute(each, "type") or "paragraph") == "paragraph":
                key = attribute(each, "styleId") or ""
                styles.known[key] = _style(each)
                if attribute(each, "default") in ("1", "true"):
                    styles.default = key
            elif attribute(each, "type") == "character":
                styles.runs[attribute(each, "styleId") or ""] = _style(each)
        return styles

    def level(self, key: str) -> int:
        """The outline level from 0, `BODY` for text."""
        for style in self._chain(key):
            if style.level is not None:
                return style.level
            named = _HEADING.fullmatch(style.name)
            if named:
                return int(named[1]) - 1
        return BODY

    def is_called(self, key: str, name: str) -> bool:
        """Whether a style is the built-in one of that name, or based on it."""
        return any(style.name.casefold() == name for style in self._chain(key))

    def is_bold(self, key: str) -> bool:
        """Whether the style makes text bold."""
        return any(style.bold for style in self._chain(key))

    def size(self, key: str) -> int | None:
        """The size of the style's text in half points."""
        return next((style.size for style in self._chain(key) if style.size is not None), None)

    def hides(self, paragraph: str, run: str) -> bool:
        """Whether text of these styles is hidden (17.3.2.41), which is a toggle: twice is not at all (17.7.3)."""
        above = next((each.hidden for each in self._chain(paragraph) if each.hidden is not None), False)
        own = next((each.hidden for each in self._chain(run, self.runs) if each.hidden is not None), False)
        return above != own

    def height(self, run: str) -> str | None:
        """Whether a style of characters makes them superscripts or subscripts (17.3.2.42)."""
        return next((each.height for each in self._chain(run, self.runs) if each.height is not None), None)

    def _chain(self, key: str, known: dict[str, _Style] | None = None) -> Iterator[_Style]:
        for _ in range(CHAIN_LIMIT):
            style = self.known.get(key or self.default) if known is None else known.get(key)
            if style is None:
                return
            yield style
            if not style.based_on:
                return
            key = style.based_on


def _style(element: _Element) -> _Style:
    paragraph = next(below(element, "pPr"), None)
    run = next(below(element, "rPr"), None)
    level = None if paragraph is None else outline_level(paragraph)
    return _Style(
        name=value_of(element, "name") or "",
        based_on=value_of(element, "basedOn") or "",
        level=level,
        bold=run is not None and said_of(run, "b") is True,
        size=None if run is None else whole(value_of(run, "sz")),
        hidden=None if run is None else said_of(run, "vanish"),
        height=None if run is None else value_of(run, "vertAlign"),
    )


def outline_level(properties: _Element) -> int | None:
    """The outline level that the properties of a paragraph say."""
    level = whole(value_of(properties, "outlineLvl"))
    return None if level is None else min(level, BODY)


def value_of(element: _Element, name: str) -> str | None:
    """The value of the property of that name."""
    child = next(below(element, name), None)
    return None if child is None else attribute(child, "val")


def said_of(properties: _Element, name: str) -> bool | None:
    """Whether a property that is on or off is on (17.17.4); None where nothing is said."""
    child = next(below(properties, name), None)
    return None if child is None else attribute(child, "val") not in ("0", "false", "off")


def whole(text: str | None) -> int | None:
    """A number of at most five digits; None for anything else."""
    return int(text) if text and len(text) < 6 and text.isascii() and text.isdigit() else None
