"""What the outliner has to know of one language."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from attrs import field, frozen

if TYPE_CHECKING:
    from tree_sitter import Node

BINDING = "binding"
"""A name bound to a value: a function where its value is one, else nothing."""

PROTOTYPE = "prototype"
"""A declaration: a function where it declares one that the file does not define, else nothing."""

_HOLDING = "class interface enum struct trait impl record union object protocol extension mixin actor instance"
CONTAINERS = frozenset(_HOLDING.split())
"""Kinds whose functions are methods."""

EXTRA = "code"
"""The extra that installs the grammars too large for everybody."""

KindOf = Callable[["Node", str, str | None, bytes], str]
"""(node, the kind its type is listed as, the kind of the definition around it, the program) to its kind, "" for none."""

NameOf = Callable[["Node", bytes], str]
"""(node, the program) to the name it defines, "" for none."""


def words(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())


def _kinds(text: str) -> dict[str, str]:
    """Rows of a kind and the node types that are of it."""
    rows = [row.split() for row in text.splitlines() if row.strip()]
    return {each: kind for kind, *types in rows for each in types}


@frozen
class Grammar:
    """One language: `kinds` maps a node type to the type of its draft. Node types are those of `node-types.json`.

    `wrappers` are nodes that may hold a definition and belong to it (decorators, `export`); `above` are those that
    belong to the definition they directly precede (comments, attributes); `tail` those that follow one and belong to it.
    `clauses` are kinds of which neighbours of one name are one definition; `open` are kinds that reach to the next of
    their kind. `kind` and `name` are for languages whose nodes do not say these plainly; `extra` installs the package
    where citekit alone does not.
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
        """Every node type that matters here."""
        return self.wrappers | self.above | frozenset(self.kinds)
