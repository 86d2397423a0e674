"""Defines which characters are equivalent when quotes are compared."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

SEAM = "\u2027"
"""Replaces a hyphen at a line end in a normal form, because the word may not have that hyphen elsewhere."""

INVISIBLE = (
    "\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u061c\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069"
    "\ufe00-\ufe0f\ufeff\U000e0100-\U000e01ef"
)
"""Control characters, soft hyphens, zero-width characters, direction marks, and variation selectors, as a character
class.
"""

MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u1ab0-\u1aff\u1dc0-\u1dff"
    "\u20d0-\u20ff\u3099\u309a\ufe20-\ufe2f"
)
"""Combining marks, as a character class."""

HYPHENS = "\\-\u2010\u2011"
DASHES = HYPHENS + "\u2012-\u2015\u2212\u2e3a\u2e3b\ufe58\ufe63\uff0d"
"""Hyphens, dashes, and the minus sign, as a character class."""

UNSPACED = (
    "\u2e80-\u2fdf\u3001-\u3130\u3190-\u31ff\u3400-\u9fff\uf900-\ufaff\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f"
    "\uff61-\uff9f\U00020000-\U0003ffff"
)
"""Chinese and Japanese characters, as a character class."""

UNSPACED_WORDS = (
    "\u0e01-\u0e4e\u0e81-\u0ece\u0edc-\u0edf\u1000-\u103f\u1050-\u108f\u1780-\u17d3\u1950-\u19cf\u1a20-\u1a7f"
    "\uaa60-\uaa7f"
)
"""Characters of Thai, Lao, Burmese, Khmer, and similar scripts without spaces between words, as a character class."""

QUOTATION_MARKS: dict[int, str] = {
    **dict.fromkeys(map(ord, "\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033\u301d\u301e\u301f\uff02"), '"'),
    **dict.fromkeys(map(ord, "\u2018\u2019\u201a\u201b\u2039\u203a\u2032\u02bc\u00b4`\uff07"), "'"),
}
"""Quotation marks, apostrophes, and primes. Single and double ones stay distinct (6' is not 6")."""

_FORMS = frozenset(
    (
        "<compat>",
        "<wide>",
        "<narrow>",
        "<font>",
        "<initial>",
        "<medial>",
        "<final>",
        "<isolated>",
        "<noBreak>",
        "<small>",
    )
)
"""Compatibility decompositions that change only the form. Superscripts (10² is not 102), fractions, and circled numbers
stay.
"""

_SPECIAL = re.compile(rf"[\s{INVISIBLE}{DASHES}{SEAM}]")
_CLASSES = tuple(re.compile(pattern) for pattern in (rf"[{UNSPACED}]", r"[^\W\d_]", r"\d"))


@lru_cache(maxsize=65536)
def form_of(character: str) -> str:
    """Return the plain form of a character, such as the separate letters of a ligature, or the character itself."""
    kind, _, rest = unicodedata.decomposition(character).partition(" ")
    if kind not in _FORMS or not rest:
        return character
    plain = "".join(form_of(chr(int(code, 16))) for code in rest.split())
    return plain if _is_alike(character, plain) else character


def _is_alike(character: str, plain: str) -> bool:
    """Return whether the plain form of a character reads the same, without added spaces or dashes."""
    return not _SPECIAL.search(plain) and bool(_CLASSES[0].match(character)) == bool(_CLASSES[0].match(plain))


@lru_cache(maxsize=65536)
def folded_cluster(cluster: str) -> str:
    """Return a character and its combining marks without differences of case and form.

    This follows Unicode 3.13, D145, and NFKC.
    """
    text = "".join(map(form_of, unicodedata.normalize("NFC", cluster))).translate(QUOTATION_MARKS)
    for _ in range(4):
        decomposed = unicodedata.normalize("NFD", text).casefold()
        again = unicodedata.normalize("NFC", "".join(map(form_of, unicodedata.normalize("NFC", decomposed))))
        again = again.translate(QUOTATION_MARKS)
        if again == text:
            break
        text = again
    return text
