"""The lines of a page with their type: what tells a heading from the text below it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from attrs import evolve, frozen

from citekit.adapters.formats.pdf.document.links import LinkReader
from citekit.adapters.formats.pdf.document.text import Line, text_flags
from citekit.adapters.libraries.mupdf.engine import exclusive

LINK_LIMIT = 1000
"""Links of one page that are read."""

SMALLER = 0.85
"""How many times the size of its line a number before it has at most that is no part of it."""

_ITALIC, _MONO, _BOLD = 2, 8, 16
_BOLD_NAMES = ("bold", "black", "heavy", "demi", "cmbx", "cmssbx", "-medi", "sfbx")
_ITALIC_NAMES = ("italic", "oblique", "slant", "cmti", "cmsl", "cmbxti", "cmbxsl", "sfti", "sfsl", "sfbi", "sfbl")
_MONO_NAMES = ("mono", "courier", "cmtt", "consol", "typewriter", "sftt", "-code")


@frozen
class Typed(Line):
    """A line with its type; `font` is its name without the mark of a subset, in lower case.

    `upright` says that it runs across the page as it is shown, and not along its side; `tail` that it ends in
    another weight than it begins with, as a term that runs into its definition does; `noted` that it begins with a
    number in smaller type, such as lines of code and notes have.
    """

    font: str = ""
    italic: bool = False
    mono: bool = False
    color: int = 0
    upright: bool = True
    tail: bool = False
    noted: bool = False


@frozen
class Link:
    """A link inside the document: its rectangle, and where it leads (`page` from 1, `y` from the top or NaN)."""

    left: float
    top: float
    right: float
    bottom: float
    page: int
    y: float


def page_links(page: Any, reader: LinkReader) -> list[Link]:
    """The links of `page` that lead to pages of the document. Call it inside `exclusive()` or `opened()`."""
    with exclusive():
        return [Link(*edges, number + 1, y) for edges, (number, y) in reader.links_of(page, LINK_LIMIT)]


Turn = tuple[float, float, float, float, float, float]
"""A matrix (a, b, c, d, e, f) as PDF writes it: x' = a x + c y + e, y' = b x + d y + f."""


def turn_of(page: Any) -> Turn | None:
    """How the lines of `page` come to stand as it is shown, None where it is not turned."""
    return tuple(page.rotation_matrix) if page.rotation else None


def typed_lines(page: Any) -> list[Typed]:
    """The lines of `page` that hold anything, in the order of the file. Call it inside `exclusive()` or `opened()`."""
    with exclusive() as pymupdf:
        blocks = pymupdf.TextPage(text_of(page)).extractDICT()["blocks"]
        turn = turn_of(page)
    lines = [_line(line, number, turn) for number, block in enumerate(blocks) for line in block.get("lines", ())]
    return [line for line in lines if line.text]


def text_of(page: Any) -> Any:
    """As `page.get_textpage`, which turns a page upright by writing to the document; one that stands so needs no such."""
    with exclusive() as pymupdf:
        flags = text_flags()
        if page.rotation:
            return page.get_textpage(flags=flags).this
        return pymupdf.mupdf.FzStextPage(page.this, pymupdf.mupdf.FzStextOptions(flags))


def turned(line: Typed, turn: Turn) -> Typed:
    """The line as the page shows it."""
    a, b, c, d, e, f = turn
    corners = [(a * x + c * y + e, b * x + d * y + f) for x, y in ((line.left, line.top), (line.right, line.bottom))]
    (left, right), (top, bottom) = (sorted(along) for along in zip(*corners, strict=True))
    return evolve(line, left=left, top=top, right=right, bottom=bottom)


def typed(line: Line) -> Typed:
    """A line of unknown font, such as one read from a picture."""
    if isinstance(line, Typed):
        return line
    return Typed(line.text, line.left, line.top, line.right, line.bottom, line.size, line.bold, line.block)


_MARKS = {
    "´": "\u0301", "ˆ": "\u0302", "˜": "\u0303", "¨": "\u0308", "¸": "\u0327", "ˇ": "\u030c", "˘": "\u0306", "˚": "\u030a",
    "˙": "\u0307", "˝": "\u030b",
}  # fmt: skip
"""Accents that old fonts of TeX print as a character of their own before the letter, and what stands for them on it."""

_ACCENT = re.compile(r"[´ˆ˜¨¸ˇ˘˚˙˝][A-Za-z]|(?<=[^\W\d_])`[aeiouAEIOU]")

Style = tuple[str, float, bool, bool, bool, int]
"""Font, size, bold, italic, fixed width, and the colour as 0xRRGGBB."""

_SIGNS = " \t<>()[]{}.,:;/\\\"'“”’…·_-"
"""What does not count when the type of a line is told: it is often set in that of the text."""

_NONE: Style = ("", 0.0, False, False, False, 0)


def _line(plain: Any, block: int, turn: Turn | None) -> Typed:
    spans = plain["spans"]
    text = clean(spans[0]["text"] if len(spans) == 1 else "".join([span["text"] for span in spans]))
    (font, size, _, italic, mono, color), bold, tail = _type_of(spans)
    cosine, sine = plain["dir"]
    rise = sine if turn is None else cosine * turn[1] + sine * turn[3]
    left, top, right, bottom = plain["bbox"]
    return Typed(
        text,
        left,
        top,
        right,
        bottom,
        size,
        bold,
        block,
        font,
        italic,
        mono,
        color,
        abs(rise) < 0.1,
        tail,
        _is_noted(spans, size),
    )


def _is_noted(spans: Sequence[Any], size: float) -> bool:
    """Whether the first piece is a number that is smaller than the line."""
    return len(spans) > 1 and spans[0]["size"] < SMALLER * size and bool(spans[0]["text"].strip().isdecimal())


def _type_of(spans: Sequence[Any]) -> tuple[Style, bool, bool]:
    """The type of most of a line, whether nearly all of it is bold, and whether only its beginning is."""
    if not spans:
        return _NONE, False, False
    weight: dict[Style, int] = {}
    for span in spans:
        text = span["text"]
        if text == " " and weight:  # PyMuPDF makes a span of each space that is not in the file
            continue
        style = style_of(span["font"], span["size"], span["flags"], span["color"])
        weight[style] = weight.get(style, 0) + len(text.strip(_SIGNS))
    if len(weight) == 1:
        return style, style[2] and weight[style] > 0, False
    heavy, whole = sum([count for style, count in weight.items() if style[2]]), sum(weight.values())
    bold = heavy >= 0.9 * whole > 0
    tail = next(iter(weight))[2] and heavy > 0 and not bold
    return max(weight, key=weight.__getitem__), bold, tail


@lru_cache(maxsize=4096)
def style_of(font: str, size: float, flags: int, color: int) -> Style:
    """The type that MuPDF tells by the name of a font, its size, and flags."""
    name = font.rpartition("+")[2].lower()
    return (
        name,
        round(size * 2) / 2,
        bool(flags & _BOLD) or is_bold_name(name),
        bool(flags & _ITALIC) or any(part in name for part in _ITALIC_NAMES),
        bool(flags & _MONO) or any(part in name for part in _MONO_NAMES),
        color,
    )


def is_bold_name(font: str) -> bool:
    """Whether a font says by its name, in lower case, that it is a bold one."""
    return any(part in font for part in _BOLD_NAMES)


def clean(text: str) -> str:
    """What is seen of the text of a line: one space for each gap, none around it, accents on their letters."""
    if not text.isascii() and _ACCENT.search(text):
        text = _ACCENT.sub(_accented, text)
    if text.isprintable():
        return " ".join(text.split()) if "  " in text else text.strip(" ")  # no other white space is printable
    return " ".join(text.translate(_SHOWN).split())


def _accented(found: re.Match[str]) -> str:
    mark = _MARKS.get(found[0][0], "\u0300")
    return unicodedata.normalize("NFC", found[0][-1] + mark)


class _Shown(dict[int, int]):
    """For `str.translate`: what cannot be shown becomes a space. Filled as characters are met."""

    def __missing__(self, code: int) -> int:
        shown = self[code] = code if chr(code).isprintable() else 32
        return shown


_SHOWN = _Shown()
