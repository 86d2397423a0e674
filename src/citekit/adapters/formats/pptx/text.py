"""Reads the text of paragraphs on a slide (DrawingML, ECMA-376 part 1, 21.1.2).

Raised and lowered numbers are optionally converted to superscripts and subscripts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from citekit.domain.quotes.superscripts import subscript, superscript

if TYPE_CHECKING:
    from lxml.etree import _Element


def plain(text: str) -> str:
    """Return `text` with line feeds for all line and paragraph breaks, and without white space at its ends."""
    return text.replace("\v", "\n").replace("\r\n", "\n").replace("\r", "\n").strip()


def written(body: _Element | None, *, as_seen: bool = False) -> str:
    """Return the text of the paragraphs in a text body (such as `a:txBody`), one per line; "" if `body` is None.

    With `as_seen`, each digit of a number with a shifted baseline (ECMA-376 part 1, 21.1.2.3.9) becomes one superscript
    or subscript character.
    """
    paragraphs = () if body is None else body.iterchildren("{*}p")
    return plain("\n".join("".join(_pieces(each, as_seen=as_seen)) for each in paragraphs))


def _pieces(paragraph: _Element, *, as_seen: bool) -> Iterator[str]:
    """Yield the text of each run, field, and line break in a paragraph.

    With `as_seen`, raised and lowered numbers become superscript and subscript characters.
    """
    before = ""
    for each in paragraph.iterchildren("{*}r", "{*}fld", "{*}br"):
        text = "\n" if str(each.tag).endswith("}br") else each.findtext("{*}t") or ""
        height = _height(each) if as_seen else 0
        if height:
            text = superscript(text, before) if height > 0 else subscript(text, before)
        before = text
        yield text


def _height(run: _Element) -> int:
    """Return 1 if the baseline of a text run is raised, -1 if it is lowered, and 0 otherwise."""
    properties = run.find("{*}rPr")
    said = "" if properties is None else str(properties.get("baseline") or "").strip()
    moved = any(digit in said for digit in "123456789")
    return 0 if not moved else -1 if said.startswith("-") else 1
