"""Markdown (CommonMark 0.31, tables, strikethrough) without its marks, each piece of text on the line where it stands.

By markdown-it-py, about 1 MB a second. It tells the lines of blocks; within one, every line break is counted. Blocks and
texts that are too long for it are read by simple rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from attrs import define

from citekit.adapters.formats.html.lines import shown_lines
from citekit.adapters.formats.markdown.plain_lines_by_rules import visible_lines_by_rules

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

SIZE_LIMIT, LINES_LIMIT = 8_000_000, 60_000
"""Characters and lines of the longest text that is parsed."""

BLOCK_LIMIT = 20_000
"""Characters of the longest paragraph that is parsed."""

_FRONT_LIMIT = 500
_FRONT_ENDS = {"---": ("---", "..."), "+++": ("+++",), "{": ("}",)}
_NEAR = 30
_SPOKEN = frozenset(("text", "text_special", "code_inline"))


def front_matter(lines: Sequence[str]) -> int:
    """How many lines of front matter there are, those around it included: YAML, TOML (`+++`), or JSON (`{`, `}`)."""
    ends = _FRONT_ENDS.get(lines[0].rstrip() if lines else "", ())
    return next((n for n, line in enumerate(lines[1:_FRONT_LIMIT], 2) if line.rstrip() in ends), 0)


def markdown_visible_lines(lines: Sequence[str]) -> list[str]:
    """Every line without its markup; an empty one for a line that is markup alone, as all of the front matter is."""
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
    known: dict[str, Any] = {}
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
    return page.spoken


@define
class _Page:
    parser: MarkdownIt
    known: dict[str, Any]
    lines: Sequence[str]
    spoken: list[str]

    def block(self, lines: Iterable[str], first: int) -> None:
        for line, text in enumerate(lines, first):
            if line < len(self.spoken) and text:
                self.spoken[line] += text

    def inline(self, content: str, first: int, end: int, *, cell: bool) -> None:
        if len(content) > BLOCK_LIMIT:
            self.block(visible_lines_by_rules(self.lines[first:end]), first)
            return
        if cell and self.spoken[first]:
            self.spoken[first] += "\t"
        tokens: list[Token] = []
        self.parser.inline.parse(content, self.parser, self.known, tokens)
        self._say(tokens, first, end)

    def _say(self, tokens: Sequence[Token], line: int, end: int) -> int:
        """Write what the tokens say; the line after them, counted from 0."""
        for token in tokens:
            if token.type in ("softbreak", "hardbreak"):
                line = min(line + 1, end - 1)
            elif token.type in _SPOKEN:
                line = self._place(token, line, end)
                self.spoken[line] += token.content
            elif token.type == "html_inline":
                line = min(line + token.content.count("\n"), end - 1)
            elif token.children:
                line = self._say(token.children, line, end)
        return line

    def _place(self, token: Token, line: int, end: int) -> int:
        """The line of a piece: that one, or where it is not there, one soon below it.

        Breaks inside of code and of links are not among the tokens.
        """
        said = token.content.strip()[:24]
        if token.type == "text_special" or len(said) < 3 or said in self.lines[line]:
            return line
        return next((each for each in range(line + 1, min(end, line + _NEAR)) if said in self.lines[each]), line)
