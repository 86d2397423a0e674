"""Which text of a PDF page nobody sees.

Text is looked at more closely if something is painted over it, if its color is near that of what is below it, if it is
transparent, masked, not painted at all, or tiny. What is left is decided by drawing the page with and without that text:
text that changes nothing is hidden. Text of rendering mode 3 counts as visible over a picture that shows something there,
as a scan does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from attrs import define, field, frozen

from citekit.adapters.formats.pdf.document.painting import (
    THIN,
    Box,
    Glyph,
    Kind,
    Painted,
    drawn_without,
    glyphs_of,
    painted,
)
from citekit.adapters.libraries.mupdf.engine import exclusive
from citekit.adapters.libraries.mupdf.hidden_text_signs import may_look_unusual, tokens_of

TINY = 1.0
"""Points; smaller text is not legible, unless the whole page is that small."""

CONTRAST = 18
"""Difference of a color channel, of 255, from which on text is seen."""

INK = 40
"""The same between the ink of a scan and its paper."""

_NEAR = 0.3
"""Difference of a color channel, of 1, below which two colors are compared by drawing them."""

_CLEAR = 0.25
"""Opacity below which text is looked at."""

_PAIRS = 2_000_000
"""Pairs of text and shapes that are compared; on pages with more, all text is looked at."""

_GROUPS = 6
"""Drawings of one page, so that texts which overlap are looked at one by one."""

_PIXELS = 1_500_000
"""Pixels of a drawing."""

_SCAN = 0.6
"""Share of a page that a picture covers if it is a scan of that page."""

_NOT_TEXT = (Kind.SHAPE, Kind.PICTURE, Kind.LINE)

Origin = tuple[float, float]


@define
class Hidden:
    """The hidden characters of one page, by the origins of their glyphs before the page is turned."""

    _codes: dict[tuple[int, int], set[int]] = field(factory=dict)

    def add(self, x: float, y: float, code: int) -> None:
        """Mark a character as hidden."""
        self._codes.setdefault((round(x * 4), round(y * 4)), set()).add(code)

    def holds(self, character: str, origin: Origin) -> bool:
        """Whether that character at that origin is hidden."""
        x, y = round(origin[0] * 4), round(origin[1] * 4)
        code = ord(character)
        return any(code in self._codes.get((x + i, y + j), ()) for i in (0, -1, 1) for j in (0, -1, 1))

    def within(self, box: Box) -> int:
        """How many different hidden characters have their origin in the box."""
        left, top, right, bottom = (4 * edge for edge in box)
        return sum(
            len(codes) for (x, y), codes in self._codes.items() if left - 2 <= x <= right and top <= y <= bottom + 2
        )

    def __bool__(self) -> bool:
        return bool(self._codes)


@frozen
class _Drawing:
    samples: bytes
    width: int
    height: int
    zoom: float
    channels: int

    def rows(self, box: Box) -> Iterator[bytes]:
        """The pixels of the box, row by row."""
        left, right = (max(0, min(self.width, each)) for each in (int(box[0] * self.zoom), int(box[2] * self.zoom) + 1))
        top, bottom = (
            max(0, min(self.height, each)) for each in (int(box[1] * self.zoom), int(box[3] * self.zoom) + 1)
        )
        for row in range(top, bottom):
            start = row * self.width
            yield self.samples[self.channels * (start + left) : self.channels * (start + right)]


def may_hide(page: Any) -> bool:
    """Whether text of `page` may be hidden by what it paints; cheap, and false for most pages of plain text."""
    try:
        with exclusive() as pymupdf:
            content = page.read_contents()
            pdf = pymupdf.mupdf.pdf_page_from_fz_page(page.this)
            if pymupdf.mupdf.pdf_first_annot(pdf).m_internal or pymupdf.mupdf.pdf_first_widget(pdf).m_internal:
                return True
    except Exception:  # a damaged page; what PyMuPDF raises then is of any kind
        return True
    tokens = tokens_of(content)
    return tokens.is_irregular or may_look_unusual(tokens)


def hidden_text(page: Any, *, quick: bool = False) -> Hidden:
    """The hidden characters of `page`. Call it inside `exclusive()` or `opened()`.

    With `quick`, text over pictures, below what only partly covers it, and in rendering mode 3 over the scan of a page counts
    as visible: few pages are drawn then. That is for pages whose signs (`libraries.mupdf.hidden_text_signs`) were looked at.
    """
    if not quick and not may_hide(page):
        return Hidden()
    things = painted(page)
    texts = [(at, each) for at, each in enumerate(things) if each.kind not in _NOT_TEXT]
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
    plainly, looked_at = _suspicious(things, texts, quick=quick)
    hidden = Hidden()
    if not (unpainted or tiny or looked_at or plainly):
        return hidden
    zoom = _zoom(page)
    boxes = _boxes(page)
    turn = page.derotation_matrix if page.rotation else None
    glyphs = glyphs_of(page, unpainted | tiny | looked_at | plainly)
    found = [each for each in glyphs if each.text in plainly or (each.text in tiny and each.size < TINY)]
    if looked_at:
        found += _unseen(page, zoom, looked_at, [each for _, each in texts], glyphs, boxes)
    if unpainted:
        drawing = _drawing(page, zoom, None)
        pictures = [each.box for each in things if each.kind is Kind.PICTURE or each.kind is Kind.SHAPE]
        own = [each for each in glyphs if each.text in unpainted]
        found += _not_in_scan(own, drawing, boxes, pictures)
    with exclusive() as pymupdf:
        for each in found:
            point = (each.x, each.y) if turn is None else tuple(pymupdf.Point(each.x, each.y) * turn)
            hidden.add(point[0], point[1], each.code)
    return hidden


def _is_large(page: Any) -> bool:
    return bool(page.rect.height > 100)


def _zoom(page: Any) -> float:
    area = max(page.rect.width * page.rect.height, 1.0)
    return float(min(100 / 72, (_PIXELS / area) ** 0.5))


def _suspicious(
    things: Sequence[Painted], texts: Sequence[tuple[int, Painted]], *, quick: bool
) -> tuple[set[int], set[int]]:
    """The texts in the very color of all that is below them, and those to be looked at."""
    others = [(at, each) for at, each in enumerate(things) if each.kind in _NOT_TEXT and _is_thick(each)]
    if len(others) * len(texts) > _PAIRS:
        return set(), {number for number, (_, text) in enumerate(texts) if text.kind is not Kind.UNPAINTED}
    judged = [
        (number, _judged(at, text, others, quick=quick))
        for number, (at, text) in enumerate(texts)
        if text.kind is not Kind.UNPAINTED
    ]
    return {number for number, sign in judged if sign is True}, {number for number, sign in judged if sign is None}


def _scans(page: Any, things: Sequence[Painted]) -> list[Box]:
    """The areas of pictures that cover most of the page, as a scan of it does."""
    whole = page.rect.width * page.rect.height
    pictures = [each.box for each in things if each.kind is Kind.PICTURE]
    return [box for box in pictures if (box[2] - box[0]) * (box[3] - box[1]) >= _SCAN * whole]


def _is_thick(thing: Painted) -> bool:
    left, top, right, bottom = thing.box
    return min(right - left, bottom - top) > THIN


def _judged(at: int, text: Painted, others: Sequence[tuple[int, Painted]], *, quick: bool) -> bool | None:
    """Whether a text is hidden: True or False if that is known without drawing it, else None."""
    if text.kind is Kind.CLIP or text.veiled or text.alpha < _CLEAR or text.color is None:
        return None
    below: list[tuple[float, float, float] | None] = [(1.0, 1.0, 1.0)]
    lines = False
    for position, other in others:
        if not _overlap(text.box, other.box):
            continue
        plain = other.kind is Kind.SHAPE and other.alpha == 1 and not other.veiled
        contains = _contains(other.box, text.box)
        if position > at:
            if quick and not (contains and other.alpha > _CLEAR):
                continue
            return None
        if other.kind is Kind.LINE:  # what its box holds is mostly not painted
            lines = True
            if other.color is not None:
                below.append(other.color)
            continue
        if plain and contains:
            below.clear()
        below.append(other.color if plain else None)
    if quick and None in below:
        return False
    if any(color is None for color in below):
        return None
    if all(color is not None and _near(text.color, color, CONTRAST / 255) for color in below):
        return None if lines else True
    return None if any(color is not None and _near(text.color, color, _NEAR) for color in below) else False


def _near(one: tuple[float, float, float], other: tuple[float, float, float], difference: float) -> bool:
    return max(abs(a - b) for a, b in zip(one, other, strict=True)) < difference


def _overlap(one: Box, other: Box) -> bool:
    across = min(one[2], other[2]) - max(one[0], other[0])
    down = min(one[3], other[3]) - max(one[1], other[1])
    return across > min(1.0, (one[2] - one[0]) / 2) and down > min(1.0, (one[3] - one[1]) / 2)


def _contains(outer: Box, inner: Box) -> bool:
    return (
        outer[0] <= inner[0] + 1 and outer[1] <= inner[1] + 1 and outer[2] >= inner[2] - 1 and outer[3] >= inner[3] - 1
    )


def _boxes(page: Any) -> Mapping[tuple[int, int], Box]:
    """The box of each character, by its origin in tenths of a point, on the page as it is shown."""
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


def _drawing(page: Any, zoom: float, left_out: Collection[int] | None) -> _Drawing:
    pixmap = drawn_without(page, zoom, left_out)
    return _Drawing(pixmap.samples, pixmap.width, pixmap.height, zoom, pixmap.n)


def _unseen(
    page: Any,
    zoom: float,
    looked_at: set[int],
    texts: Sequence[Painted],
    glyphs: Sequence[Glyph],
    boxes: Mapping[tuple[int, int], Box],
) -> list[Glyph]:
    """The characters of the texts `looked_at` without which the page looks the same."""
    whole = _drawing(page, zoom, ())
    found: list[Glyph] = []
    for group in _groups(sorted(looked_at), texts):
        without = _drawing(page, zoom, group)
        for glyph in glyphs:
            if glyph.text in group and glyph.code != 32:
                box = _box_of(glyph, boxes)
                if box is not None and not _differ(whole, without, box):
                    found.append(glyph)
    return found


def _groups(numbers: Sequence[int], texts: Sequence[Painted]) -> list[set[int]]:
    """The texts in groups in which none overlaps another, but for copies of itself, as bold type and shadows are made."""
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


def _differ(one: _Drawing, other: _Drawing, box: Box) -> bool:
    for a, b in zip(one.rows(box), other.rows(box), strict=True):
        if a != b and max(abs(x - y) for x, y in zip(a, b, strict=True)) >= CONTRAST:
            return True
    return False


def _not_in_scan(
    glyphs: Sequence[Glyph], drawing: _Drawing, boxes: Mapping[tuple[int, int], Box], pictures: Sequence[Box]
) -> list[Glyph]:
    """The characters of lines below which no picture shows anything."""
    lines: dict[tuple[int, int], list[tuple[Glyph, bool]]] = {}
    for glyph in glyphs:
        box = _box_of(glyph, boxes)
        if box is None or glyph.code == 32:
            continue
        shown = any(_overlap(box, each) for each in pictures) and _has_ink(drawing, box)
        lines.setdefault((glyph.text, round(glyph.y / 3)), []).append((glyph, shown))
    found: list[Glyph] = []
    for line in lines.values():
        if sum(shown for _, shown in line) < 0.3 * len(line):
            found += [glyph for glyph, _ in line]
    return found


def _has_ink(drawing: _Drawing, box: Box) -> bool:
    green = b"".join(drawing.rows(box))[1 :: drawing.channels]
    return bool(green) and max(green) - min(green) >= INK
