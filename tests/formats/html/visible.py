"""The text of HTML by the standard library's parser, which shares nothing with ours."""

from __future__ import annotations

import re
from html.parser import HTMLParser


class Visible(HTMLParser):
    """Collects pieces of text, and the line of each."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[str] = []
        self.lines: list[tuple[int, str]] = []
        self.hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.hidden += tag in ("head", "script", "style")

    def handle_endtag(self, tag: str) -> None:
        self.hidden -= tag in ("head", "script", "style")

    def handle_data(self, data: str) -> None:
        if not self.hidden:
            self.pieces.append(data)
            first = self.getpos()[0]
            self.lines += [(first + n, letters(line)) for n, line in enumerate(data.split("\n")) if letters(line)]


def visible(document: str) -> Visible:
    """The parser after it has read the document."""
    parser = Visible()
    parser.feed(document)
    parser.close()
    return parser


def letters(text: str) -> str:
    """Everything but white space."""
    return re.sub(r"\s", "", text)
