"""Reads the lines of a page with their font, size, and weight, exactly or quickly."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from itertools import takewhile
from typing import Any

from attrs import evolve, frozen

from citekit.adapters.formats.pdf.document.links import LinkReader
from citekit.adapters.formats.pdf.document.text import blocks_as_plain_data, printable, text_flags
from citekit.adapters.formats.pdf.document.visible_text import Blocks
from citekit.adapters.libraries.mupdf.engine import exclusive

LINK_LIMIT = 1000
"""The maximum number of links of one page that are read."""

NOTE_NUMBER_SIZE = 0.85
"""The number of a note at the start or end of a line is smaller than this multiple of the size of the line."""

SMALL_CAPITALS_RATIO = 1.45
"""The largest size of full capitals as a multiple of the size of small capitals."""

_RAISED, _ITALIC, _MONO, _BOLD = 1, 2, 8, 16
_BOLD_NAMES = ("bold", "black", "heavy", "demi", "cmbx", "cmssbx", "-medi", "sfbx")
_ITALIC_NAMES = ("italic", "oblique", "slant", "cmti", "cmsl", "cmbxti", "cmbxsl", "sfti", "sfsl", "sfbi", "sfbl")
_BEFORE_NOTE = re.compile(r"(?:[^\W\d_]{4}|[.,;:!?)\]”»\"])\s*\Z")
_NUMBER = re.compile(
    r"\s*(?:§\s*)?(?:[A-Z]?\d+(?:\.\d+)*[.:)]?|[A-Z](?:\.\d+)+[.:)]?|\(?(?:[A-Za-z]|[IVX]+|[ivx]+)[.:)])\s*"
)
"""The number of a heading: `2.1`, `(a)`, `IV.`"""

_SYMBOL_NAMES = ("wingding", "webding", "dingbat", "monotypesorts")
_BULLET = "• "
_MONO_NAMES = ("mono", "courier", "cmtt", "consol", "typewriter", "sftt", "-code")


@frozen
class Lead:
    """The beginning of a line in another style than the rest, with the number before it: its text, and the font, size
    in points, weight, and slant of its letters.
    """

    text: str
    font: str
    size: float
    bold: bool
    italic: bool


@frozen
class StyledLine:
    """A line of text with its style, and its edges in points from the top left corner of the page before its rotation.

    `size` is the font size of most of its characters, in points. `bold` is true if nearly all of its characters are
    bold. `block` is the number of its paragraph on the page. `font` is the font's name in lower case, without the
    subset prefix, or "" for a line from OCR. `upright` is true if the line is horizontal on the displayed page. `lead`
    is the beginning of a line that is in bold but not to its end, like a term before its definition, or that has a
    number and is in another font or slant than the rest. `has_note_number` is true if the line starts with a smaller
    number, like a line of code or a footnote. `note_mark` is the smaller raised number at its end that refers to a
    footnote, or "".
    """

    text: str
    left: float
    top: float
    right: float
    bottom: float
    size: float
    bold: bool
    block: int
    font: str = ""
    italic: bool = False
    mono: bool = False
    color: int = 0
    upright: bool = True
    lead: Lead | None = None
    has_note_number: bool = False
    note_mark: str = ""


@frozen
class Link:
    """A link inside the document: its rectangle in points, and its target.

    `page` is the 1-based target page, and `y` the distance from the top of that page in points, or NaN if unknown.
    """

    left: float
    top: float
    right: float
    bottom: float
    page: int
    y: float


def page_links(page: Any, reader: LinkReader) -> list[Link]:
    """Return the links of `page` that lead to pages of the document. Call it inside `exclusive()` or `opened()`."""
    with exclusive():
        return [Link(*edges, number + 1, y) for edges, (number, y) in reader.links_of(page, LINK_LIMIT)]


Rotation = tuple[float, float, float, float, float, float]
"""A matrix (a, b, c, d, e, f) as in PDF: x' = a x + c y + e, y' = b x + d y + f."""


def rotation_of(page: Any) -> Rotation | None:
    """Return the matrix from coordinates of `page` to those of the displayed page; None if the page is not rotated."""
    return tuple(page.rotation_matrix) if page.rotation else None


def styled_lines(page: Any, blocks: Blocks | None = None) -> list[StyledLine]:
    """Return the non-empty lines of `page` in file order. Call it inside `exclusive()` or `opened()`.

    `blocks` are the blocks of the page, if they have been read.
    """
    turn = rotation_of(page)
    blocks = blocks_of(text_page(page)) if blocks is None else blocks
    lines = [_line(line, number, turn) for number, block in enumerate(blocks) for line in block.get("lines", ())]
    return [line for line in lines if line.text]


def text_page(page: Any) -> Any:
    """Return MuPDF's structured text of `page`.

    Only rotated pages are read with `page.get_textpage`, because it writes to the document to turn them upright.
    """
    with exclusive() as pymupdf:
        flags = text_flags()
        if page.rotation:
            return page.get_textpage(flags=flags).this
        return pymupdf.mupdf.FzStextPage(page.this, pymupdf.mupdf.FzStextOptions(flags))


def blocks_of(structured: object) -> Blocks:
    """Return the blocks of the structured text of a page, as `page.get_text("dict", flags=text_flags())` does without
    annotations.
    """
    with exclusive() as pymupdf:
        blocks: Blocks = pymupdf.TextPage(structured).extractDICT()["blocks"]
        return blocks


def rotated(line: StyledLine, turn: Rotation) -> StyledLine:
    """Return `line` with its edges converted to the displayed page by the rotation matrix `turn`."""
    a, b, c, d, e, f = turn
    corners = [(a * x + c * y + e, b * x + d * y + f) for x, y in ((line.left, line.top), (line.right, line.bottom))]
    (left, right), (top, bottom) = (sorted(along) for along in zip(*corners, strict=True))
    return evolve(line, left=left, top=top, right=right, bottom=bottom)


_COMBINING = {
    "´": "\u0301", "ˆ": "\u0302", "˜": "\u0303", "¨": "\u0308", "¸": "\u0327", "ˇ": "\u030c", "˘": "\u0306", "˚": "\u030a",
    "˙": "\u0307", "˝": "\u030b",
}  # fmt: skip
"""Accents that old TeX fonts print as a separate character before the letter, and their combining characters."""

_ACCENT = re.compile(r"[´ˆ˜¨¸ˇ˘˚˙˝][A-Za-z]|(?<=[^\W\d_])`[aeiouAEIOU]")

SpanStyle = tuple[str, float, bool, bool, bool, int]
"""Font, size, bold, italic, monospaced, and color as 0xRRGGBB."""

_PUNCTUATION = " •\t<>()[]{}.,:;/\\\"'“”’…·_-"
"""Characters that do not count for the style of a line, because they are often set in the font of the body text."""

_NO_STYLE: SpanStyle = ("", 0.0, False, False, False, 0)


def _line(plain: Any, block: int, turn: Rotation | None) -> StyledLine:
    spans = plain["spans"]
    texts = [span["text"] for span in spans]
    if spans and _is_symbol(spans[0]["font"]) and len(texts[0].strip()) == 1:
        texts[0] = _BULLET
    text = clean("".join(texts))
    (font, size, _, italic, mono, color), bold, lead = _style_of_spans(spans)
    cosine, sine = plain["dir"]
    if len(spans) > 1 and text.isupper():
        size = _full_size(spans, size)
    rise = sine if turn is None else cosine * turn[1] + sine * turn[3]
    left, top, right, bottom = plain["bbox"]
    upright, noted = abs(rise) < 0.1, _has_note_number(spans, size)
    return StyledLine(
        text, left, top, right, bottom, size, bold, block, font, italic, mono, color, upright, lead, noted,
        _note_mark(spans, size),
    )  # fmt: skip


def _lead(spans: Sequence[Any]) -> Lead | None:
    """Return the beginning of a line in bold, or, if it is numbered, in another font or slant than what follows."""
    start = 1 if _NUMBER.fullmatch(spans[0]["text"]) else 0
    start = next((at for at in range(start, len(spans)) if not spans[at]["text"].isspace()), start)
    font, size, bold, italic, _, _ = _style_of(spans[start])
    if not bold and not _NUMBER.match(spans[0]["text"]):
        return None
    alike = [*takewhile(lambda span: span["text"].isspace() or _is_like(span, font, bold, italic), spans[start:])]
    if len(alike) == len(spans) - start or not any(map(str.isalpha, "".join([span["text"] for span in alike]))):
        return None
    text = clean("".join([span["text"] for span in [*spans[:start], *alike]]))
    return Lead(text, font, size, bold, italic) if text else None


def _is_like(span: Any, font: str, bold: bool, italic: bool) -> bool:
    """Return whether `span` is bold, too, or else in the same font and slant."""
    own = _style_of(span)
    return own[2] if bold else (own[0], own[3]) == (font, italic)


def _style_of(span: Any) -> SpanStyle:
    return style_of(span["font"], span["size"], span["flags"], span["color"])


@lru_cache(maxsize=4096)
def _is_symbol(font: str) -> bool:
    """Return whether the letters of `font` are pictures, such as bullets."""
    return any(part in font.lower() for part in _SYMBOL_NAMES)


def _full_size(spans: Sequence[Any], size: float) -> float:
    """Return the size of full capitals if the line is in small capitals, and otherwise `size`."""
    largest = max((span["size"] for span in spans if any(map(str.isalpha, span["text"]))), default=size)
    return round(largest * 2) / 2 if size < largest <= SMALL_CAPITALS_RATIO * size else size


def _has_note_number(spans: Sequence[Any], size: float) -> bool:
    return len(spans) > 1 and spans[0]["size"] < NOTE_NUMBER_SIZE * size and bool(spans[0]["text"].strip().isdecimal())


def _note_mark(spans: Sequence[Any], size: float) -> str:
    """Return the smaller raised number with which a line ends if it follows a word or punctuation, unlike an exponent."""
    at = len(spans) - 1
    while at > 0 and spans[at]["text"].isspace():
        at -= 1
    if at < 1 or not spans[at]["flags"] & _RAISED or spans[at]["size"] >= NOTE_NUMBER_SIZE * size:
        return ""
    mark = str(spans[at]["text"]).strip()
    return mark if mark.isdecimal() and _BEFORE_NOTE.search(spans[at - 1]["text"]) else ""


def _style_of_spans(spans: Sequence[Any]) -> tuple[SpanStyle, bool, Lead | None]:
    """Return the style of most of a line, whether nearly all of it is bold, and if not, its beginning in another style.

    The number before a title does not count.
    """
    if not spans:
        return _NO_STYLE, False, None
    weight: dict[SpanStyle, int] = {}
    for span in spans:
        text = span["text"]
        if text == " " and weight:  # PyMuPDF makes a span of each space that is not in the file
            continue
        style = _style_of(span)
        counted = weight or len(spans) == 1 or not _NUMBER.fullmatch(text)
        weight[style] = weight.get(style, 0) + (len(text.strip(_PUNCTUATION)) if counted else 0)
    if len(weight) == 1:
        return style, style[2] and weight[style] > 0, None
    heavy, whole = sum([count for style, count in weight.items() if style[2]]), sum(weight.values())
    bold = heavy >= 0.9 * whole > 0
    return max(weight, key=weight.__getitem__), bold, None if bold else _lead(spans)


@lru_cache(maxsize=4096)
def style_of(font: str, size: float, flags: int, color: int) -> SpanStyle:
    """Return the style of text from what MuPDF reports: font name, size, flags, and color.

    The size is rounded to half points. Bold, italic, and monospaced are also recognized by the font's name.
    """
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
    """Return whether the lowercase font name `font` indicates a bold font."""
    return any(part in font for part in _BOLD_NAMES)


def clean(text: str) -> str:
    """Return the printable text of a line, with accents combined with their letters.

    Each run of white space becomes one space, and white space at the ends is removed. The letters of a spaced word
    (`M E T H O D`) are joined. A soft hyphen at the end is kept: the next line continues its word.
    """
    if text[1:2] == " " and (spaced := _SPACED.fullmatch(text.strip())):
        return " ".join([spaced[1] or "", *("".join(word.split()) for word in re.split(r"\s{2,}", spaced[2]))]).strip()
    if not text.isascii() and _ACCENT.search(text):
        text = _ACCENT.sub(_accented, text)
    shown = printable(text)
    return f"{shown}\u00ad" if shown and text.rstrip().endswith("\u00ad") else shown


def _accented(found: re.Match[str]) -> str:
    mark = _COMBINING.get(found[0][0], "\u0300")
    return unicodedata.normalize("NFC", found[0][-1] + mark)


_SPACED = re.compile(r"(?:(\d{1,2}\.?)\s+)?((?=[^\W\d_a-z])[^\W\d_](?:\s{1,4}[^\W\d_]){4,})")
"""Five letters or more with spaces between them, perhaps after a number."""

_SCALE = 100
"""MuPDF writes integers, so coordinates are in hundredths of a point."""

_TALL = 2.0
"""The minimum height-to-width ratio of a line that runs along the side of the page."""


def quick_lines(page: Any, structured: object = None) -> list[StyledLine]:
    """Return the non-empty lines of `page` in a third of the time that `styled_lines` takes; for unrotated pages only.

    Each line has the style of its first span, but no color, `lead`, `has_note_number`, or `note_mark`, and its top and
    bottom may be off by one point. `structured` is the structured text of the page, if it has been read (see
    `text_page`). Call this function inside `exclusive()` or `opened()`.
    """
    blocks = blocks_as_plain_data(text_page(page) if structured is None else structured, _SCALE)
    lines = [_quick_line(line, number) for number, block in enumerate(blocks) for line in block.get("lines", ())]
    return [line for line in lines if line.text]


def _quick_line(plain: Any, block: int) -> StyledLine:
    box, font, text = plain["bbox"], plain["font"], clean(plain["text"])
    if _is_symbol(font["name"]) and text[1:2] in ("", " "):
        text = f"{_BULLET}{text[2:]}".rstrip()
    name, size, bold, italic, mono = _style_of_font(
        font["name"], font["size"], font["weight"], font["style"], font["family"]
    )
    x, y, width, height = box["x"], box["y"], box["w"], box["h"]
    upright = not plain["wmode"] and (height <= _TALL * width or len(text) < 3)
    left, top, right, bottom = x / _SCALE, y / _SCALE, (x + width) / _SCALE, (y + height) / _SCALE
    return StyledLine(text, left, top, right, bottom, size, bold, block, name, italic, mono, 0, upright)


@lru_cache(maxsize=4096)
def _style_of_font(font: str, size: int, weight: str, style: str, family: str) -> tuple[str, float, bool, bool, bool]:
    name, points, bold, italic, mono, _ = style_of(font, size / _SCALE, 0, 0)
    return name, points, bold or weight == "bold", italic or style == "italic", mono or family == "monospace"


_EAST_ASIAN = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\ufe10-\ufe4f\uff00-\uffef]")

CHARACTER_GAP = 0.8
"""The largest gap between two characters of one column, as a multiple of the font size."""


def join_columns(lines: Sequence[StyledLine]) -> list[StyledLine]:
    """Return the lines, with the stacked characters of each column of vertical writing joined into one line."""
    joined: list[StyledLine] = []
    for line in lines:
        if joined and _continues_column(joined[-1], line):
            last = joined[-1]
            left, right = min(last.left, line.left), max(last.right, line.right)
            text = last.text + line.text
            joined[-1] = evolve(last, text=text, left=left, right=right, bottom=line.bottom, upright=False)
        else:
            joined.append(line)
    return joined


def _continues_column(column: StyledLine, line: StyledLine) -> bool:
    """Return whether `line` is the next character or the next piece of text in the column."""
    single = len(line.text) == 1 and (len(column.text) == 1 or not column.upright)
    if not (single or not (column.upright or line.upright)) or column.size != line.size:
        return False
    if not (_EAST_ASIAN.match(line.text) and _EAST_ASIAN.match(column.text)):
        return False
    level = abs((column.left + column.right) - (line.left + line.right)) < line.size
    length = line.size * len(line.text)
    return level and 0.6 * length < line.bottom - column.bottom < length + CHARACTER_GAP * line.size


def is_vertical(lines: Sequence[StyledLine]) -> bool:
    """Return whether most of the text of a page is vertical East Asian writing."""
    along = sum(len(line.text) for line in lines if not line.upright and _EAST_ASIAN.match(line.text))
    return along * 2 > sum(len(line.text) for line in lines)


def columns_as_lines(lines: Sequence[StyledLine]) -> list[StyledLine]:
    """Return the columns of a vertical page, from right to left, as horizontal lines from top to bottom."""
    columns = [line for line in lines if not line.upright]
    edge = max((line.right for line in columns), default=0.0)
    return [
        evolve(
            line, left=line.top, right=line.bottom, top=edge - line.right, bottom=edge - line.left, upright=True,
            block=index,
        )
        for index, line in enumerate(columns)
    ]  # fmt: skip
