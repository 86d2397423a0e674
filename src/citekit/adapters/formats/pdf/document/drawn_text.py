"""Decides which text of a PDF page is visible by drawing the page with and without its text.

Unlike `hidden_text`, this needs no signs of hidden text, but takes tens of milliseconds per page, too long for all
pages of a long file.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any

from attrs import define

from citekit.adapters.formats.pdf.document.glyph_ink import Ink, Inks, PageDrawings, inks_of
from citekit.adapters.formats.pdf.document.hidden_text import (
    CONTRAST,
    TINY,
    Drawing,
    Hidden,
    hidden_text,
    is_blank,
    page_zoom,
)
from citekit.adapters.formats.pdf.document.painting import Box
from citekit.adapters.libraries.mupdf.engine import exclusive

_SMALL = 8.0
"""The length in points of the longer side of a glyph below which it is drawn again, enlarged, if it seems hidden."""

_THIN = 0.8
"""The length in points of the shorter side of a glyph, such as a thin stroke, below which it is drawn again, too."""

_LARGE = 4.0
"""The maximum zoom of the enlarged drawing."""

_PIXELS = 3_000_000
"""The maximum number of pixels of the enlarged drawing."""

_LAYERS = 6
"""The maximum number of drawings of one page for overlapping texts.

Overlapping glyphs of further texts count as hidden.
"""

_NEAR = 80
"""The maximum number of compared glyphs in one square. Further glyphs count as hidden."""

_SQUARE = 8.0
"""The side, in points, of the squares of a page in which overlapping glyphs are looked up."""

_FARTHEST = 200
"""The maximum number of squares in each direction from the top left of a page; the last one has all glyphs beyond."""

_COMMON = 0.2
"""The minimum overlap of two compared glyphs, as a share of the smaller width and of the smaller height."""

_SHARE = 0.25
"""The minimum share of the height and width of a letter or digit that must show for it to count as visible."""

_LETTER = 0.45
"""The height of the lowest letters, such as x, as a share of the font size."""


def unseen_text(page: Any) -> Hidden:
    """Return the characters of `page` that a reader does not see. Call this function inside `exclusive()` or
    `opened()`.

    The result includes that of `hidden_text`. On a page with more than `glyph_ink.GLYPHS` glyphs, all text counts as
    hidden.
    """
    hidden = hidden_text(page)
    inks = inks_of(page)
    if not inks.is_whole:
        return Hidden(everything=True)
    glyphs = [each for each in inks.glyphs if not is_blank(each.code)]
    found = _Judge(inks, glyphs, PageDrawings(page, inks.is_plain), page_zoom(page)).unseen()
    turn = page.derotation_matrix if page.rotation else None
    with exclusive() as pymupdf:
        for each in found:
            x, y = (each.x, each.y) if turn is None else tuple(pymupdf.Point(each.x, each.y) * turn)
            for code in _codes(each.code):
                hidden.add(x, y, code)
    return hidden


def _codes(code: int) -> Iterator[int]:
    """Yield `code`, and the letters of a ligature, because extracted text contains the letters instead."""
    yield code
    if 0xFB00 <= code <= 0xFB06:
        yield from map(ord, unicodedata.normalize("NFKC", chr(code)))


@define
class _Judge:
    """Decides which glyphs of one page are visible."""

    inks: Inks
    glyphs: Sequence[Ink]
    drawings: PageDrawings
    zoom: float

    def unseen(self) -> list[Ink]:
        """Return the characters that are not visible. Characters that share a glyph are treated alike."""
        own = [(at, each) for at, each in enumerate(self.glyphs) if not each.continues]
        unseen = {at for at, each in own if each.is_void or _is_tiny(each)}
        left = [(at, each) for at, each in own if at not in unseen]
        if left:
            unseen |= self._without_ink(left)
        left = [(at, each) for at, each in left if at not in unseen and not each.is_unpainted]
        unseen |= self._under_others(left)
        found, is_unseen = [], False
        for at, each in enumerate(self.glyphs):
            is_unseen = is_unseen if each.continues else at in unseen
            if is_unseen:
                found.append(each)
        return found

    def _without_ink(self, glyphs: Sequence[tuple[int, Ink]]) -> set[int]:
        """Return the positions of the glyphs without which the page looks the same."""
        whole, bare = (self.drawings.draw(self.zoom, text=text) for text in (True, False))
        suspects = self._unchanged(glyphs, whole, bare)
        small = [(at, each) for at, each in suspects if _is_small(each.box)]
        seen: set[int] = set()
        if small and self.inks.is_plain:
            area = _around([each.box for _, each in small])
            zoom = min(_LARGE, (_PIXELS / max(1.0, (area[2] - area[0]) * (area[3] - area[1]))) ** 0.5)
            if zoom > self.zoom:
                whole, bare = (self.drawings.draw(zoom, area=area, text=text) for text in (True, False))
                seen = {at for at, _ in small} - {at for at, _ in self._unchanged(small, whole, bare)}
        return {at for at, _ in suspects} - seen

    def _unchanged(self, glyphs: Sequence[tuple[int, Ink]], whole: Drawing, bare: Drawing) -> list[tuple[int, Ink]]:
        """Return the glyphs at which the drawings `whole` (with all text) and `bare` (without text) look the same.

        Of the glyphs with `is_unpainted`, return only those with `is_procedure` at which `bare` shows nothing.
        """
        return [
            (at, each)
            for at, each in glyphs
            if (
                each.is_procedure and not _has_contrast(bare, each.box)
                if each.is_unpainted
                else not _shows(each, whole, bare)
            )
        ]

    def _under_others(self, glyphs: Sequence[tuple[int, Ink]]) -> set[int]:
        """Return the positions of the glyphs of overlapping texts without which the drawing looks the same.

        Glyphs that exceed the limits are included.
        """
        pairs, unseen = _overlaps(glyphs)
        if not pairs:
            return unseen
        layers = _layers({(self.glyphs[one].text, self.glyphs[other].text) for one, other in pairs})
        concerned = {at for pair in pairs for at in pair}
        whole = self.drawings.partial(self.zoom, ())
        for number, texts in enumerate(layers):
            own = [at for at in concerned if self.glyphs[at].text in texts]
            if number >= _LAYERS:
                unseen.update(own)
                continue
            bare = self.drawings.partial(self.zoom, texts)
            unseen.update(at for at in own if not _shows(self.glyphs[at], whole, bare))
        return unseen


def _is_tiny(ink: Ink) -> bool:
    """Return whether `ink` is a letter or digit that is too small to be legible.

    Its box decides, because glyphs of Type 3 fonts have no font size.
    """
    return _side(ink.box) < TINY * _LETTER and chr(ink.code).isalnum()


def _side(box: Box) -> float:
    return max(box[2] - box[0], box[3] - box[1])


def _shows(ink: Ink, whole: Drawing, bare: Drawing) -> bool:
    """Return whether `whole` shows a glyph that `bare` does not show.

    A thin line of a letter or digit is not enough, because such lines remain between the shapes that cover a text.
    """
    least = _SHARE if chr(ink.code).isalnum() else 0.0
    lines = list(whole.rows(ink.box))
    channels = whole.channels
    rows_needed = max(1, round(least * len(lines)))
    columns_needed = max(1, round(least * len(lines[0]) / channels)) if lines else 1
    rows, columns = 0, set[int]()
    for one, other in zip(lines, bare.rows(ink.box), strict=True):
        if one == other:
            continue
        found = {
            at // channels
            for at, (a, b) in enumerate(zip(one, other, strict=True))
            if a - b >= CONTRAST or b - a >= CONTRAST
        }
        rows += bool(found)
        columns |= found
        if rows >= rows_needed and len(columns) >= columns_needed:
            return True
    return False


def _is_small(box: Box) -> bool:
    return _side(box) < _SMALL or min(box[2] - box[0], box[3] - box[1]) < _THIN


def _around(boxes: Sequence[Box]) -> Box:
    return (
        min(box[0] for box in boxes) - 1,
        min(box[1] for box in boxes) - 1,
        max(box[2] for box in boxes) + 1,
        max(box[3] for box in boxes) + 1,
    )


def _has_contrast(drawing: Drawing, box: Box) -> bool:
    pixels = b"".join(drawing.rows(box))
    channels = (pixels[at :: drawing.channels] for at in range(drawing.channels))
    return bool(pixels) and any(max(each) - min(each) >= CONTRAST for each in channels)


def _overlaps(glyphs: Sequence[tuple[int, Ink]]) -> tuple[list[tuple[int, int]], set[int]]:
    """Return the pairs of positions of overlapping glyphs that show different characters of different text objects, and
    the positions that were not compared with all others.
    """
    squares: dict[tuple[int, int], list[tuple[int, Ink]]] = {}
    pairs: set[tuple[int, int]] = set()
    crowded: set[int] = set()
    for at, each in glyphs:
        left, top, right, bottom = (max(-_FARTHEST, min(_FARTHEST, int(edge // _SQUARE))) for edge in each.box)
        text, code = each.text, each.code
        for x in range(left, right + 1):
            for y in range(top, bottom + 1):
                known = squares.setdefault((x, y), [])
                for number, other in known:
                    if other.text != text and other.code != code and _cover(each.box, other.box):
                        pairs.add((number, at))
                if len(known) < _NEAR:
                    known.append((at, each))
                else:
                    crowded.add(at)
    return sorted(pairs), crowded


def _cover(one: Box, other: Box) -> bool:
    """Return whether two boxes overlap enough that the ink of one could be mistaken for the ink of the other."""
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    return (
        width > 0
        and height > 0
        and width >= _COMMON * min(one[2] - one[0], other[2] - other[0])
        and height >= _COMMON * min(one[3] - one[1], other[3] - other[1])
    )


def _layers(pairs: set[tuple[int, int]]) -> list[set[int]]:
    """Split the numbers of texts in `pairs` into sets that contain no pair."""
    others: dict[int, set[int]] = {}
    for one, other in pairs:
        others.setdefault(one, set()).add(other)
        others.setdefault(other, set()).add(one)
    layers: list[set[int]] = []
    for number in sorted(others):
        layer = next((each for each in layers if others[number].isdisjoint(each)), None)
        if layer is None:
            layers.append({number})
        else:
            layer.add(number)
    return layers
