"""Characters that do something else than being seen: they steer a terminal, turn a line round, or hide what they say."""

from __future__ import annotations

import re
from functools import cache

from citekit.domain.unseen import CONTROLS, IGNORED, JOINERS, SELECTORS, SEPARATORS, SURROGATES

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
