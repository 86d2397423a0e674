"""Computes the look of text in a Word document from its styles, tables, and runs (ECMA-376 part 1, 17.7)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from attrs import asdict, define, evolve, field, frozen

from citekit.adapters.formats.docx.pages import LEAST_LINE, Box, Page, frame_of
from citekit.adapters.formats.docx.styles import CHAIN_LIMIT, said_of, signed, value_of, whole
from citekit.adapters.formats.shared.office_colors import (
    BLACK,
    TINY,
    WHITE,
    Color,
    drawn_color,
    hex_color,
    is_near,
    mixed,
    tinted,
)
from citekit.adapters.libraries.office_package import attribute, below, local

if TYPE_CHECKING:
    from lxml.etree import _Element

FARTHEST = 400
"""Text raised or lowered at least this far, in half points, may be outside the page."""

CHARACTER = 2.1
"""The width of a hundredth of a character, the unit of some indentations, in twentieths of a point (17.3.1.12), if
characters are 10.5 points wide.
"""

LEAST_SCALE = 5
"""Text whose letters are scaled to at most this percentage of their width is not legible."""

_SCHEME = {
    "background1": "lt1", "text1": "dk1", "background2": "lt2", "text2": "dk2", "light1": "lt1", "dark1": "dk1",
    "light2": "lt2", "dark2": "dk2", "hyperlink": "hlink", "followedHyperlink": "folHlink",
}  # fmt: skip
"""Maps the names of theme colors in Word (17.18.97) to the names of the colors in the theme."""

_HIGHLIGHTS = {
    "black": (0, 0, 0), "blue": (0, 0, 255), "cyan": (0, 255, 255), "green": (0, 255, 0), "magenta": (255, 0, 255),
    "red": (255, 0, 0), "yellow": (255, 255, 0), "white": WHITE, "darkBlue": (0, 0, 128), "darkCyan": (0, 128, 128),
    "darkGreen": (0, 128, 0), "darkMagenta": (128, 0, 128), "darkRed": (128, 0, 0), "darkYellow": (128, 128, 0),
    "darkGray": (128, 128, 128), "lightGray": (192, 192, 192),
}  # fmt: skip

AUTO, CLEAR = "auto", "clear"
"""The values for the automatic text color, which depends on the background, and for transparent text or backgrounds."""


@frozen
class Look:
    """Properties of text and of its paragraph; None means unspecified.

    `size` and `complex_size` are in half points, and `scale` is in percent. `spacing`, `fit` (the width of `fitText`),
    `line` (the exact height of a line), `left` (the indentation), `first` (the additional indentation of the first
    line), and `before` (the space above the paragraph) are in twentieths of a point. `position` is how far text is
    raised, in half points. `complex_size` applies instead of `size` if `is_complex`. `ink` (the color of the text),
    `fill` (its shading), `highlight`, and `around` (the shading of its paragraph or cell) are colors, `AUTO`, or
    `CLEAR`. `frame` is the text frame of the paragraph, and `number` the ID and the level of its list.
    """

    hidden: bool | None = None
    size: int | None = None
    complex_size: int | None = None
    is_complex: bool | None = None
    ink: Color | str | None = None
    fill: Color | str | None = None
    highlight: Color | str | None = None
    scale: int | None = None
    spacing: int | None = None
    fit: int | None = None
    around: Color | str | None = None
    line: int | None = None
    left: int | None = None
    first: int | None = None
    position: int | None = None
    before: int | None = None
    frame: Box | None = None
    number: tuple[str, str] | None = None

    @cached_property
    def _specified(self) -> dict[str, Any]:
        return {
            name: value for name, value in asdict(self, recurse=False).items() if value is not None and name != "hidden"
        }

    def with_(self, other: Look) -> Look:
        """Return this look with the properties that `other` specifies, except `hidden`."""
        return evolve(self, **other._specified) if other._specified else self

    def with_all(self, other: Look) -> Look:
        """Return this look with the properties that `other` specifies, including `hidden`."""
        look = self.with_(other)
        return look if other.hidden is None else evolve(look, hidden=other.hidden)

    @property
    def height(self) -> int:
        """The minimum height of a line with the space above its paragraph, in twentieths of a point."""
        return 10 * (self.size or 20) + (self.before or 0)

    def is_legible(self, behind: Color | None, page: Page, start: int) -> bool:
        """Return whether the text can be read on `page`.

        `start` is the distance of its paragraph from the left edge in twentieths of a point, and `behind` the color
        behind it (None: unknown).
        """
        size = (self.complex_size if self.is_complex else self.size) or 20
        if self.hidden or size <= 2 * TINY or (self.scale or 100) <= LEAST_SCALE:
            return False
        if (self.spacing or 0) <= -4 * size or (self.fit or LEAST_LINE + 1) <= LEAST_LINE:
            return False
        line = LEAST_LINE + 10 * size if self.line is None else self.line
        if line <= max(LEAST_LINE, 3 * size) or abs(self.position or 0) >= FARTHEST:
            return False
        left = start + (self.left or 0)
        if not page.shows_text_at(left) or not page.shows_text_at(left + (self.first or 0)):
            return False
        if (self.before or 0) >= page.height or (self.frame is not None and not page.shows(self.frame)):
            return False
        fills = (self.highlight, self.fill, self.around, behind)
        paper = next((each for each in fills if each is not None and not isinstance(each, str)), None)
        if isinstance(self.ink, str) or self.ink is None:
            return self.ink != CLEAR
        return paper is None or not is_near(self.ink, paper)


@define
class Looks:
    """The looks that a document defines.

    `theme` has the colors of the theme, and `default` is the look of text without a style. `styles` and `based` map the
    type and ID of a style to its look and to the ID of the style that it is based on. `parts` has the looks of the
    parts of table styles, `usual` the ID of the default style of each type, `numbered` the looks of lists by ID and
    level, and `indents` the indentations of table styles in twentieths of a point.
    """

    theme: Mapping[str, Color] = field(factory=dict)
    default: Look = field(factory=Look)
    styles: dict[tuple[str, str], Look] = field(factory=dict)
    based: dict[tuple[str, str], str] = field(factory=dict)
    parts: dict[tuple[str, str], Look] = field(factory=dict)
    usual: dict[str, str] = field(factory=dict)
    numbered: dict[tuple[str, str], Look] = field(factory=dict)
    indents: dict[str, int] = field(factory=dict)

    @classmethod
    def of(cls, root: _Element | None, theme: Mapping[str, Color]) -> Looks:
        """Read the styles defined below `root`. If `root` is None, there are none."""
        looks = cls(theme)
        if root is None:
            return looks
        looks.default = looks.look(
            root.find("{*}docDefaults/{*}rPrDefault/{*}rPr"), root.find("{*}docDefaults/{*}pPrDefault/{*}pPr")
        )
        for each in below(root, "style"):
            kind, name = attribute(each, "type") or "paragraph", attribute(each, "styleId") or ""
            if attribute(each, "default") in ("1", "true"):
                looks.usual[kind] = name
            looks.styles[kind, name] = looks._own(each)
            looks.based[kind, name] = value_of(each, "basedOn") or ""
            indent = each.find("{*}tblPr/{*}tblInd")
            if indent is not None:
                looks.indents[name] = signed(attribute(indent, "w"), digits=7) or 0
            for part in below(each, "tblStylePr"):
                looks.parts[name, attribute(part, "type") or ""] = looks._own(part)
        return looks

    def add_lists(self, root: _Element) -> None:
        """Read how each level of the lists formats its paragraphs (ECMA-376 part 1, 17.9.22) into `numbered`."""
        kinds = {attribute(each, "abstractNumId") or "": each for each in below(root, "abstractNum")}
        for each in below(root, "num"):
            kind = kinds.get(value_of(each, "abstractNumId") or "")
            levels = [] if kind is None else list(below(kind, "lvl"))
            for level in (*levels, *each.iterfind("{*}lvlOverride/{*}lvl")):
                key = attribute(each, "numId") or "", attribute(level, "ilvl") or "0"
                self.numbered[key] = self.look(None, level.find("{*}pPr"))

    def _own(self, style: _Element) -> Look:
        look = self.look(style.find("{*}rPr"), style.find("{*}pPr"))
        cell = self.shade(style.find("{*}tcPr")) or self.shade(style.find("{*}tblPr"))
        return look if cell is None else evolve(look, around=cell)

    def look(self, run: _Element | None, paragraph: _Element | None = None) -> Look:
        """Return the look that the properties of a run and of a paragraph specify."""
        look = Look() if run is None else self._run(run)
        if paragraph is None:
            return look
        spacing, indent = next(below(paragraph, "spacing"), None), next(below(paragraph, "ind"), None)
        exact = spacing is not None and attribute(spacing, "lineRule") == "exact"
        hanging = _indentation(indent, "hanging")
        return evolve(
            look,
            around=self.shade(paragraph),
            line=whole(attribute(spacing, "line")) if exact and spacing is not None else None,
            before=None if spacing is None else whole(attribute(spacing, "before")),
            frame=frame_of(paragraph),
            number=_number(paragraph),
            left=_indentation(indent, "start", "left"),
            first=_indentation(indent, "firstLine") if hanging is None else -hanging,
        )

    def _run(self, properties: _Element) -> Look:
        said = {local(each): each for each in properties}
        hidden = [value for name in ("vanish", "specVanish") if (value := said_of(properties, name)) is not None]
        flags = [value for name in ("rtl", "cs") if (value := said_of(properties, name)) is not None]
        marked = attribute(said["highlight"], "val") if "highlight" in said else None
        return Look(
            hidden=any(hidden) if hidden else None,
            size=whole(value_of(properties, "sz")),
            complex_size=whole(value_of(properties, "szCs")),
            is_complex=any(flags) if flags else None,
            ink=self._ink(said),
            fill=self.shade(properties),
            highlight=None if marked is None else _HIGHLIGHTS.get(marked, CLEAR),
            scale=whole(value_of(properties, "w")),
            spacing=signed(value_of(properties, "spacing")),
            fit=whole(value_of(properties, "fitText")),
            position=signed(value_of(properties, "position")),
        )

    def _ink(self, said: Mapping[str, _Element]) -> Color | str | None:
        """Return the color of text, `AUTO`, or `CLEAR`; None if unspecified. A text effect fill ([MS-DOCX] 2.6.1.14) takes
        precedence.
        """
        fill = said.get("textFill")
        if fill is not None and len(fill):
            if local(fill[0]) == "noFill":
                return AUTO if "textOutline" in said else CLEAR
            found = [drawn_color(each, self.scheme) for each in (fill[0], *fill[0].iterfind("{*}gsLst/{*}gs"))]
            shown = [mixed(each[0], WHITE, each[1]) for each in found if each is not None]
            if shown and all(is_near(shown[0], each) for each in shown):
                return shown[0]
        color = said.get("color")
        return None if color is None else self._color(color, "val", "theme") or AUTO

    def scheme(self, name: str) -> Color | None:
        """Return the theme color `name`, or None."""
        return self.theme.get(
            _SCHEME.get(name) or {"bg1": "lt1", "tx1": "dk1", "bg2": "lt2", "tx2": "dk2"}.get(name, name)
        )

    def _color(self, element: _Element, name: str, theme: str) -> Color | None:
        """Return the theme color of an element, or the color in its attribute `name`, or None for an automatic color.

        `theme` is the beginning of the names of the theme attributes: `theme`, as in `themeTint`, or `themeFill`.
        """
        plain = hex_color(attribute(element, name))
        found = self.scheme(attribute(element, f"{theme}Color" if theme == "theme" else theme) or "")
        if found is None:
            return plain
        tint, shade = (attribute(element, f"{theme}{each}") for each in ("Tint", "Shade"))
        for text, sign in ((tint, 1), (shade, -1)):
            try:
                found = found if text is None else tinted(found, sign * (1 - int(text, 16) / 255))
            except ValueError:
                continue
        return found

    def shade(self, properties: _Element | None) -> Color | str | None:
        """Return the shading color in the properties (17.3.5), or `CLEAR`; None if they specify no shading."""
        shading = None if properties is None else next(below(properties, "shd"), None)
        if shading is None:
            return None
        back = self._color(shading, "fill", "themeFill")
        kind = attribute(shading, "val") or "clear"
        if kind in ("clear", "nil"):
            return back if back is not None and kind == "clear" else CLEAR
        front = self._color(shading, "color", "theme") or BLACK
        share = whole(kind.removeprefix("pct")) if kind.startswith("pct") else 100 if kind == "solid" else 50
        return mixed(front, back or WHITE, (share or 50) / 100)

    def text(self, paragraph: str, style: str, table: Look, direct: Look, own: Look) -> Look:
        """Return the look of a run with the properties `own` and the character style `style`.

        The paragraph has the style `paragraph` and the properties `direct`, in a cell that looks like `table`. `hidden`
        is a toggle property (17.7.3): two styles that set it cancel each other, and the value in the run takes
        precedence.
        """
        styled = [
            self._styled(
                "paragraph", paragraph if ("paragraph", paragraph) in self.styles else self.usual.get("paragraph", "")
            ),
            self._styled("character", style),
        ]
        look = self.default
        lists = [self.numbered.get(each.number or ("", ""), Look()) for each in (styled[0], direct)]
        for each in (table, lists[0], styled[0], lists[1], direct, styled[1], own):
            look = look.with_(each)
        toggled = sum(bool(each.hidden) for each in (table, *styled)) % 2 == 1
        return evolve(look, hidden=(bool(self.default.hidden) or toggled) if own.hidden is None else own.hidden)

    def table(self, style: str, parts: tuple[str, ...]) -> Look:
        """Return the look of a cell in a table with the style `style`.

        `parts` are those of the style, such as `firstRow`, from the weakest to the strongest.
        """
        name = style if ("table", style) in self.styles else self.usual.get("table", "")
        look = self._styled("table", name)
        for part in parts:
            for each in reversed(list(self._chain("table", name))):
                found = self.parts.get((each, part))
                if found is not None:
                    look = look.with_all(found)
        return look

    def indent_of(self, style: str) -> int:
        """Return the indentation of tables with the style `style`, in twentieths of a point, or 0."""
        name = style if ("table", style) in self.styles else self.usual.get("table", "")
        return next((self.indents[each] for each in self._chain("table", name) if each in self.indents), 0)

    def _styled(self, kind: str, name: str) -> Look:
        look = Look()
        for each in reversed(list(self._chain(kind, name))):
            look = look.with_all(self.styles[kind, each])
        return look

    def _chain(self, kind: str, name: str) -> Iterator[str]:
        """Yield the IDs of a style and of the styles that it is based on, at most `CHAIN_LIMIT`."""
        for _ in range(CHAIN_LIMIT):
            if (kind, name) not in self.styles:
                return
            yield name
            name = self.based[kind, name]


def _number(paragraph: _Element) -> tuple[str, str] | None:
    said = next(below(paragraph, "numPr"), None)
    return None if said is None else (value_of(said, "numId") or "", value_of(said, "ilvl") or "0")


def _indentation(indent: _Element | None, *names: str) -> int | None:
    """Return the indentation in the first attribute of `names` that is specified, in twentieths of a point, or None."""
    if indent is None:
        return None
    for name in names:
        said, characters = (signed(attribute(indent, each)) for each in (name, f"{name}Chars"))
        if characters:
            return round(characters * CHARACTER)
        if said is not None:
            return said
    return None
