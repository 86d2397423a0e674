"""Finds the text of a PDF page that a reader cannot see.

Text is suspect if something is painted over it, if its color is close to its background's, or if it is transparent,
masked, not painted at all, or tiny. Unclear cases are decided by rendering the page with and without the text. Text in
rendering mode 3 (invisible) counts as visible if it lies over a picture with content there, as on a scanned page.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from attrs import define, field, frozen

from citekit.adapters.formats.pdf.document.painting import (
    AREAS,
    THIN,
    Box,
    Glyph,
    Kind,
    Painted,
    contains,
    drawn_without,
    glyphs_of,
    outlined,
    painted,
)
from citekit.adapters.libraries.mupdf.engine import contents_of, exclusive
from citekit.adapters.libraries.mupdf.hidden_text_signs import (
    Tokens,
    may_look_unusual,
    may_shrink,
    paints_after_text,
    tokens_of,
)

if TYPE_CHECKING:
    from PIL import Image

TINY = 1.0
"""The smallest legible size of text in points, on pages that are more than 100 points high."""

CONTRAST = 18
"""The smallest difference of a color channel (0 to 255) at which text is visible."""

INK = 40
"""The smallest difference of the green channel (0 to 255) between the ink of a scan and its paper."""

_NEAR = 0.3
"""The difference of a color channel (0 to 1) below which two colors are compared by rendering them."""

_CLEAR = 0.25
"""The opacity below which text is checked. With `quick`, an area of at most this opacity covers no text."""

_PAIRS = 2_000_000
"""The maximum number of pairs of text and shapes that are compared. On pages with more, all text is checked."""

_BAND = 16.0
"""The height in points of the bands of a page in which shapes near a text are looked up."""

_JOINED = 1000
"""The maximum length of a list of shapes near a text that is cached."""

_TALLEST = 16_384.0
"""The distance in points from the top of a page below which shapes share a band. Pages are at most 14,400 points high.
"""

_FAR = 0.45
"""The smallest difference of a color channel (0 to 1) at which two colors differ, however they are converted to RGB."""

_OPAQUE = 0.5
"""The smallest opacity (0 to 1) at which text is visible if its color differs from the color below it."""

_LEGIBLE = 4.0
"""The smallest font size in points at which text cannot be `TINY`, unless `may_shrink` says that it may be shrunk."""

_GROUPS = 6
"""The maximum number of groups of texts of one page. The page is rendered once without each group."""

_PIXELS = 1_500_000
"""The maximum number of pixels of a rendering."""

_SCAN = 0.6
"""The minimum share of a page that a picture covers if it is a scan of that page."""

Origin = tuple[float, float]

Look = tuple[float, int, int]
"""How a piece of text looks: its font size in points, its color as 0xRRGGBB, and its opacity from 0 to 255."""


@define
class Hidden:
    """The hidden characters of one page, by the origins of their glyphs before the page is rotated.

    If `everything` is true, all characters of the page are hidden.
    """

    _codes: dict[tuple[int, int], set[int]] = field(factory=dict)
    everything: bool = False
    _around: dict[tuple[int, int], set[int]] = field(factory=dict)
    """The hidden characters by rounded origin, each also at the eight neighboring positions, to allow for rounding."""

    def add(self, x: float, y: float, code: int) -> None:
        """Mark the character with code point `code` and the glyph origin (`x`, `y`) as hidden."""
        left, top = round(x * 4), round(y * 4)
        self._codes.setdefault((left, top), set()).add(code)
        for i in (left - 1, left, left + 1):
            for j in (top - 1, top, top + 1):
                self._around.setdefault((i, j), set()).add(code)

    def holds(self, character: str, origin: Origin) -> bool:
        """Return whether `character` with its glyph origin at `origin` is hidden."""
        codes = self._around.get((round(origin[0] * 4), round(origin[1] * 4)))
        return self.everything or (codes is not None and ord(character) in codes)

    def within(self, box: Box) -> int:
        """Return how many of the added characters have their origin in `box`, or up to half a point to its left or
        below it. Copies at one position count once. `box` is on the page before its rotation.
        """
        left, top, right, bottom = (4 * edge for edge in box)
        return sum(
            len(codes) for (x, y), codes in self._codes.items() if left - 2 <= x <= right and top <= y <= bottom + 2
        )

    def __bool__(self) -> bool:
        return self.everything or bool(self._codes)


@frozen
class Drawing:
    """The pixels of a page, or of an area of it whose left and top edges are at `left` and `top` pixels."""

    samples: bytes
    width: int
    height: int
    zoom: float
    channels: int
    left: int = 0
    top: int = 0

    def rows(self, box: Box) -> Iterator[bytes]:
        """Yield the bytes of the pixels inside `box`, one row of pixels at a time."""
        left, top, right, bottom = self.pixels(box)
        for row in range(top, bottom):
            start = row * self.width
            yield self.samples[self.channels * (start + left) : self.channels * (start + right)]

    def pixels(self, box: Box) -> tuple[int, int, int, int]:
        """Return the left, top, right, and bottom edges of `box` in pixels of this drawing, clipped to the drawing."""
        left, right = (
            max(0, min(self.width, int(edge * self.zoom) + more - self.left))
            for edge, more in ((box[0], 0), (box[2], 1))
        )
        top, bottom = (
            max(0, min(self.height, int(edge * self.zoom) + more - self.top))
            for edge, more in ((box[1], 0), (box[3], 1))
        )
        return left, top, right, bottom


def may_hide(page: Any) -> bool:
    """Return whether `page` may contain hidden text, or is too damaged to tell. The check is cheap."""
    tokens = None if has_annotations(page) else _tokens(page)
    return tokens is None or tokens.is_irregular or may_look_unusual(tokens)


def has_annotations(page: Any) -> bool:
    """Return whether `page` has annotations or fields of a form, or is too damaged to tell."""
    try:
        with exclusive() as pymupdf:
            pdf = pymupdf.mupdf.pdf_page_from_fz_page(page.this)
            return bool(pymupdf.mupdf.pdf_first_annot(pdf).m_internal or pymupdf.mupdf.pdf_first_widget(pdf).m_internal)
    except Exception:  # a damaged page; PyMuPDF can raise any exception then
        return True


def _tokens(page: object) -> Tokens | None:
    """Return the tokens of the content of `page`, or None if the page is damaged."""
    try:
        with exclusive():
            return tokens_of(contents_of(page))
    except Exception:  # as in `has_annotations`
        return None


def hidden_text(page: Any, *, quick: bool = False, looks: Callable[[], Collection[Look]] | None = None) -> Hidden:
    """Return the hidden characters of `page`. Call this function inside `exclusive()` or `opened()`.

    `looks` returns the looks of all text of the page; with it, pages on which no text can be hidden are recognized
    sooner. `looks` must be None if the looks are unknown or the page has replacement text.

    With `quick`, few pages are rendered: text over a picture, text that is only partly covered, and text in rendering
    mode 3 over a scan count as visible. Use it only for pages with signs of hidden text (see
    `libraries.mupdf.hidden_text_signs`).
    """
    if not quick and (not may_hide(page) or (looks is not None and shows_all(page, looks()))):
        return Hidden()
    things = painted(page)
    texts = [(at, each) for at, each in enumerate(things) if each.kind not in AREAS]
    scans = _scans(page, things) if quick else []
    unpainted = {
        number
        for number, (_, each) in enumerate(texts)
        if each.kind is Kind.UNPAINTED and not any(_overlap(each.box, scan) for scan in scans)
    }
    tiny = {
        number
        for number, (_, each) in enumerate(texts)
        if 0 < each.size < TINY and each.kind is not Kind.UNPAINTED and _is_large(page)
    }
    plain, suspects = _suspects(things, texts, quick=quick)
    hidden = Hidden()
    if not (unpainted or tiny or plain or suspects):
        return hidden
    zoom = page_zoom(page)
    turn = page.derotation_matrix if page.rotation else None
    glyphs = [each for each in glyphs_of(page, unpainted | tiny | plain | suspects) if not is_blank(each.code)]
    found = [each for each in glyphs if each.text in plain or (each.text in tiny and each.size < TINY)]
    boxes = _boxes(page) if glyphs and (suspects or unpainted) else {}
    if suspects:
        found += _unseen(page, zoom, suspects, [each for _, each in texts], glyphs, boxes)
    if unpainted:
        drawing = _drawing(page, zoom, None)
        pictures = [each.box for each in things if each.kind in AREAS and _is_thick(each)]
        procedures = {number for number in unpainted if texts[number][1].size == math.inf}
        own = [each for each in glyphs if each.text in unpainted - procedures]
        found += _not_in_scan(own, drawing, boxes, pictures)
        own = [each for each in glyphs if each.text in procedures]  # MuPDF paints glyphs in color as thin areas
        found += _not_in_scan(own, drawing, boxes, [each.box for each in things if each.kind in AREAS])
    with exclusive() as pymupdf:
        for each in found:
            point = (each.x, each.y) if turn is None else tuple(pymupdf.Point(each.x, each.y) * turn)
            hidden.add(point[0], point[1], each.code)
    return hidden


def shows_all(page: object, looks: Collection[Look]) -> bool:
    """Return True if it is certain that no text of `page` is hidden, or False if only a closer look can decide.

    `looks` are the looks of all text of the page.
    """
    tokens = _tokens(page)
    if tokens is None or tokens.is_irregular:
        return False
    if any(alpha < 255 * _OPAQUE for _, _, alpha in looks):
        return False
    sizes = may_shrink(tokens) or any(size < _LEGIBLE for size, _, _ in looks)
    inks = {((color >> 16 & 255) / 255, (color >> 8 & 255) / 255, (color & 255) / 255) for _, color, _ in looks}
    if any(_near(ink, (1.0, 1.0, 1.0), _FAR) for ink in inks):
        return False
    is_ordered = has_annotations(page) or paints_after_text(tokens)
    things, is_veiled = outlined(page, texts=is_ordered or sizes, sizes=sizes)
    if is_veiled or any(each.kind in (Kind.CLIP, Kind.UNPAINTED) or 0 < each.size < TINY for each in things):
        return False
    areas = [each for each in things if each.kind in AREAS and _is_thick(each)]
    if any(each.kind is Kind.PICTURE or each.color is None or each.alpha != 1 or each.veiled for each in areas):
        return False
    grounds = {each.color for each in areas if each.color is not None}
    if any(_near(ink, ground, _FAR) for ground in grounds for ink in inks):
        return False
    return not is_ordered or not _is_painted_over(things)


def _is_painted_over(things: Sequence[Painted]) -> bool:
    """Return whether an area is painted over an earlier text, or there are too many pairs to tell."""
    texts: dict[int, list[Box]] = {}
    pairs = 0
    for each in things:
        if each.kind is Kind.TEXT:
            for band in range(_band(each.box[1]), _band(each.box[3]) + 1):
                texts.setdefault(band, []).append(each.box)
        elif _is_thick(each):
            for band in range(_band(each.box[1]), _band(each.box[3]) + 1):
                below = texts.get(band, ())
                pairs += len(below)
                if pairs > _PAIRS or any(_overlap(text, each.box) for text in below):
                    return True
    return False


def is_blank(code: int) -> bool:
    """Return whether the character `code` is a space or a control character, which leaves no ink.

    A negative `code` stands for no character, and is also blank.
    """
    return code < 0 or unicodedata.category(chr(code)) in ("Zs", "Zl", "Zp", "Cc", "Cf")


def _is_large(page: Any) -> bool:
    return bool(page.rect.height > 100)


def page_zoom(page: Any) -> float:
    """Return the zoom at which pages are drawn for comparison."""
    area = max(page.rect.width * page.rect.height, 1.0)
    return float(min(100 / 72, (_PIXELS / area) ** 0.5))


def _suspects(
    things: Sequence[Painted], texts: Sequence[tuple[int, Painted]], *, quick: bool
) -> tuple[set[int], set[int]]:
    """Return the numbers of the texts that are certainly hidden, and of those that only rendering can decide."""
    own = [(number, at, text) for number, (at, text) in enumerate(texts) if text.kind is not Kind.UNPAINTED]
    shapes = _Bands.of([(at, each) for at, each in enumerate(things) if each.kind in AREAS and _is_thick(each)])
    if sum(shapes.count(text.box) for _, _, text in own) > _PAIRS:
        return set(), {number for number, _, _ in own}
    judged = [(number, _is_hidden(at, text, shapes.near(text.box), quick=quick)) for number, at, text in own]
    return {number for number, sign in judged if sign is True}, {number for number, sign in judged if sign is None}


@frozen
class _Bands:
    """Painted items with their positions in painting order, grouped by the horizontal bands that they touch."""

    _bands: Mapping[int, list[tuple[int, Painted]]]
    _joined: dict[range, Sequence[tuple[int, Painted]]] = field(factory=dict)

    @classmethod
    def of(cls, things: Sequence[tuple[int, Painted]]) -> _Bands:
        bands: dict[int, list[tuple[int, Painted]]] = {}
        for at, each in things:
            for band in cls._touched(each.box):
                bands.setdefault(band, []).append((at, each))
        return cls(bands)

    def count(self, box: Box) -> int:
        """Return an upper bound for the number of items that share a band with `box`."""
        return sum(len(self._bands.get(band, ())) for band in self._touched(box))

    def near(self, box: Box) -> Sequence[tuple[int, Painted]]:
        """Return the items that share a band with `box`, in painting order."""
        touched = self._touched(box)
        found = self._joined.get(touched)  # the texts of a line touch the same bands
        if found is None:
            bands = [self._bands[band] for band in touched if band in self._bands]
            found = bands[0] if len(bands) == 1 else sorted(dict(thing for band in bands for thing in band).items())
            if len(found) <= _JOINED:
                self._joined[touched] = found
        return found

    @staticmethod
    def _touched(box: Box) -> range:
        return range(_band(box[1]), _band(box[3]) + 1)


def _band(height: float) -> int:
    return int((-_BAND if height < -_BAND else _TALLEST if height > _TALLEST else height) // _BAND)


def _scans(page: Any, things: Sequence[Painted]) -> list[Box]:
    """Return the boxes of pictures that cover most of the page, as a page scan does."""
    whole = page.rect.width * page.rect.height
    pictures = [each.box for each in things if each.kind is Kind.PICTURE]
    return [box for box in pictures if (box[2] - box[0]) * (box[3] - box[1]) >= _SCAN * whole]


def _is_thick(thing: Painted) -> bool:
    left, top, right, bottom = thing.box
    return min(right - left, bottom - top) > THIN


def _is_hidden(at: int, text: Painted, others: Sequence[tuple[int, Painted]], *, quick: bool) -> bool | None:
    """Return whether the text at position `at` in painting order is hidden, or None if only rendering can decide."""
    if text.kind is Kind.CLIP or text.veiled or text.alpha < _CLEAR or text.color is None:
        return None
    below: list[tuple[float, float, float] | None] = [(1.0, 1.0, 1.0)]
    filled = True
    left, top, right, bottom = text.box
    for position, other in others:
        x0, y0, x1, y1 = other.box
        if x0 >= right or x1 <= left or y0 >= bottom or y1 <= top or not _overlap(text.box, other.box):
            continue
        covered = contains(other.box, text.box)
        if position > at:
            if quick and not (covered and other.alpha > _CLEAR):
                continue
            return None
        is_plain = other.kind is not Kind.PICTURE and other.alpha == 1 and not other.veiled
        if is_plain and covered and other.kind is Kind.RECTANGLE:
            below.clear()
            filled = True
        below.append(other.color if is_plain else None)
        filled = filled and other.kind is Kind.RECTANGLE
    if None in below:
        return False if quick else None
    if filled and all(color is not None and _near(text.color, color, CONTRAST / 255) for color in below):
        return True
    return None if any(color is not None and _near(text.color, color, _NEAR) for color in below) else False


def _near(one: tuple[float, float, float], other: tuple[float, float, float], difference: float) -> bool:
    return max(abs(a - b) for a, b in zip(one, other, strict=True)) < difference


def _overlap(one: Box, other: Box) -> bool:
    left, top, right, bottom = one
    x0, y0, x1, y1 = other
    # compared half a million times for an annual report, so without calls of `min` and `max`
    half = (right - left) / 2
    if (right if right < x1 else x1) - (left if left > x0 else x0) <= (half if half < 1.0 else 1.0):
        return False
    half = (bottom - top) / 2
    return (bottom if bottom < y1 else y1) - (top if top > y0 else y0) > (half if half < 1.0 else 1.0)


def _boxes(page: Any) -> Mapping[tuple[int, int], Box]:
    """Return the box of each character on the displayed page, keyed by its origin in half points."""
    with exclusive() as pymupdf:
        options = pymupdf.mupdf.FzStextOptions(pymupdf.TEXT_PRESERVE_LIGATURES)
        plain = pymupdf.TextPage(pymupdf.mupdf.FzStextPage(page.this, options)).extractRAWDICT()
    boxes: dict[tuple[int, int], Box] = {}
    for block in plain["blocks"]:
        for line in block.get("lines", ()):
            for span in line["spans"]:
                for char in span["chars"]:
                    x, y = char["origin"]
                    boxes[round(x * 2), round(y * 2)] = char["bbox"]
    return boxes


def _box_of(glyph: Glyph, boxes: Mapping[tuple[int, int], Box]) -> Box | None:
    x, y = round(glyph.x * 2), round(glyph.y * 2)
    return next((boxes[x + i, y + j] for i in (0, -1, 1) for j in (0, -1, 1) if (x + i, y + j) in boxes), None)


def _drawing(page: Any, zoom: float, left_out: Collection[int] | None) -> Drawing:
    pixmap = drawn_without(page, zoom, left_out)
    return Drawing(pixmap.samples, pixmap.width, pixmap.height, zoom, pixmap.n)


def _unseen(
    page: Any,
    zoom: float,
    suspects: set[int],
    texts: Sequence[Painted],
    glyphs: Sequence[Glyph],
    boxes: Mapping[tuple[int, int], Box],
) -> list[Glyph]:
    """Return the characters of the texts numbered in `suspects` whose removal does not change the rendered page."""
    whole = _drawing(page, zoom, ())
    found: list[Glyph] = []
    for group in _groups(sorted(suspects), texts):
        changes = _changes(whole, _drawing(page, zoom, group))
        is_unseen = False
        for glyph in glyphs:
            if glyph.text in group:
                box = _box_of(glyph, boxes)
                if not glyph.continues and not _is_empty(box):  # otherwise it is hidden if the character before it is
                    is_unseen = box is not None and changes.crop(whole.pixels(box)).getbbox() is None
                if is_unseen:
                    found.append(glyph)
    return found


def _is_empty(box: Box | None) -> bool:
    return box is not None and box[2] - box[0] < 0.01


def _groups(numbers: Sequence[int], texts: Sequence[Painted]) -> list[set[int]]:
    """Split the numbered texts into groups in which texts of different colors do not overlap, as far as the limits
    allow.

    Texts of one color may overlap, since bold text and shadows may be made of overlapping copies.
    """
    groups: list[set[int]] = []
    for number in numbers:
        own = texts[number]
        fitting = (
            group
            for group in groups
            if len(numbers) > 500
            or not any(
                _overlap(_core(own.box), _core(texts[each].box)) and own.color != texts[each].color for each in group
            )
        )
        chosen = next(fitting, None)
        if chosen is not None:
            chosen.add(number)
        elif len(groups) < _GROUPS:
            groups.append({number})
        else:
            groups[-1].add(number)
    return groups


def _core(box: Box) -> Box:
    quarter = (box[3] - box[1]) / 4
    return box[0], box[1] + quarter, box[2], box[3] - quarter


def _changes(one: Drawing, other: Drawing) -> Image.Image:
    """Return an image of the size of two RGB drawings that is black where a reader would not see a difference."""
    from PIL import Image, ImageChops

    drawings = (Image.frombytes("RGB", (each.width, each.height), each.samples) for each in (one, other))
    red, green, blue = ImageChops.difference(*drawings).split()
    largest = ImageChops.lighter(ImageChops.lighter(red, green), blue)
    return largest.point([255 * (difference >= CONTRAST) for difference in range(256)])


def _not_in_scan(
    glyphs: Sequence[Glyph], drawing: Drawing, boxes: Mapping[tuple[int, int], Box], pictures: Sequence[Box]
) -> list[Glyph]:
    """Return the characters of lines in which fewer than 30 percent of the characters lie on the ink of a picture."""
    lines: dict[tuple[int, int], list[tuple[Glyph, bool]]] = {}
    for glyph in glyphs:
        box = _box_of(glyph, boxes)
        if box is None:
            continue
        shown = any(_overlap(box, each) for each in pictures) and _has_ink(drawing, box)
        lines.setdefault((glyph.text, round(glyph.y / 3)), []).append((glyph, shown))
    found: list[Glyph] = []
    for line in lines.values():
        if sum(shown for _, shown in line) < 0.3 * len(line):
            found += [glyph for glyph, _ in line]
    return found


def _has_ink(drawing: Drawing, box: Box) -> bool:
    green = b"".join(drawing.rows(box))[1 :: drawing.channels]
    return bool(green) and max(green) - min(green) >= INK
