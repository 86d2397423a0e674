"""Rewrites SCSS so that its grammar can parse it: keeps the blocks, shortens their headers, and drops declarations.

Only the structure of the result matters. Names and signatures are taken from the original.
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
"""Matches the header of a block that is not a rule, such as `@if`. The rules in the block are kept."""

_FRAMES = re.compile(rb"@(?:-\w+-)?keyframes\b")
_INTERPOLATION, _KEPT, _DROPPED, _MOVING = "interpolation", "kept", "dropped", "moving"


def prepare(data: bytes) -> bytes:
    """Return a version of the style sheet that the parser can read, with the same length and lines."""
    sheet = _Sheet(data, bytearray(blank(data)))
    for token in _TOKEN.finditer(data):
        sheet.visit(token)
    return bytes(sheet.kept)


@define
class _Sheet:
    """Processes the tokens of the style sheet `data`, and copies the text to keep to `kept`.

    `start` is the offset of the text after the previous block or semicolon. `moving` is 1 inside `@keyframes`, whose
    blocks are dropped.
    """

    data: bytes
    kept: bytearray
    start: int = 0
    open: list[str] = field(factory=list)
    moving: int = 0

    def visit(self, token: re.Match[bytes]) -> None:
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
        """Keep a comment unless unfinished code precedes it. `start` moves, so that no whitespace is scanned twice."""
        ink = _INK.search(self.data, self.start, token.start())
        self.start = ink.start() if ink else token.end()
        if ink is None:
            self.kept[token.start() : token.end()] = token[0]

    def _close(self, offset: int) -> None:
        state = self.open.pop() if self.open else _DROPPED
        if state == _INTERPOLATION:
            return
        self.moving -= state == _MOVING
        if state != _DROPPED:
            self.kept[offset] = ord("}")
        self.start = offset + 1

    def _open(self, offset: int) -> None:
        text = self.data[self.start : offset]
        head = self.start + len(text) - len(text.lstrip())
        self.start, text = offset + 1, text.strip()
        if not text or _PASSED.match(text) or self.moving:
            self.open.append(_DROPPED)
            return
        named = _NAMED.match(text)
        shape = named[0] if named else b"a"
        self.kept[head : head + len(shape)] = shape
        self.kept[offset] = ord("{")
        self.moving = int(_FRAMES.match(text) is not None)
        self.open.append(_MOVING if self.moving else _KEPT)
