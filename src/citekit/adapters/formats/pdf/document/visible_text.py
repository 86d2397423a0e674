"""Separates the text of a PDF page that a reader sees from the page's hidden text.

Replacement text (ActualText, ISO 32000-2, 14.9.4) that differs from the glyphs, and the text of optional content that
is off, count as hidden.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import partial
from typing import Any

from citekit.adapters.formats.pdf.document.drawn_text import unseen_text
from citekit.adapters.formats.pdf.document.hidden_text import Hidden, Look, hidden_text
from citekit.adapters.libraries.mupdf.engine import contents_of, exclusive

_WORDS = 4000
"""The maximum number of words of a page whose replacement text is compared word by word."""

_KEY = b"ActualText"

_ESCAPED = re.compile(rb"/[^\s()<>\[\]{}/%]*#[0-9A-Fa-f]{2}")
"""A name with an escaped character, which may stand for `ActualText`."""

_OBJECTS_PER_PAGE = 1000
"""The maximum number of objects per page in a file whose objects are searched for replacement text."""

_OBJECTS = 2000
"""The maximum number of forms of a page that are searched, and of groups and operands of an expression."""

_DEPTH = 30
"""The maximum nesting depth of an expression, and of forms within forms."""

Blocks = Sequence[Mapping[str, Any]]
"""Blocks as `page.get_text("dict")` returns them."""


def shown_blocks(
    page: Any, flags: int, clip: Any = None, *, drawn: bool = False, blocks: Blocks | None = None
) -> tuple[Blocks, Blocks | None]:
    """Return the text blocks of `page` without hidden text, and all of its text blocks (None if no text is hidden).

    Replacement text whose words differ from the displayed words counts as hidden; the first result then has the
    displayed words. With `drawn`, the page is drawn to find hidden text, and visibility expressions of optional content
    become effective in the open document. `clip` restricts both results to a rectangle of the page before its rotation.
    `blocks` are the text blocks of the whole page, if they have been read. Call this function inside `exclusive()` or
    `opened()`.
    """
    if drawn:
        _apply_visibility_expressions(page)
    if blocks is None:
        blocks = page.get_text("dict", flags=flags, clip=clip)["blocks"]
    may_be_replaced = _may_be_replaced(page)
    is_replaced = may_be_replaced and _is_replaced(page, flags, blocks if clip is None else None)
    own = flags | _ignoring() if is_replaced else flags
    hidden = (
        unseen_text(page)
        if drawn
        else hidden_text(page, looks=None if may_be_replaced or clip else partial(looks_of, blocks))
    )
    if not hidden:
        return (blocks, None) if own == flags else (page.get_text("dict", flags=own, clip=clip)["blocks"], blocks)
    raw = page.get_text("rawdict", flags=own, clip=clip)["blocks"]
    shown = [block for block in (_without(block, hidden) for block in raw) if block["lines"]]
    return shown, blocks


def looks_of(blocks: Blocks) -> set[Look]:
    """Return the different looks of the text in `blocks`."""
    return {
        (span["size"], span["color"], span["alpha"])
        for block in blocks
        for line in block.get("lines", ())
        for span in line["spans"]
    }


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
    """Return whether the replacement text of `page` differs from the words that its glyphs show, or is too long to
    tell.

    `blocks` are the text blocks of the whole page, if they are known.
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
    """Return whether the replacement text `said` differs from the text `drawn` of the glyphs.

    Return False if a glyph is unknown or `said` is very short.
    """
    letters = sum(map(str.isalnum, said))
    return said != drawn and "\ufffd" not in drawn and letters > 2


def _may_be_replaced(page: Any) -> bool:
    """Return whether `page` may have replacement text, which MuPDF returns instead of the text of the glyphs."""
    with exclusive():
        content = contents_of(page)
        if b"BDC" not in content and b"Do" not in content:
            return False
        return (
            _KEY in content
            or bool(_ESCAPED.search(content))
            or _is_in_objects(page.parent)
            or bool(page.get_xobjects())
        )


