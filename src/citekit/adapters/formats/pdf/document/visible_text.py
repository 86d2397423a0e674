"""Separates the text of a PDF page that a reader sees from the page's hidden text."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

from citekit.adapters.formats.pdf.document.drawn_text import unseen_text
from citekit.adapters.formats.pdf.document.hidden_text import Hidden, hidden_text
from citekit.adapters.formats.pdf.document.replacement_text import may_have_replacement_text
from citekit.adapters.formats.pdf.document.visibility_expressions import apply_visibility_expressions
from citekit.adapters.libraries.mupdf.engine import exclusive

_WORDS = 4000
"""Words of a page whose replacement text is compared word by word."""

Blocks = Sequence[Mapping[str, Any]]
"""Blocks as `page.get_text("dict")` gives them."""


def shown_blocks(page: Any, flags: int, clip: Any = None, *, drawn: bool = False) -> tuple[Blocks, Blocks | None]:
    """Return the text blocks of `page` without hidden text, and all of its text blocks (None if no text is hidden).

    Replacement text (ActualText, ISO 32000-2, 14.9.4) whose words differ from the displayed words counts as hidden; the
    first result then has the displayed words. With `drawn`, the page is drawn to find all hidden text, not only the
    text with signs of being hidden, and the visibility expressions of optional content become effective in the open
    document. Call this function inside `exclusive()` or `opened()`.
    """
    if drawn:
        apply_visibility_expressions(page)
    blocks = page.get_text("dict", flags=flags, clip=clip)["blocks"]
    is_replaced = may_have_replacement_text(page) and _is_replaced(page, flags, blocks if clip is None else None)
    own = flags | _ignoring() if is_replaced else flags
    hidden = unseen_text(page) if drawn else hidden_text(page)
    if not hidden:
        return (blocks, None) if own == flags else (page.get_text("dict", flags=own, clip=clip)["blocks"], blocks)
    raw = page.get_text("rawdict", flags=own, clip=clip)["blocks"]
    shown = [block for block in (_without(block, hidden) for block in raw) if block["lines"]]
    return shown, blocks


def _without(block: Mapping[str, Any], hidden: Hidden) -> dict[str, Any]:
    lines = []
    for line in block.get("lines", ()):
        spans = []
        for span in line["spans"]:
            text = "".join(each["c"] for each in span["chars"] if not hidden.holds(each["c"], each["origin"]))
            if text:
                spans.append({**span, "text": text})
        if any(span["text"].strip() for span in spans):
            lines.append({**line, "spans": spans})
    return {**block, "lines": lines}


def _ignoring() -> int:
    with exclusive() as pymupdf:
        return int(pymupdf.mupdf.FZ_STEXT_IGNORE_ACTUALTEXT)


def _is_replaced(page: Any, flags: int, blocks: Blocks | None) -> bool:
    """Return whether the replacement text of `page` has other words than its glyphs show.

    `blocks` are the text blocks of the whole page with the replacement text, if they are known.
    """
    with exclusive():
        text = page.get_text("text", flags=flags) if blocks is None else _text_of(blocks)
        said, drawn = (list(_words(each)) for each in (text, page.get_text("text", flags=flags | _ignoring())))
    if "".join(said) == "".join(drawn):
        return False
    if max(len(said), len(drawn)) > _WORDS:
        return True
    for sign, a, b, c, d in SequenceMatcher(None, said, drawn, autojunk=False).get_opcodes():
        own, other = "".join(said[a:b]), "".join(drawn[c:d])
        if sign != "equal" and _differs(own, other):
            return True
    return False


def _text_of(blocks: Blocks) -> str:
    lines = (line for block in blocks for line in block.get("lines", ()))
    return "\n".join("".join(span["text"] for span in line["spans"]) for line in lines)


def _words(text: str) -> Iterator[str]:
    """Yield the case-folded words of `text`, reduced to letters and digits; unidentifiable characters become U+FFFD."""
    for word in unicodedata.normalize("NFKC", text).casefold().split():
        kept = "".join(each if each.isalnum() else "\ufffd" if _is_unknown(each) else "" for each in word)
        if kept:
            yield kept


def _is_unknown(character: str) -> bool:
    return character == "\ufffd" or unicodedata.category(character) in ("Co", "Cn", "Cc")


def _differs(said: str, drawn: str) -> bool:
    """Return whether the replacement text `said` has other words than the glyphs `drawn`.

    The result is False if some glyphs have no known character, or if `said` has only one or two letters or digits.
    """
    letters = sum(map(str.isalnum, said))
    return said != drawn and "\ufffd" not in drawn and letters > 2
