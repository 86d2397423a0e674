"""The definitions of a program, with the lines that belong to them, out of its syntax tree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from attrs import define, field

from citekit.adapters.drivers import tree_sitter
from citekit.adapters.mapping.local.code.comments import comment_sentence, docstring_sentence
from citekit.adapters.mapping.local.code.grammars import PROTOTYPE, Grammar
from citekit.adapters.mapping.local.code.names import kind_of, name_of, text_of
from citekit.adapters.mapping.local.outline import one_line

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

LEVELS = 5
"""How deep definitions are nested in a map; deeper ones are parts of the bodies they stand in."""

_SIGNATURE_LIMIT = 200
_GAP_LIMIT = 400
_BLANKS_AND_QUOTES = " \t\r\n\"'`"
_DOC_LIMIT = 4000


@define
class Symbol:
    """A definition: its bytes are [start, end), decorators and the comment above included."""

    kind: str
    name: str
    start: int
    end: int
    summary: str
    prototype: bool
    children: list[Symbol] = field(factory=list)


def symbols(tree: Tree, data: bytes, grammar: Grammar) -> list[Symbol]:
    """The definitions of the program `data`, in order, those inside others as their children."""
    scan = _Scan(data, grammar)
    for node in tree_sitter.walk(tree, grammar.wanted):
        scan.see(node)
    return _without_prototypes(scan.roots)


def _without_prototypes(found: list[Symbol]) -> list[Symbol]:
    """Declarations go where the same file defines what they declare."""
    defined = {each.name for each in found if not each.prototype}
    for each in found:
        each.children = _without_prototypes(each.children)
    return [each for each in found if not (each.prototype and each.name in defined)]


@define
class _Scan:
    """Sees the nodes of a tree in the order they begin."""

    data: bytes
    grammar: Grammar
    roots: list[Symbol] = field(factory=list)
    stack: list[Symbol] = field(factory=list)
    wrappers: list[Node] = field(factory=list)
    above: list[Node] = field(factory=list)

    def see(self, node: Node) -> None:
        kind = self.grammar.kinds.get(node.type)
        if kind is not None:
            self._definition(node, kind)
        elif node.type in self.grammar.above and not self.data.startswith(b"#!", node.start_byte):
            if self.above and not self._touches(self.above[-1], node.start_byte):
                self.above.clear()
            self.above.append(node)
        elif node.type in self.grammar.wrappers:
            while self.wrappers and self.wrappers[-1].end_byte <= node.start_byte:
                self.wrappers.pop()
            self.wrappers.append(node)

    def _definition(self, node: Node, listed: str) -> None:
        while self.stack and self.stack[-1].end <= node.start_byte:
            self.stack.pop()
        if len(self.stack) >= LEVELS:
            return
        parent = self.stack[-1] if self.stack else None
        kind = kind_of(node, listed, parent.kind if parent else None)
        name = name_of(node, self.data).strip(_BLANKS_AND_QUOTES) if kind else ""
        if not kind or not name:
            return
        symbol = self._symbol(node, kind, name, listed == PROTOTYPE and kind == "function")
        (parent.children if parent else self.roots).append(symbol)
        self.stack.append(symbol)

    def _symbol(self, node: Node, kind: str, name: str, prototype: bool) -> Symbol:
        outer = self._wrapped(node)
        start, comment = self._with_comment(outer.start_byte)
        if self.stack:
            start = max(start, self.stack[-1].start)
        head = node if outer.type == "decorated_definition" else outer
        summary = " - ".join(
            filter(None, (self._signature(head, node), _docstring(node, self.data) or comment_sentence(comment)))
        )
        end = start + len(self.data[start : outer.end_byte].rstrip())
        return Symbol(kind, name, start, min(end, self.stack[-1].end) if self.stack else end, summary, prototype)

    def _wrapped(self, node: Node) -> Node:
        """The outermost node that holds this definition and nothing after it."""
        wrappers, self.wrappers = self.wrappers, []
        for each in wrappers:
            inside = each.start_byte <= node.start_byte and node.end_byte <= each.end_byte <= node.end_byte + 8
            if inside and self.data[node.end_byte : each.end_byte].strip() in (b"", b";"):
                return each
        return node

    def _with_comment(self, start: int) -> tuple[int, str]:
        """Where the comments directly above `start` begin, and their text; attributes count as comments do."""
        texts: list[str] = []
        while self.above and self.above[-1].start_byte >= start:
            self.above.pop()
        while self.above and self._touches(self.above[-1], start) and self._alone(self.above[-1]):
            node = self.above.pop()
            start = node.start_byte
            if "comment" in node.type:
                texts.append(text_of(node, self.data, _DOC_LIMIT).rstrip())
        return start, "\n".join(reversed(texts))

    def _touches(self, node: Node, start: int) -> bool:
        """Whether between that node and byte `start` there is no more than a line end and blanks."""
        end = node.end_byte
        if not 0 <= start - end <= _GAP_LIMIT:
            return False
        while end > node.start_byte and self.data[end - 1] in b" \t\r\n":
            end -= 1
        gap = self.data[end:start]
        return not gap.strip() and gap.count(b"\n") <= 1

    def _alone(self, node: Node) -> bool:
        """Whether nothing but blanks stands before that comment on its line; it then speaks of what follows."""
        if "comment" not in node.type:
            return True
        window = self.data[max(0, node.start_byte - _GAP_LIMIT) : node.start_byte]
        before = window.rpartition(b"\n")[2]
        return not before.removeprefix(b"\xef\xbb\xbf").strip() or before.strip() in (b"{", b"<?php")

    def _signature(self, head: Node, node: Node) -> str:
        body = _body(node)
        end = body.start_byte if body is not None else node.end_byte
        if node.type in _COLON_ENDED:
            end = next((each.start_byte for each in node.children if each.type == ":"), end)
        text = self.data[head.start_byte : min(end, head.start_byte + 4 * _SIGNATURE_LIMIT)].decode("utf-8", "replace")
        if node.type in _UNBRACED:
            text = text.partition("\n")[0]
        elif body is None:
            text = text.partition("{")[0]
        return one_line(text.strip().removesuffix("=>").rstrip(" \t\r\n:{;="), _SIGNATURE_LIMIT)


_COLON_ENDED = frozenset({"class_definition", "function_definition"})
"""Definitions of Python; `function_definition` of C and its kin has no colon and no docstring."""

_UNBRACED = frozenset({"class", "module", "method", "singleton_method"})


def _body(node: Node) -> Node | None:
    for name in ("value", "right", "type"):
        inner = node.child_by_field_name(name)
        body = None if inner is None else inner.child_by_field_name("body")
        if body is not None:
            return body
    return node.child_by_field_name("body")


def _docstring(node: Node, data: bytes) -> str:
    if node.type not in _COLON_ENDED:
        return ""
    body = node.child_by_field_name("body")
    first = body.named_child(0) if body is not None and body.type == "block" and body.named_child_count else None
    literal = first.named_child(0) if first is not None and first.type == "expression_statement" else None
    if literal is None or literal.type != "string":
        return ""
    return docstring_sentence(text_of(literal, data, _DOC_LIMIT))


def count(found: list[Symbol]) -> int:
    """How many definitions there are on all levels."""
    return sum(1 for _ in _all(found))


def _all(found: list[Symbol]) -> Iterator[Symbol]:
    for each in found:
        yield each
        yield from _all(each.children)
