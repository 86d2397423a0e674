"""Texts as they are compared."""

from __future__ import annotations

import unicodedata


def folded(text: str) -> str:
    """`text` without the difference of cases, and of how an accent is encoded, but with the accent.

    That is the full case folding of Unicode (chapter 3.13, toCasefold), in normal form C.
    """
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
