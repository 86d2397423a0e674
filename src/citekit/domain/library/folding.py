"""Texts as they are compared."""

from __future__ import annotations

import re
import unicodedata


def folded(text: str) -> str:
    """`text` without the difference of cases, and of how an accent is encoded, but with the accent.

    That is the full case folding of Unicode (chapter 3.13, toCasefold), in normal form C.
    """
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


_SENTENCE_ENDS = re.compile(r"[.!?\u3002\uff01\uff1f\n]+")
_BLANKS = re.compile(r"\s+")


def sentences_of(text: str) -> frozenset[str]:
    """What a text says, as a set: its sentences and lines, folded, without blanks around and differences of blanks inside.

    Texts that say the same have the same set, in whichever order and however often they say it.
    """
    pieces = (_BLANKS.sub(" ", piece).strip() for piece in _SENTENCE_ENDS.split(folded(text)))
    return frozenset(piece for piece in pieces if piece)
