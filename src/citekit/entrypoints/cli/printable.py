"""Text from files and names, made safe for a terminal."""

from __future__ import annotations

import re
from functools import cache

_UNPRINTABLE = (
    "[\x00-\x1f\x7f-\x9f"  # C0, DEL and C1: escape sequences begin with these (ECMA-48)
    "\u2028\u2029"  # line and paragraph separators
    "\u202a-\u202e\u2066-\u2069"  # embeddings, overrides and isolates change the order of what follows (UAX 9)
    "\ud800-\udfff]"  # bytes of a file name that are no UTF-8
)


def printable(text: str) -> str:
    """`text` in one line, with control and direction-changing characters written as escapes (`\\x1b`, `\\u202e`).

    >>> printable("a" + chr(27) + "[31mb")
    'a\\\\x1b[31mb'
    """
    if text.isascii() and text.isprintable():
        return text
    return _pattern().sub(lambda found: _escaped(ord(found[0])), text)


@cache
def _pattern() -> re.Pattern[str]:
    return re.compile(_UNPRINTABLE)


def _escaped(code: int) -> str:
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
