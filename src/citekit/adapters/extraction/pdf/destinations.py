"""The bookmarks to kept pages, told by the objects of the source (ISO 32000-1, 12.3.2 and 12.3.3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from citekit.adapters.drivers.pdf_memory import PdfMemory
from citekit.adapters.drivers.pdf_outline import Bookmark
from citekit.adapters.drivers.pdf_structure import Target, explicit, outline_targets
from citekit.adapters.drivers.pymupdf import Document, exclusive
from citekit.adapters.extraction.pdf.outline import Mark

_KNOWN = "_citekit_targets"
_VIEWS = frozenset(("XYZ", "Fit", "FitH", "FitV", "FitR", "FitB", "FitBH", "FitBV"))


def copied_marks(document: Document, positions: Mapping[int, int], memory: PdfMemory) -> list[Mark]:
    """The bookmarks to the pages whose object numbers `positions` leads to their places (from 0) in the mini-PDF.

    One whose parent leads elsewhere moves up. `document` is one that nobody changes. Raises `OutlineError`.
    """
    with exclusive() as pymupdf:
        mupdf = pymupdf.mupdf
        source = mupdf.pdf_document_from_fz_document(document.this)
        marks: list[Mark] = []
        levels: list[int] = []
        for target in _targets(document, memory):
            while levels and levels[-1] >= target.level:
                levels.pop()
            if target.page in positions:
                marks.append(_mark(mupdf, source, target, len(levels), positions[target.page]))
                levels.append(target.level)
        return marks


def _mark(mupdf: Any, source: Any, target: Target, depth: int, position: int) -> Mark:
    item = mupdf.pdf_new_indirect(source, target.item, 0)
    title = mupdf.pdf_to_text_string(mupdf.pdf_dict_gets(item, "Title"))
    nowhere = float("nan")
    bookmark = Bookmark(target.level, " ".join(title.replace("\0", " ").split()), None, nowhere, nowhere)
    return Mark(depth, position, bookmark, _view(mupdf, explicit(mupdf, source, item)))


def _view(mupdf: Any, place: Any) -> str:
    """What follows the page in an explicit destination, as PDF source text."""
    name = mupdf.pdf_to_name(mupdf.pdf_array_get(place, 1))
    if name not in _VIEWS:
        return "/Fit"
    values = [mupdf.pdf_array_get(place, at) for at in range(2, min(mupdf.pdf_array_len(place), 6))]
    plain = [f"{mupdf.pdf_to_real(each):.3f}" if mupdf.pdf_is_number(each) else "null" for each in values]
    return " ".join((f"/{name}", *plain))


def _targets(document: Document, memory: PdfMemory) -> list[Target]:
    """They stay known with the document, as those of the source that it was opened for: its file may have been replaced."""
    of, known = getattr(document, _KNOWN, (None, None))
    if known is None or of != memory.source.digest:
        known = memory.targets()
    if known is None:
        known = list(outline_targets(document))
        memory.learn_targets(known)
    setattr(document, _KNOWN, (memory.source.digest, known))
    return list(known)
