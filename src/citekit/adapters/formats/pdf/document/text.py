"""Reads the text of a PDF page and its lines with their positions, in file order."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attrs import evolve, frozen

from citekit.adapters.formats.pdf.document.superscripts import is_mark_beside, levelled_line
from citekit.adapters.formats.pdf.document.visible_text import shown_blocks
from citekit.adapters.formats.pdf.lazy import Lazy
from citekit.adapters.libraries.mupdf.engine import UNLOCK, exclusive, give_way, opened
from citekit.domain.quotes.superscripts import superscript


@frozen
class Line:
    """A line of text with its edges in points from the top left corner of the page before its rotation.

    `block` is the number of its paragraph on the page.
    """

    text: str
    left: float
    top: float
    right: float
    bottom: float
    block: int


def page_lines(page: Any, area: Any = None) -> list[Line]:
    """Return the lines of `page` that are not empty, in file order, without hidden text.

    `area` restricts the result to a rectangle of the displayed page. With it, hidden text is found by `drawn_text`, and
    otherwise by `hidden_text`.
    """
    lines = (_line(line, number) for number, block in enumerate(_blocks(page, area)) for line in block.get("lines", ()))
    return [line for line in lines if line.text]


def page_text(page: Any, area: Any = None) -> str:
    """Return the text of `page`, or of the rectangle `area` of the displayed page, with an empty line between blocks."""
    return _flowing(page_lines(page, area))


def text_as_seen(page: Any, area: Any = None) -> str:
    """Return the same text as `page_text`, but with raised and lowered numbers as superscripts and subscripts."""
    lines: list[Line] = []
    for number, block in enumerate(_blocks(page, area)):
        previous: Any = None
        for plain in block.get("lines", ()):
            line = _line(plain, number)
            if not line.text:
                continue
            if previous is not None and is_mark_beside(previous, plain):
                mark = superscript(line.text, lines[-1].text)
                lines[-1] = evolve(lines[-1], text=lines[-1].text + mark, right=line.right)
            else:
                lines.append(evolve(line, text=printable(levelled_line(plain))))
            previous = plain
    return _flowing(lines)


def text_flags() -> int:
    """Return MuPDF's flags for keeping white space, omitting text outside the page, and keeping unknown characters
    distinct.
    """
    with exclusive() as pymupdf:
        return int(pymupdf.TEXT_PRESERVE_WHITESPACE | pymupdf.TEXT_MEDIABOX_CLIP | pymupdf.TEXT_CID_FOR_UNKNOWN_UNICODE)


def _blocks(page: Any, area: Any) -> Any:
    with exclusive():
        flags = text_flags()
        clip = None if area is None else area * page.derotation_matrix
        return shown_blocks(page, flags, clip, drawn=area is not None)[0]


def _flowing(lines: Sequence[Line]) -> str:
    text: list[str] = []
    previous: Line | None = None
    for line in lines:
        if previous is not None:
            text.append(" " if _continues(previous, line) else "\n" if previous.block == line.block else "\n\n")
        text.append(line.text)
        previous = line
    return f"{''.join(text)}\n" if text else ""


def paged_text(path: Path) -> str:
    """Return the text of a whole PDF, with a line `[page N]` above each page; empty if no page has any text.

    Raise the same errors as `opened`.
    """
    with opened(path, locked=UNLOCK) as document:
        texts = []
        for number in range(document.page_count):
            texts.append(page_text(document[number]))
            give_way()
    if not any(text.strip() for text in texts):
        return ""
    return "\n".join(f"[page {number}]\n{text}" for number, text in enumerate(texts, 1))


def _continues(previous: Line, line: Line) -> bool:
    """Return whether `line` is to the right of `previous` at the same height, like the next cell of a row."""
    middle = (line.top + line.bottom) / 2
    return previous.block == line.block and previous.top < middle < previous.bottom and line.left >= previous.right - 1


def _line(plain: Any, block: int) -> Line:
    left, top, right, bottom = plain["bbox"]
    return Line(printable("".join([span["text"] for span in plain["spans"]])), left, top, right, bottom, block)


_PRINTABLE: Lazy[int, int] = Lazy(lambda code: code if chr(code).isprintable() else 32)


def printable(text: str) -> str:
    """Return `text` with one space for each run of white space and unprintable characters, and none at the ends."""
    if text.isprintable():
        return " ".join(text.split()) if "  " in text else text.strip(" ")  # no other white space is printable
    return " ".join(text.translate(_PRINTABLE).split())


def blocks_as_plain_data(text_page: Any, scale: float) -> list[dict[str, Any]]:
    """Return the blocks of MuPDF's structured text as MuPDF writes them in JSON, with coordinates times `scale` as
    integers.

    Call this function inside `exclusive()` or `opened()`.
    """
    with exclusive() as pymupdf:
        mupdf = pymupdf.mupdf
        buffer = mupdf.FzBuffer(2**14)
        output = mupdf.FzOutput(buffer)
        mupdf.fz_print_stext_page_as_json(output, text_page, scale)
        mupdf.fz_close_output(output)
        data = mupdf.fz_buffer_extract_copy(buffer)
    blocks: list[dict[str, Any]] = json.loads(data.decode("utf-8", "replace"), strict=False)["blocks"]
    return blocks
