"""Reads the lines of a page quickly, without inspecting each span; precise enough to locate titles."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from citekit.adapters.formats.pdf.outline.lines import StyledLine, clean, style_of, text_page
from citekit.adapters.libraries.mupdf.engine import exclusive

_SCALE = 100
"""MuPDF writes integers, so coordinates are in hundredths of a point."""

_TALL = 2.0
"""The height-to-width ratio from which a line runs along the side of the page."""


def quick_lines(page: Any) -> list[StyledLine]:
    """Return the non-empty lines of `page` in a third of the time that `styled_lines` takes; for unrotated pages only.

    Each line has the style of its first span. Tops and bottoms come from the font's metrics and may be off by one
    point. Call this function inside `exclusive()` or `opened()`.
    """
    with exclusive() as pymupdf:
        mupdf = pymupdf.mupdf
        buffer = mupdf.FzBuffer(2**14)
        output = mupdf.FzOutput(buffer)
        mupdf.fz_print_stext_page_as_json(output, text_page(page), _SCALE)
        mupdf.fz_close_output(output)
        data = mupdf.fz_buffer_extract_copy(buffer)
    blocks = json.loads(data.decode("utf-8", "replace"), strict=False)["blocks"]
    lines = [_line(line, number) for number, block in enumerate(blocks) for line in block.get("lines", ())]
    return [line for line in lines if line.text]


def _line(plain: Any, block: int) -> StyledLine:
    box, font, text = plain["bbox"], plain["font"], clean(plain["text"])
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
