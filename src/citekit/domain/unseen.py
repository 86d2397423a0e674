"""Characters that are not seen: as classes for regular expressions, without their brackets."""

from __future__ import annotations

CONTROLS = "\x00-\x1f\x7f-\x9f"
"""C0, DEL and C1: escape sequences begin with these (ECMA-48)."""

SEPARATORS = "\u2028\u2029"
"""Line and paragraph separator."""

SURROGATES = "\ud800-\udfff"
"""Halves of pairs: in Python, bytes of a file name that are no UTF-8."""

TURNS = "\u202a-\u202e\u2066-\u2069"
"""Embeddings, overrides and isolates of the writing direction (UAX 9)."""

JOINERS = "\u200c\u200d"
SELECTORS = "\ufe00-\ufe0f"

IGNORED = (
    "\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff"  # marks, turns; zero width
    "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0\ufff0-\ufffb"  # fillers, annotations
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"  # formats of scripts; tags, selectors
)
"""Default_Ignorable_Code_Point of Unicode, which nobody sees, without the soft hyphen, and without what words are written
with: joiners and the first selectors. Interlinear annotations are ignored by most fonts, too."""
