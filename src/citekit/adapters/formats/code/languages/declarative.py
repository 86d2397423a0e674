"""Grammars of the declarative languages Haskell and SQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citekit.adapters.formats.code.grammar import EXTRA, Grammar
from citekit.adapters.formats.code.names import first_child, kind_of, text_of

if TYPE_CHECKING:
    from tree_sitter import Node


def _haskell_kind(node: Node, listed: str, parent: str | None, data: bytes) -> str:
    """Return the outline type of a Haskell node, or "".

    A type signature is an item only inside a class, as a method.
    """
    if node.type == "signature":
        return "method" if parent == "class" else ""
    if listed == "function" and parent in ("function", "method"):
        return ""
    if node.type in ("foreign_import", "pattern_synonym"):
        return listed
    if node.type == "function" and node.child_by_field_name("match") is None:
        return ""
    return kind_of(node, listed, parent, data)


def _haskell_name(node: Node, data: bytes) -> str:
    name = node.child_by_field_name("name")
    if name is None and node.named_child_count and (infix := node.named_child(0)) is not None:
        name = infix.child_by_field_name("operator") if infix.type == "infix" else None
    if node.type in ("foreign_import", "pattern_synonym"):
        name = _declared(node)
    full_name = text_of(name, data).strip("()` ")
    if node.type == "instance":
        patterns = node.child_by_field_name("patterns")
        full_name = f"{full_name} {text_of(patterns, data, 80)}".strip()
    return full_name


def _declared(node: Node) -> Node | None:
    """Return the name node of a Haskell foreign import or pattern synonym, or None."""
    signature = node.child_by_field_name("signature")
    if signature is not None:
        return signature.child_by_field_name("name")
    equation = first_child(node)
    left = equation.child_by_field_name("synonym") if equation is not None else None
    if left is None:
        return None
    return left.child_by_field_name("operator") or left.child_by_field_name("function") or left


def _sql_name(node: Node, data: bytes) -> str:
    """Return the name of the object that an SQL statement creates, without the schema."""
    column = node.child_by_field_name("column")
    if column is not None:
        return text_of(column, data)
    named = next((each for each in node.named_children[:12] if each.type == "object_reference"), None)
    plain = next((each for each in node.named_children[:12] if each.type == "identifier"), None)
    name = named.child_by_field_name("name") if named is not None else plain
    return text_of(name if name is not None else named, data)


GRAMMARS = {
    "haskell": Grammar(
        "tree_sitter_haskell",
        """
        function function bind signature
        class class
        instance instance
        type data_type newtype type_synonym data_family type_family type_instance
        function foreign_import pattern_synonym
        """,
        above="comment haddock signature",
        clauses="function method",
        kind=_haskell_kind,
        name=_haskell_name,
        extra=EXTRA,
    ),
    "sql": Grammar(
        "tree_sitter_sql",
        """
        table create_table
        view create_view create_materialized_view
        function create_function
        procedure create_procedure
        trigger create_trigger
        index create_index
        type create_type
        schema create_schema
        """,
        "statement",
        above="comment marginalia",
        name=_sql_name,
        extra=EXTRA,
    ),
}
