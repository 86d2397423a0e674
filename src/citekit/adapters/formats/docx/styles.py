"""Reads the styles of a Word document (ECMA-376 part 1, 17.7): their heading levels and their fonts.

The built-in heading styles are named `heading 1` to `heading 9` in every language.
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
"""The outline level of body text."""

CHAIN_LIMIT = 50
"""Maximum length of a chain of styles that are based on each other."""

_HEADING = re.compile(r"heading ([1-9])\d?", re.I)
"""Matches the names of heading styles, also of those that programs number when they import a style (`Heading 11`)."""

_ENTRY = re.compile(r"toc (?:[1-9]|heading)", re.I)


@define
class _Style:
    name: str
    based_on: str
    level: int | None
    bold: bool | None
    size: int | None
    height: str | None
    alignment: str | None
    number: tuple[str | None, int | None]


@define
class Styles:
    """The styles of a Word document by ID: paragraph styles (`known`) and character styles (`runs`).

    `default` is the ID of the default paragraph style, and `usual_size` the font size, in half points, without a style
    (17.7.5).
    """

    known: dict[str, _Style] = field(factory=dict)
    runs: dict[str, _Style] = field(factory=dict)
    default: str = ""
    usual_size: int = 20

    @classmethod
    def of(cls, root: _Element | None) -> Styles:
        """Read the styles defined below `root`. Return no styles if `root` is None."""
        styles = cls()
        usual = None if root is None else root.find("{*}docDefaults/{*}rPrDefault/{*}rPr")
        styles.usual_size = (None if usual is None else whole(value_of(usual, "sz"))) or styles.usual_size
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
        """Return the outline level of the paragraph style `key`, counted from 0, or `BODY` for body text."""
        for style in self._chain(key):
            if style.level is not None:
                return style.level
            named = _HEADING.fullmatch(style.name)
            if named:
                return int(named[1]) - 1
        return BODY

    def is_called(self, key: str, name: str) -> bool:
        """Return whether the paragraph style `key` is, or is based on, the built-in style `name` (in lower case)."""
        return any(style.name.casefold() == name for style in self._chain(key))

    def is_entry(self, key: str) -> bool:
        """Return whether the paragraph style `key` is, or is based on, a style for a table of contents: its heading, or
        its entries (`toc 1` to `toc 9`).
        """
        return any(_ENTRY.fullmatch(style.name) for style in self._chain(key))

    def is_bold(self, key: str) -> bool:
        """Return whether the paragraph style `key` is bold. A style overrides those that it is based on."""
        return next((style.bold for style in self._chain(key) if style.bold is not None), False)

    def is_bold_run(self, run: str) -> bool:
        """Return whether the character style `run`, such as `Strong`, is bold."""
        return next((style.bold for style in self._chain(run, self.runs) if style.bold is not None), False)

    def size(self, key: str) -> int | None:
        """Return the font size of the paragraph style `key` in half points, or None."""
        return next((style.size for style in self._chain(key) if style.size is not None), None)

    def alignment(self, key: str) -> str | None:
        """Return the alignment of the paragraph style `key`, such as `center` (17.3.1.13), or None."""
        return next((style.alignment for style in self._chain(key) if style.alignment is not None), None)

    def number(self, key: str) -> tuple[str | None, int | None]:
        """Return the ID of the list that the paragraph style `key` belongs to and the level there (from 0), or None for
        each.
        """
        found = [style.number for style in self._chain(key)]
        number = next((number for number, _ in found if number is not None), None)
        return number, next((level for _, level in found if level is not None), None)

    def names(self, key: str) -> Iterator[str]:
        """Yield the IDs of the paragraph style `key` and of those that it is based on."""
        yield key or self.default
        yield from (style.based_on for style in self._chain(key) if style.based_on)

    def height(self, run: str) -> str | None:
        """Return the vertical alignment of the character style `run`, such as superscript (17.3.2.42), or None."""
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
        bold=None if run is None else said_of(run, "b"),
        size=None if run is None else whole(value_of(run, "sz")),
        height=None if run is None else value_of(run, "vertAlign"),
        alignment=None if paragraph is None else value_of(paragraph, "jc"),
        number=(None, None) if paragraph is None else own_number(paragraph),
    )


def outline_level(properties: _Element) -> int | None:
    """Return the outline level in the properties of a paragraph, counted from 0, or None."""
    level = whole(value_of(properties, "outlineLvl"))
    return None if level is None else min(level, BODY)


def own_number(properties: _Element) -> tuple[str | None, int | None]:
    """Return the ID of the list and the level there (from 0) in the properties of a paragraph (17.3.1.19), or None for
    each.
    """
    said = next(below(properties, "numPr"), None)
    return (None, None) if said is None else (value_of(said, "numId"), whole(value_of(said, "ilvl")))


def value_of(element: _Element, name: str) -> str | None:
    """Return the `val` attribute of the child element `name`, or None."""
    child = next(below(element, name), None)
    return None if child is None else attribute(child, "val")


def said_of(properties: _Element, name: str) -> bool | None:
    """Return whether the on-off property `name` is on (17.17.4), or None."""
    child = next(below(properties, name), None)
    return None if child is None else attribute(child, "val") not in ("0", "false", "off")


def whole(text: str | None) -> int | None:
    """Parse a nonnegative integer of at most five digits, or return None."""
    return int(text) if text and len(text) < 6 and text.isascii() and text.isdigit() else None


def signed(text: str | None, digits: int = 5) -> int | None:
    """Parse an integer of at most `digits` digits, which may be negative, or return None."""
    bare = (text or "").removeprefix("-")
    if not bare or len(bare) > digits or not bare.isascii() or not bare.isdigit():
        return None
    return -int(bare) if text and text.startswith("-") else int(bare)
