"""SCSS as its grammar can read it: the blocks and what they are headed by, without declarations.

Only the shape counts, for names and signatures are taken from the sheet as it is.
"""

from __future__ import annotations

import re

from attrs import define, field

from citekit.adapters.formats.code.preprocessing.blanking import blank

_TOKEN = re.compile(
    rb"/\*.*?(?:\*/|\Z)|(?<!:)//[^\r\n]*|\"(?:\\.|[^\"\\\r\n])*\"?|'(?:\\.|[^'\\\r\n])*'?|url\([^()\"']*\)|#\{|[{};]",
    re.DOTALL,
)
_INK = re.compile(rb"\S")
_NAMED = re.compile(rb"@(?:mixin|function)\s+[\w-]+")
_PASSED = re.compile(
    rb"@(?!(?:media|supports|(?:-\w+-)?keyframes|layer|container|font-face|page|scope|at-root|mixin|function)\b)|--|\$|.*:\Z",
    re.DOTALL,
)
"""What heads a block that is no rule: an at-rule for control (what is inside counts), or a name of nested properties."""

_FRAMES = re.compile(rb"@(?:-\w+-)?keyframes\b")
_INTERPOLATION, _KEPT, _DROPPED, _MOVING = "interpolation", "kept", "dropped", "moving"


def readable(data: bytes) -> bytes:
    """The sheet for the parser, of the same length and with the same lines; comments stay, before what they precede."""
    sheet = _Sheet(data, bytearray(blank(data)))
    for token in _TOKEN.finditer(data):
        sheet.see(token)
    return bytes(sheet.kept)


@define
class _Sheet:
    """Goes over the tokens of a sheet; `start` is where the text before the next block or semicolon begins."""

    data: bytes
    kept: bytearray
    start: int = 0
    open: list[str] = field(factory=list)
    moving: int = 0

    def see(self, token: re.Match[bytes]) -> None:
        text, inside = token[0], bool(self.open) and self.open[-1] == _INTERPOLATION
        if text == b"#{":
            self.open.append(_INTERPOLATION)
        elif text == b"}":
            self._close(token.start())
        elif inside:
            return
        elif text == b"{":
            self._open(token.start())
        elif text == b";":
            self.start = token.end()
        elif text[:1] == b"/":
            self._comment(token)

    def _comment(self, token: re.Match[bytes]) -> None:
        """Keep a comment with nothing before it; blanks are gone over once, however many comments follow."""
        ink = _INK.search(self.data, self.start, token.start())
        self.start = ink.start() if ink else token.end()
        if ink is None:
            self.kept[token.start() : token.end()] = token[0]

    def _close(self, place: int) -> None:
        state = self.open.pop() if self.open else _DROPPED
        if state == _INTERPOLATION:
            return
        self.moving -= state == _MOVING
        if state != _DROPPED:
            self.kept[place] = ord("}")
        self.start = place + 1

    def _open(self, place: int) -> None:
        text = self.data[self.start : place]
        head = self.start + len(text) - len(text.lstrip())
        self.start, text = place + 1, text.strip()
        if not text or _PASSED.match(text) or self.moving:
            self.open.append(_DROPPED)
            return
        named = _NAMED.match(text)
        shape = named[0] if named else b"a"
        self.kept[head : head + len(shape)] = shape
        self.kept[place] = ord("{")
        self.moving = int(_FRAMES.match(text) is not None)
        self.open.append(_MOVING if self.moving else _KEPT)
