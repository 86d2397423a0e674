"""Describes how the definitions of one language appear in its syntax tree."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from attrs import field, frozen

if TYPE_CHECKING:
    from tree_sitter import Node

BINDING = "binding"
"""The kind of a node that binds a name to a value. Only functions and classes become items."""

PROTOTYPE = "prototype"
"""The kind of a declaration in C and similar languages.

The declaration of a function becomes an item if the file does not define the function, and a `typedef` if it names a
struct, union, or enum without a name.
"""

_HOLDING = "class interface enum struct trait impl record union object protocol extension mixin actor instance"
CONTAINERS = frozenset(_HOLDING.split())
"""The kinds of definitions in which functions are methods."""

EXTRA = "code"
"""The extra of CiteKit that installs the large grammars and the grammars of less common languages."""

KindOf = Callable[["Node", str, str | None, bytes], str]
"""Maps (node, listed kind, kind of the enclosing definition, program) to a kind; "" if the node defines nothing."""

NameOf = Callable[["Node", bytes], str]
"""Maps (node, program) to the name that the node defines, or "" if it has no name."""


def words(text: str) -> frozenset[str]:
    """Return the words of `text`, which is split at whitespace."""
    return frozenset(text.split())


def _kinds(text: str) -> dict[str, str]:
    """Return the outline type of each node type. Each line of `text` has an outline type and its node types."""
    rows = [row.split() for row in text.splitlines() if row.strip()]
    return {each: kind for kind, *types in rows for each in types}


@frozen
class Grammar:
    """Describes how definitions appear in the syntax trees of one language.

    - `package`: the tree-sitter package; `function`: the function in it that returns the language.
    - `kinds`: maps a node type, as listed in the grammar's `node-types.json`, to the type of an outline item.
    - `wrappers`: nodes that may contain a definition and belong to it, such as decorators and `export`.
    - `above`: nodes that belong to the definition right after them, such as comments and attributes.
    - `tail`: nodes that follow a definition and belong to it.
    - `clauses`: types of items that are merged with an adjacent item of the same name.
    - `open`: types of items that extend to the next item of one of these types.
    - `kind`, `name`: functions that return the type and the name of a node, for languages that need special
      rules.
    - `extra`: the extra of CiteKit that installs the package, or None if the default installation includes it.
    """

    package: str
    kinds: Mapping[str, str] = field(converter=_kinds)
    wrappers: frozenset[str] = field(default="", converter=words)
    above: frozenset[str] = field(default="comment", converter=words)
    function: str = "language"
    tail: frozenset[str] = field(default="", converter=words)
    clauses: frozenset[str] = field(default="", converter=words)
    open: frozenset[str] = field(default="", converter=words)
    kind: KindOf | None = None
    name: NameOf | None = None
    extra: str | None = None

    @property
    def wanted(self) -> frozenset[str]:
        """The types of the syntax tree nodes that the outliner visits."""
        return self.wrappers | self.above | self.tail | frozenset(self.kinds)
