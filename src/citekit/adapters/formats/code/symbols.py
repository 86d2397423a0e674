"""Finds the definitions of a program and their extents in its syntax tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from attrs import define, field

from citekit.adapters.formats.code.comments import Comments
from citekit.adapters.formats.code.grammar import PROTOTYPE, Grammar
from citekit.adapters.formats.code.names import kind_of, name_of, owner_of
from citekit.adapters.formats.code.signatures import docstring, signature
from citekit.adapters.libraries import tree_sitter

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

NESTING_LIMIT = 10
"""The maximum number of levels of nested definitions in a map."""

_BLANKS_AND_QUOTES = " \t\r\n\"'`"


@define
class Symbol:
    """A definition in a program, such as a function or class.

    It covers the bytes [`start`, `end`), including its decorators and the comment above it. `head` is the offset after
    these. `sentence` is the first sentence of its documentation, and `above` the text of its attributes and decorators.
    `owner` is the name of the type to which a method belongs, if the method is defined outside that type, as in Go.
    `prototype` is True if the definition only declares a C function.
    """

    kind: str
    name: str
    start: int
    end: int
    head: int
    signature: str
    sentence: str
    above: str = ""
    owner: str = ""
    prototype: bool = False
    children: list[Symbol] = field(factory=list)


def symbols(tree: Tree, data: bytes, grammar: Grammar) -> list[Symbol]:
    """Return the definitions of the program `data` in source order. Nested definitions are children."""
    scan = _Scan(data, grammar, len(data.rstrip()), Comments(data), grammar.kind or kind_of, grammar.name or name_of)
    for node, parent in tree_sitter.walk(tree, grammar.wanted):
        scan.visit(node, parent)
    return _without_prototypes(scan.roots)


def _without_prototypes(found: list[Symbol]) -> list[Symbol]:
    """Return the definitions without the declarations of functions that are also defined at the same level."""
    defined = {each.name for each in found if not each.prototype}
    for each in found:
        each.children = _without_prototypes(each.children)
    return [each for each in found if not (each.prototype and each.name in defined)]


@define
class _Scan:
    """Collects the definitions of a program from its nodes, which must be visited in source order."""

    data: bytes
    grammar: Grammar
    size: int
    above: Comments
    kind: Callable[[Node, str, str | None, bytes], str]
    name: Callable[[Node, bytes], str]
    roots: list[Symbol] = field(factory=list)
    stack: list[Symbol] = field(factory=list)
    wrappers: list[Node] = field(factory=list)
    bodiless: tuple[Symbol, int] | None = None
    """The last definition, and the byte offset after it, where a body that is a separate node may begin."""

    def visit(self, node: Node, parent: Node | None) -> None:
        kind = self.grammar.kinds.get(node.type)
        if kind is not None and self._definition(node, kind):
            return
        if node.type in self.grammar.tail:
            self._extend(node)
            return
        if node.type == "signature" and parent is not None and parent.type == "foreign_import":
            return
        if node.type in self.grammar.above:
            self.above.add(node)
        elif node.type in self.grammar.wrappers:
            while self.wrappers and self.wrappers[-1].end_byte <= node.start_byte:
                self.wrappers.pop()
            self.wrappers.append(node)

    def _definition(self, node: Node, listed: str) -> bool:
        while self.stack and self.stack[-1].end <= node.start_byte:
            self.stack.pop()
        if len(self.stack) >= NESTING_LIMIT:
            return False
        parent = self.stack[-1] if self.stack else None
        kind = self.kind(node, listed, parent.kind if parent else None, self.data)
        name = self.name(node, self.data).strip(_BLANKS_AND_QUOTES) if kind else ""
        if not kind or not name:
            return False
        self._add(self._symbol(node, kind, name, listed == PROTOTYPE and kind == "function"))
        return True

    def _extend(self, body: Node) -> None:
        """Add `body` to the definition before it. In some grammars, the body is the next sibling."""
        if self.bodiless is None:
            return
        symbol, end = self.bodiless
        self.bodiless = None
        is_open = any(each is symbol for each in self.stack)
        if not is_open or self.data[end : body.start_byte].strip():
            return
        while self.stack[-1] is not symbol:
            self.stack.pop()
        around = self.stack[-2].end if len(self.stack) > 1 else self.size
        symbol.end = min(body.end_byte, around)

    def _add(self, symbol: Symbol) -> None:
        if symbol.kind in self.grammar.open:
            self._close(symbol)
        siblings = self.stack[-1].children if self.stack else self.roots
        before = siblings[-1] if siblings else None
        if before is not None and self._is_clause(before, symbol):
            before.end = symbol.end
            self.stack.append(before)
            return
        siblings.append(symbol)
        self.stack.append(symbol)

    def _is_clause(self, before: Symbol, symbol: Symbol) -> bool:
        """Return whether `symbol` is another clause of `before`, such as another equation of a Haskell function."""
        same = symbol.kind in self.grammar.clauses and (before.kind, before.name) == (symbol.kind, symbol.name)
        return same and not symbol.sentence

    def _close(self, symbol: Symbol) -> None:
        """End the open packages where the package `symbol` begins. Without braces, `symbol` extends to the end of
        what encloses it.
        """
        while self.stack and self.stack[-1].kind in self.grammar.open and self.stack[-1].end == self.size:
            last = self.stack.pop()
            last.end = last.start + len(self.data[last.start : symbol.start].rstrip())
        if self.data[symbol.end - 1 : symbol.end] != b"}":
            symbol.end = self.stack[-1].end if self.stack else self.size

    def _symbol(self, node: Node, kind: str, name: str, prototype: bool) -> Symbol:
        outer = self._wrapped(node)
        start, comment, attributes = self.above.take(outer.start_byte, self.stack[-1].start if self.stack else 0)
        tail = self.size if outer.type == "file_scoped_namespace_declaration" else outer.end_byte  # of C#
        head = node if outer.type == "decorated_definition" else outer
        end = start + len(self.data[start:tail].rstrip())
        made = Symbol(
            kind,
            name,
            start,
            min(end, self.stack[-1].end) if self.stack else end,
            head.start_byte,
            signature(head, node, self.data),
            docstring(node, self.data) or comment,
            attributes + self.data[outer.start_byte : head.start_byte][:1000].decode("utf-8", "replace"),
            owner_of(node, self.data),
            prototype,
        )
        self.bodiless = made, outer.end_byte
        return made

    def _wrapped(self, node: Node) -> Node:
        """Return the outermost wrapper (such as `export`) that contains `node` and no code after it, or `node` itself."""
        wrappers, self.wrappers = self.wrappers, []
        for each in wrappers:
            inside = each.start_byte <= node.start_byte and node.end_byte <= each.end_byte <= node.end_byte + 8
            if inside and self.data[node.end_byte : each.end_byte].strip() in (b"", b";"):
                return each
        return node


def count(found: list[Symbol]) -> int:
    """Count the definitions at all levels of nesting."""
    return sum(1 for _ in all_symbols(found))


def all_symbols(found: list[Symbol]) -> Iterator[Symbol]:
    """Yield the definitions at all levels of nesting in source order."""
    for each in found:
        yield each
        yield from all_symbols(each.children)
