"""Extracts the signature of a definition as one line, and the first sentence of a Python docstring."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from citekit.adapters.formats.code.comments import docstring_sentence
from citekit.adapters.formats.code.names import first_child, text_of
from citekit.adapters.formats.shared.outline import one_line

if TYPE_CHECKING:
    from tree_sitter import Node

_LIMIT = 200
_DOC_LIMIT = 4000

_COLON_ENDED = frozenset({"class_definition", "function_definition"})
"""Node types of Python definitions. In other grammars, these have no colon and no docstring."""

_OPENER = re.compile(r"(?<![#$]){")
"""The brace that opens a block; `#{` and `${` begin an interpolation."""

_FIRST_LINE = frozenset({"class", "module", "method", "singleton_method", "call", "module_definition"})
"""Node types of definitions whose signature is their first line, because no brace ends the signature."""


def signature(head: Node, node: Node, data: bytes) -> str:
    """Return the text of the definition `node` before its body, as one line.

    The definition begins at `head`, which may be a wrapper such as `export`.
    """
    body = _body(node)
    end = body.start_byte if body is not None else node.end_byte
    if node.type in _COLON_ENDED:
        end = next((each.start_byte for each in node.children[:12] if each.type == ":"), end)
    text = data[head.start_byte : min(end, head.start_byte + 4 * _LIMIT)].decode("utf-8", "replace")
    if node.type in _FIRST_LINE:
        text = text.partition("\n")[0]
    elif body is None:
        text = _OPENER.split(text, maxsplit=1)[0]
        text = text.strip().partition("\n")[0] if "\n" in text else text
    text = text.strip().removesuffix("=>").rstrip(" \t\r\n:{;=")
    return one_line(text.removesuffix(" do").removesuffix(","), _LIMIT)


def _body(node: Node) -> Node | None:
    for name in ("value", "right", "type"):
        inner = node.child_by_field_name(name)
        body = None if inner is None else inner.child_by_field_name("body")
        if body is not None:
            return body
    return node.child_by_field_name("body")


def docstring(node: Node, data: bytes) -> str:
    """Return the first sentence of the docstring of a Python definition.

    Return "" for a definition without a docstring, and for a definition in another language.
    """
    return block_docstring(node.child_by_field_name("body"), data) if node.type in _COLON_ENDED else ""


def block_docstring(body: Node | None, data: bytes) -> str:
    """Return the first sentence of the docstring of a Python block or module, or ""."""
    literal = docstring_node(body)
    return docstring_sentence(text_of(literal, data, _DOC_LIMIT)) if literal is not None else ""


def docstring_node(body: Node | None) -> Node | None:
    """Return the string literal that is the docstring of a Python block or module, or None."""
    if body is None or body.type not in ("block", "module"):
        return None
    first = next((each for each in body.named_children[:20] if each.type != "comment"), None)
    literal = first_child(first) if first is not None and first.type == "expression_statement" else None
    return literal if literal is not None and literal.type == "string" else None
