"""Describes how the definitions of one language appear in its syntax tree."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from attrs import field, frozen

if TYPE_CHECKING:
    from tree_sitter import Node

BINDING = "binding"
"""The kind of a node that binds a name to a value. It becomes a function if the value is one, otherwise nothing."""

PROTOTYPE = "prototype"
"""The kind of a declaration. It becomes a function if the file does not define that function, otherwise nothing."""

_HOLDING = "class interface enum struct trait impl record union object protocol extension mixin actor instance"
CONTAINERS = frozenset(_HOLDING.split())
"""Kinds whose functions are methods."""

EXTRA = "code"
"""The extra that installs the grammars that are too large for the default installation."""

KindOf = Callable[["Node", str, str | None, bytes], str]
"""Maps (node, listed kind, kind of the enclosing definition, program) to a kind, or to "" if the node defines nothing."""

NameOf = Callable[["Node", bytes], str]
"""Maps (node, program) to the name that the node defines, or "" if it has no name."""


def words(text: str) -> frozenset[str]:
    """Returns the words of a text as a set."""
    return frozenset(text.split())


def _kinds(text: str) -> dict[str, str]:
    """Parses rows that consist of a kind and its node types."""
    rows = [row.split() for row in text.splitlines() if row.strip()]
    return {each: kind for kind, *types in rows for each in types}


@frozen
class Grammar:
    """The grammar of one language.

    `kinds` maps a node type, as listed in the grammar's `node-types.json`, to the type of an outline item. `wrappers` are
    nodes that may contain a definition and belong to it (decorators, `export`). `above` are nodes that belong to the
    definition right after them (comments, attributes). `tail` are nodes that follow a definition and belong to it. Neighbors
    of a kind in `clauses` that have the same name are one definition. A definition of a kind in `open` extends to the next
    one of a kind in `open`. `kind` and `name` handle languages whose nodes have no plain fields for them. `extra` names the
    citekit extra that installs the package, or is None if the default installation includes it.
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
        """The node types that the outliner visits."""
        return self.wrappers | self.above | frozenset(self.kinds)
