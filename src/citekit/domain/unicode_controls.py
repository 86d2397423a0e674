"""Unicode characters that are invisible, or that steer a terminal, reverse a line, or hide text.

The constants are the contents of character classes for regular expressions, without their brackets.
"""

from __future__ import annotations

import re
from functools import cache

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


_UNSEEN = f"{CONTROLS}{SEPARATORS}{SURROGATES}{IGNORED}"
_NO_LETTER = f"\x00-\x7f{_UNSEEN}{JOINERS}{SELECTORS}"


def unseen(*, but: str = "") -> re.Pattern[str]:
    """One character that is not seen, except those of `but`.

    A joiner (ZWJ, ZWNJ) between two letters beyond ASCII is how Persian, Hindi and emoji are written, and a variation
    selector after something seen is how an emoji gets its colour: these are let through, one at a time.
    """
    return _compiled(but)


@cache
def _compiled(but: str) -> re.Pattern[str]:
    kept = f"(?![{but}])" if but else ""
    letter = f"[^{_NO_LETTER}{JOINERS}]"
    joined = f"(?<!{letter})(?<![{SELECTORS}])[{JOINERS}]|[{JOINERS}](?!{letter})"
    selected = f"(?<![^{_UNSEEN}{JOINERS}{SELECTORS}])[{SELECTORS}]"
    return re.compile(f"{kept}[{_UNSEEN}]|{joined}|{selected}")


def in_json(text: str) -> str:
    """The JSON document `text` with what is not seen in its strings written as `\\u202e`: the same data, all of it visible.

    >>> in_json('{"title": "a\\u202eb"}')
    '{"title": "a\\\\u202eb"}'
    """
    if text.isascii() and "\x7f" not in text:  # JSON escapes C0 itself, and has line ends only between its strings
        return text
    return unseen(but="\n").sub(lambda found: _json_escape(found[0]), text)


def _json_escape(character: str) -> str:
    data = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{data[at]:02x}{data[at + 1]:02x}" for at in range(0, len(data), 2))


def printable(text: str) -> str:
    """`text` in one line, with what is not seen (controls, turns of direction, zero widths) as escapes (`\\x1b`, `\\u202e`).

    >>> printable("a" + chr(27) + "[31mb")
    'a\\\\x1b[31mb'
    """
    return text if text.isascii() and text.isprintable() else visible(text)


def visible(text: str, *, but: str = "") -> str:
    """`text` with what is not seen as escapes, except the characters `but`."""
    return unseen(but=but).sub(lambda found: _escaped(ord(found[0])), text)


def _escaped(code: int) -> str:
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
