"""The text of a slide's paragraphs (DrawingML, ECMA-376 part 1, 21.1.2), where asked with raised and lowered numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from citekit.domain.quotes.superscripts import subscript, superscript

if TYPE_CHECKING:
    from lxml.etree import _Element


def plain(text: str) -> str:
    """Text with LF for every line and paragraph break."""
    return text.replace("\v", "\n").replace("\r\n", "\n").replace("\r", "\n").strip()


def written(body: _Element | None, *, as_seen: bool = False) -> str:
    """The paragraphs of a text body (`a:txBody` and kin), a line each.

    With `as_seen`, numbers whose baseline is moved (21.1.2.3.9) are superscripts and subscripts, one character for one.
    """
    paragraphs = () if body is None else body.iterchildren("{*}p")
    return plain("\n".join("".join(_pieces(each, as_seen=as_seen)) for each in paragraphs))


def _pieces(paragraph: _Element, *, as_seen: bool) -> Iterator[str]:
    """What the runs, fields and line breaks of a paragraph say."""
    before = ""
    for each in paragraph.iterchildren("{*}r", "{*}fld", "{*}br"):
        text = "\n" if str(each.tag).endswith("}br") else each.findtext("{*}t") or ""
        height = _height(each) if as_seen else 0
        if height:
            text = superscript(text, before) if height > 0 else subscript(text, before)
        before = text
        yield text


def _height(run: _Element) -> int:
    """1 where the baseline of a run is moved up, -1 where it is moved down."""
    properties = run.find("{*}rPr")
    said = "" if properties is None else str(properties.get("baseline") or "").strip()
    moved = any(digit in said for digit in "123456789")
    return 0 if not moved else -1 if said.startswith("-") else 1
