"""Finds the pages of a PDF that may have replacement text (ActualText, ISO 32000-2, 14.9.4).

MuPDF puts replacement text in the place of what the glyphs say. Comparing the two takes another pass over the page,
and few files have any.
"""

from __future__ import annotations

import re
from typing import Any

from citekit.adapters.libraries.mupdf.engine import exclusive

_KEY = b"ActualText"

_ESCAPED = re.compile(rb"/[^\s()<>\[\]{}/%]*#[0-9A-Fa-f]{2}")
"""A name with an escaped character, which may be the key."""

_OBJECTS = 1000
"""Objects for each page that are looked at; in a file with more, any page may have replacement text."""


def may_have_replacement_text(page: Any) -> bool:
    """Return whether `page` may have replacement text. Call this function inside `exclusive()` or `opened()`."""
    with exclusive():
        content = page.read_contents()
        if b"BDC" not in content and b"Do" not in content:
            return False
        return (
            _KEY in content
            or bool(_ESCAPED.search(content))
            or _is_in_objects(page.parent)
            or bool(page.get_xobjects())
        )


def _is_in_objects(document: Any) -> bool:
    """Return whether an object of `document` other than a content stream may have the key. The answer is remembered."""
    known = getattr(document, "may_replace_text", None)
    if known is None:
        known = document.may_replace_text = _looked_up(document)
    return bool(known)


def _looked_up(document: Any) -> bool:
    count = document.xref_length()
    if count > _OBJECTS * document.page_count:
        return True
    try:
        return any(_KEY.decode() in document.xref_object(number, compressed=True) for number in range(1, count))
    except Exception:  # a damaged object; what PyMuPDF raises then is of any kind
        return True
