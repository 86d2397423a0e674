"""Normalizes texts so that they can be compared ignoring case."""

from __future__ import annotations

import re
import unicodedata


def folded(text: str) -> str:
    """Return `text` with case differences removed and accents encoded uniformly.

    This is the full case folding of Unicode (section 3.13, toCasefold) in normalization form C.
    """
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


_SENTENCE_ENDS = re.compile(r"[.!?\u3002\uff01\uff1f\n]+")
_BLANKS = re.compile(r"\s+")


def sentences_of(text: str) -> frozenset[str]:
    """Return the set of sentences and lines of a text, case-folded and with white space normalized."""
    pieces = (_BLANKS.sub(" ", piece).strip() for piece in _SENTENCE_ENDS.split(folded(text)))
    return frozenset(piece for piece in pieces if piece)
