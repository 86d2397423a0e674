"""Finds the module docstring of a source file, or the comment at its beginning."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from attrs import frozen

from citekit.adapters.formats.code.comments import comment_sentence
from citekit.adapters.formats.code.signatures import block_docstring, docstring_node

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

_LEADING_NODES = 40
_DOC_LIMIT = 4000
_LEGAL = re.compile(rb"copyright|licen[cs]e|\(c\)\s|SPDX|all rights reserved|permission is hereby", re.IGNORECASE)
_EDITORS = re.compile(
    rb"\A\W*(?:-\*-|vim?:|eslint|jshint|jslint|prettier|@ts-|global |exported |frozen_string|!)", re.I
)
_FILE = re.compile(
    rb"[@\\]file(?:overview)?[ \t]*(?:[\w./-]+\.\w+)?|^[ \t]*\*?[ \t]*[\w.-]+\.(?:c|h|cc|cpp|hpp)[ \t]*-+", re.M
)


@frozen
class Preface:
    """The docstring or comment that describes a source file: its byte range [`start`, `end`) and its first sentence."""

    start: int
    end: int
    sentence: str


def preface(tree: Tree, data: bytes, first: int) -> Preface | None:
    """Return the docstring or comment that describes the program `data`, or None if there is none.

    A comment must end before byte `first`, where the first definition begins. License notices, editor and linter
    settings, and comments on the first definition do not count.
    """
    root = tree.root_node
    literal = docstring_node(root)
    if literal is not None:
        sentence = block_docstring(root, data)
        return Preface(literal.start_byte, literal.end_byte, sentence) if sentence else None
    for start, end in _blocks(root, data):
        if end > first:
            return None
        text = data[start : min(end, start + _DOC_LIMIT)]
        if _LEGAL.search(text) or _EDITORS.match(text.lstrip(b"/*#;-<{ \t")):
            continue
        sentence = comment_sentence(_FILE.sub(b"", text).decode("utf-8", "replace"))
        if " " in sentence:
            return Preface(start, end, sentence)
    return None


def _blocks(root: Node, data: bytes) -> list[tuple[int, int]]:
    """Return the byte ranges of the comments before the first line of code. Adjacent comment lines form one range."""
    blocks: list[tuple[int, int]] = []
    for node in _leading(root, data):
        end = node.start_byte + len(data[node.start_byte : node.end_byte].rstrip())
        if blocks and data.count(b"\n", blocks[-1][1], node.start_byte) <= 1:
            blocks[-1] = (blocks[-1][0], end)
        else:
            blocks.append((node.start_byte, end))
    return blocks


def _leading(root: Node, data: bytes) -> list[Node]:
    found = []
    cursor = root.walk()
    more = cursor.goto_first_child()
    for _ in range(_LEADING_NODES):
        node = cursor.node if more else None
        if node is None or not ("comment" in node.type or node.type in _NOT_CODE):
            break
        is_text = "comment" in node.type or node.type in ("haddock", "pod")
        if is_text and not data.startswith(b"#!", node.start_byte):
            found.append(node)
        more = cursor.goto_next_sibling()
    return found


_NOT_CODE = frozenset(
    {"haddock", "pod", "hash_bang_line", "php_tag", "shebang", "pragma", "pragmas", "empty_statement"}
)
