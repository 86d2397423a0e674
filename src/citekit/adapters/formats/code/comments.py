"""Extracts the first sentence of a docstring, or of the comment directly above a definition."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from attrs import define, field

from citekit.adapters.formats.code.names import text_of
from citekit.adapters.formats.shared.outline import one_line

if TYPE_CHECKING:
    from tree_sitter import Node

SENTENCE_LIMIT = 200

_MARKS = re.compile(
    r"^[ \t]*(?:/\*+!?|\*+/|\*|//[/!]*|#+!?|--+(?:[ \t]*[|^])?|\{-+(?:[ \t]*\|)?|<#|=\w+(?=\s)|@\w*doc\b)?[ \t]?"
    r"|(?:\*+/|-\}|#>)[ \t]*$",
    re.MULTILINE,
)
_QUOTES = re.compile(r"\A[rRuUbB]{0,2}(\"\"\"|'''|\"|')(.*?)\1\s*\Z", re.DOTALL)
_XML_TAG = re.compile(r"</?\w+[^<>]{0,200}>")
_END = re.compile(r"(?<=[^\W\d_][.!?。])(?=\s)|\n\s*\n|\n(?=\s*(?:@\w|:\w+|\\\w|[-=*]{3}))")
_LETTER = re.compile(r"[^\W\d_]")
_GAP_LIMIT = 400
_DOC_LIMIT = 4000
_NO_WORDS = frozenset({"attribute_item", "decorator", "annotation", "signature"})
"""Types of nodes above a definition that contain no prose and may follow code on the same line."""


def comment_sentence(text: str) -> str:
    """Return the first sentence of the comments in `text`, without comment markers, or "" if there is none."""
    return _first_sentence(_XML_TAG.sub(" ", _MARKS.sub("", text)))


def docstring_sentence(literal: str) -> str:
    """Return the first sentence of a docstring, given as a Python string literal, or "" if there is none."""
    quoted = _QUOTES.match(literal)
    return _first_sentence(quoted[2]) if quoted else ""


def _first_sentence(text: str) -> str:
    start = _LETTER.search(text)
    if start is None or text.lstrip()[:1] == "@":
        return ""
    text = text.strip()
    end = _END.search(text)
    return one_line(text[: end.start()] if end else text, SENTENCE_LIMIT)


@define
class Comments:
    """Collects the comments and attributes that precede the next definition in `data`."""

    data: bytes
    found: list[Node] = field(factory=list)

    def add(self, node: Node) -> None:
        """Add the next comment or attribute in source order.

        Earlier nodes are dropped unless `node` directly follows them. `#!` lines, and unary operators other than `@`
        (Elixir), are ignored.
        """
        if self.data.startswith(b"#!", node.start_byte) and not self.data.startswith(b"#![", node.start_byte):
            return
        if node.type == "unary_operator" and not self.data.startswith(b"@", node.start_byte):
            return
        if self.found and not self._touches(self.found[-1], node.start_byte):
            self.found.clear()
        self.found.append(node)

    def take(self, start: int, least: int) -> tuple[int, str, str]:
        """Remove the collected nodes directly above byte `start` that begin at or after byte `least`.

        Return the byte offset where they begin (`start` if there are none), the first sentence of their text, and the
        text of the attributes among them.
        """
        words: list[str] = []
        attributes: list[str] = []
        while self.found and self.found[-1].start_byte >= start:
            self.found.pop()
        while self.found and self._touches(self.found[-1], start) and self._starts_line(self.found[-1]):
            node = self.found.pop()
            if node.start_byte < least:
                break
            start = node.start_byte
            text = text_of(node, self.data, _DOC_LIMIT).rstrip()
            (attributes if node.type in _NO_WORDS or text.startswith("@") else words).append(text)
        sentence = comment_sentence("\n".join(reversed(words))) or _documented(attributes)
        return start, sentence.strip("\"' "), "\n".join(attributes)

    def _touches(self, node: Node, start: int) -> bool:
        """Return whether only whitespace, with at most one line break (two after a POD block), separates the node from
        `start`.
        """
        end = node.end_byte
        if not 0 <= start - end <= _GAP_LIMIT:
            return False
        while end > node.start_byte and self.data[end - 1] in b" \t\r\n":
            end -= 1
        gap = self.data[end:start]
        return not gap.strip() and gap.count(b"\n") <= (2 if node.type == "pod" else 1)

    def _starts_line(self, node: Node) -> bool:
        """Return whether the node can describe the definition after it. A comment after code on its line describes that
        code.
        """
        if node.type in _NO_WORDS:
            return True
        window = self.data[max(0, node.start_byte - _GAP_LIMIT) : node.start_byte]
        before = window.rpartition(b"\n")[2]
        return not before.removeprefix(b"\xef\xbb\xbf").strip() or before.strip() in (b"{", b"<?php")


def _documented(attributes: list[str]) -> str:
    """Return the first sentence of the `@doc` attribute of an Elixir definition, or "" if there is none."""
    documented = next((each for each in attributes if each.startswith("@doc ")), "")
    return _first_sentence(documented.removeprefix("@doc ").strip("\"' \n"))
