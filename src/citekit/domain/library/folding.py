"""Folds texts for comparison."""

from __future__ import annotations

import re
import unicodedata


def folded(text: str) -> str:
    """Return `text` without differences of case and of the encoding of accents. Accents stay.

    This is the full case folding of Unicode (chapter 3.13, toCasefold) in normal form C.
    """
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


_SENTENCE_ENDS = re.compile(r"[.!?\u3002\uff01\uff1f\n]+")
_BLANKS = re.compile(r"\s+")


def sentences_of(text: str) -> frozenset[str]:
    """Return the set of sentences and lines of a text, folded, with white space normalized.

    Texts with the same sentences have the same set, whatever their order and repetitions are.
    """
    pieces = (_BLANKS.sub(" ", piece).strip() for piece in _SENTENCE_ENDS.split(folded(text)))
    return frozenset(piece for piece in pieces if piece)
