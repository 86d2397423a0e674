"""Recognizes Unicode characters that are invisible, control a terminal, reverse a line, or hide text.

The constants are character classes without brackets.
"""

from __future__ import annotations

import re
from functools import cache

CONTROLS = "\x00-\x1f\x7f-\x9f"
"""C0, DEL, and C1. Escape sequences begin with these (ECMA-48)."""

SEPARATORS = "\u2028\u2029"
"""Line separator and paragraph separator."""

SURROGATES = "\ud800-\udfff"
"""Surrogates, which in Python represent bytes of a file name that are not UTF-8."""

DIRECTION_CONTROLS = "\u202a-\u202e\u2066-\u2069"
"""Embeddings, overrides, and isolates of the writing direction (UAX 9)."""

JOINERS = "\u200c\u200d"
SELECTORS = "\ufe00-\ufe0f"

IGNORED = (
    "\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff"  # direction controls, zero-width characters
    "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0\ufff0-\ufffb"  # fillers, annotations
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"  # formats of scripts; tags, selectors
)
"""The characters with the property Default_Ignorable_Code_Point, without the soft hyphen, the joiners, and the first
variation selectors, which are parts of words; and interlinear annotations, which most fonts ignore.
"""


_UNSEEN = f"{CONTROLS}{SEPARATORS}{SURROGATES}{IGNORED}"
_NO_LETTER = f"\x00-\x7f{_UNSEEN}{JOINERS}{SELECTORS}"


def invisible_characters(*, but: str = "") -> re.Pattern[str]:
    """Return a regular expression that matches one invisible character that is not in `but`.

    It does not match those of normal text, such as a single joiner between two letters beyond ASCII, as in Persian,
    Hindi, and emoji, or a single variation selector after a visible character.
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
    """Return the JSON document `text` with invisible characters escaped as `\\u202e`: equal data, but fully visible.

    >>> in_json('{"title": "a\\u202eb"}')
    '{"title": "a\\\\u202eb"}'
    """
    if text.isascii() and "\x7f" not in text:  # JSON always escapes C0, and has line ends only between tokens
        return text
    return invisible_characters(but="\n").sub(lambda found: _json_escape(found[0]), text)


def _json_escape(character: str) -> str:
    data = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{data[at]:02x}{data[at + 1]:02x}" for at in range(0, len(data), 2))


def printable(text: str) -> str:
    """Return `text` on one line, with invisible characters escaped (`\\x1b`, `\\u202e`).

    >>> printable("a" + chr(27) + "[31mb")
    'a\\\\x1b[31mb'
    """
    return text if text.isascii() and text.isprintable() else visible(text)


def visible(text: str, *, but: str = "") -> str:
    """Return `text` with invisible characters, except those in `but`, replaced by visible escapes."""
    return invisible_characters(but=but).sub(lambda found: _escaped(ord(found[0])), text)


def _escaped(code: int) -> str:
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
