"""Removes the markup of Markdown (CommonMark 0.31, tables, strikethrough), so that all text stays on its line.

The parser markdown-it-py, which processes about 1 MB per second, reports the lines of blocks. Texts that are too long
for it are processed with simple rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from attrs import define

from citekit.adapters.formats.html.lines import shown_lines
from citekit.adapters.formats.markdown.plain_lines_by_rules import visible_lines_by_rules

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

SIZE_LIMIT, LINES_LIMIT = 8_000_000, 60_000
"""The maximum number of characters, and lines, of a text that is parsed."""

BLOCK_LIMIT = 20_000
"""The maximum number of characters of a line or a paragraph that is parsed."""

_FRONT_LIMIT = 500
_FRONT_ENDS = {"---": ("---", "..."), "+++": ("+++",), "{": ("}",)}
_NEAR = 30
_TEXT_TOKENS = frozenset(("text", "text_special", "code_inline"))


def front_matter(lines: Sequence[str]) -> int:
    """Return the number of lines of front matter in YAML, TOML, or JSON, including its delimiters, or 0."""
    ends = _FRONT_ENDS.get(lines[0].rstrip() if lines else "", ())
    return next((n for n, line in enumerate(lines[1:_FRONT_LIMIT], 2) if line.rstrip() in ends), 0)


def markdown_visible_lines(lines: Sequence[str]) -> list[str]:
    """Return every line without its markup. Lines of only markup, and front matter, become empty."""
    front = front_matter(lines)
    body = lines[front:]
    is_long = (
        len(body) > LINES_LIMIT or sum(map(len, body)) > SIZE_LIMIT or max(map(len, body), default=0) > BLOCK_LIMIT
    )
    return [""] * front + (list(visible_lines_by_rules(body)) if is_long else _parsed(body))


def _parsed(lines: Sequence[str]) -> list[str]:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    parser.core.ruler.enableOnly(["normalize", "block"])
    known: dict[str, object] = {}
    page = _Page(parser, known, lines, [""] * len(lines))
    row = (0, 1)
    for token in parser.parse("\n".join(lines), known):
        first, end = token.map or row
        if token.type == "tr_open":
            row = first, end
        elif token.type == "inline":
            page.inline(token.content, first, end, cell=token.map is None or (first, end) == row)
        elif token.type in ("fence", "code_block"):
            page.block(token.content.split("\n"), first + (token.type == "fence"))
        elif token.type == "html_block":
            page.block(shown_lines(token.content), first)
    return page.visible


@define
class _Page:
    parser: MarkdownIt
    known: dict[str, object]
    lines: Sequence[str]
    visible: list[str]

    def block(self, lines: Iterable[str], first: int) -> None:
        for line, text in enumerate(lines, first):
            if line < len(self.visible) and text:
                self.visible[line] += text

    def inline(self, content: str, first: int, end: int, *, cell: bool) -> None:
        if len(content) > BLOCK_LIMIT:
            self.block(visible_lines_by_rules(self.lines[first:end]), first)
            return
        if cell and self.visible[first]:
            self.visible[first] += "\t"
        tokens: list[Token] = []
        self.parser.inline.parse(content, self.parser, self.known, tokens)
        self._write(tokens, first, end)

    def _write(self, tokens: Sequence[Token], line: int, end: int) -> int:
        """Add the text of the tokens to the lines that contain it, from `line` to the line before `end`.

        Return the line of the last token.
        """
        for token in tokens:
            if token.type in ("softbreak", "hardbreak"):
                line = min(line + 1, end - 1)
            elif token.type in _TEXT_TOKENS:
                line = self._line_of(token, line, end)
                self.visible[line] += token.content
            elif token.type == "html_inline":
                line = min(line + token.content.count("\n"), end - 1)
            elif token.children:
                line = self._write(token.children, line, end)
        return line

    def _line_of(self, token: Token, line: int, end: int) -> int:
        """Return the line that contains the token's text, or `line` if it is not found.

        Line breaks inside code and links have no tokens.
        """
        start = token.content.strip()[:24]
        if token.type == "text_special" or len(start) < 3 or start in self.lines[line]:
            return line
        return next((each for each in range(line + 1, min(end, line + _NEAR)) if start in self.lines[each]), line)