def _is_in_objects(document: Any) -> bool:
    """Return whether an object of `document` other than a content stream may have replacement text; the answer is
    cached.
    """
    known = getattr(document, "may_replace_text", None)
    if known is None:
        known = document.may_replace_text = _looked_up(document)
    return bool(known)


def _looked_up(document: Any) -> bool:
    count = document.xref_length()
    if count > _OBJECTS_PER_PAGE * document.page_count:
        return True
    try:
        return any(_KEY.decode() in document.xref_object(number, compressed=True) for number in range(1, count))
    except Exception:  # a damaged object; PyMuPDF can raise any exception then
        return True


def _apply_visibility_expressions(page: Any) -> None:
    """Replace each visibility expression on `page`, which MuPDF ignores, with a condition that has the same value (ISO
    32000-2, 8.11.2.2).
    """
    with exclusive() as pymupdf:
        mupdf = pymupdf.mupdf
        document = mupdf.pdf_document_from_fz_document(page.parent.this)
        if not mupdf.pdf_dict_getp(mupdf.pdf_trailer(document), "Root/OCProperties").m_internal:
            return
        resources = mupdf.pdf_dict_gets_inheritable(mupdf.pdf_page_from_fz_page(page.this).obj(), "Resources")
        for each in _memberships(mupdf, resources):
            expression = mupdf.pdf_dict_gets(each, "VE")
            if mupdf.pdf_is_array(expression):
                _replace(mupdf, document, each, expression)


def _memberships(mupdf: Any, resources: Any) -> Iterator[Any]:
    """Yield the optional content groups and memberships of the content and forms with these resources."""
    seen: set[int] = set()
    left, count = [(resources, 0)], 0
    while left:
        own, depth = left.pop()
        properties = mupdf.pdf_dict_gets(own, "Properties")
        yield from (mupdf.pdf_dict_get_val(properties, at) for at in range(mupdf.pdf_dict_len(properties)))
        objects = mupdf.pdf_dict_gets(own, "XObject")
        for at in range(mupdf.pdf_dict_len(objects)):
            form = mupdf.pdf_dict_get_val(objects, at)
            number = mupdf.pdf_to_num(form)
            count += 1
            if number in seen or count > _OBJECTS:
                continue
            seen.add(number)
            yield mupdf.pdf_dict_gets(form, "OC")
            inner = mupdf.pdf_dict_gets(form, "Resources")
            if inner.m_internal and depth < _DEPTH:
                left.append((inner, depth + 1))


def _replace(mupdf: Any, document: Any, membership: Any, expression: Any) -> None:
    groups: list[tuple[Any, bool]] = []
    value = _value(mupdf, document, expression, groups, 0)
    mupdf.pdf_dict_dels(membership, "VE")
    mupdf.pdf_dict_dels(membership, "OCGs")
    if not value and groups:
        group, is_on = next(((each, is_on) for each, is_on in groups if not is_on), groups[0])
        mupdf.pdf_dict_puts(membership, "OCGs", group)
        mupdf.pdf_dict_puts(membership, "P", mupdf.pdf_new_name("AllOff" if is_on else "AnyOn"))


def _value(mupdf: Any, document: Any, expression: Any, groups: list[tuple[Any, bool]], depth: int) -> bool:
    """Return the value of an expression, and add its groups to `groups`; a malformed or too large expression is true."""
    if not mupdf.pdf_is_array(expression):
        is_on = not mupdf.pdf_is_ocg_hidden(document, mupdf.PdfResourceStack(), "View", expression)
        groups.append((expression, is_on))
        return is_on
    count = mupdf.pdf_array_len(expression)
    if depth > _DEPTH or len(groups) + count > _OBJECTS:
        return True
    operator = mupdf.pdf_to_name(mupdf.pdf_array_get(expression, 0))
    values = [_value(mupdf, document, mupdf.pdf_array_get(expression, at), groups, depth + 1) for at in range(1, count)]
    if not values:
        return True
    return {"And": all(values), "Or": any(values), "Not": not values[0]}.get(operator, True)
