"""Grammars of scripting languages: Python, Ruby, PHP, Bash, Lua, Perl, PowerShell, Elixir, and Julia."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citekit.adapters.formats.code.grammar import EXTRA, Grammar
from citekit.adapters.formats.code.names import bound_kind, first_child, kind_of, method_or, name_of, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_TITLE_LIMIT = 120


def _lua_kind(node: Node, _listed: str, _parent: str | None, data: bytes) -> str:
    """Return "function" for a Lua function that has a name or is assigned to one, otherwise ""."""
    if node.type == "function_declaration":
        return "function"
    return "function" if _lua_name(node, data) else ""


def _lua_name(node: Node, data: bytes) -> str:
    if node.type != "assignment_statement":
        value = node.child_by_field_name("value")
        plain = node.type == "function_declaration" or (value is not None and value.type == "function_definition")
        return name_of(node, data) if plain else ""
    lists = node.named_children[:2]
    if len(lists) != 2 or lists[1].named_child_count != 1 or lists[0].named_child_count != 1:
        return ""
    value = lists[1].named_child(0)
    return text_of(lists[0], data) if value is not None and value.type == "function_definition" else ""


_SUITES = frozenset(["describe", "context", "it", "specify", "feature", "scenario", "test", "should"])


def _ruby_kind(node: Node, listed: str, parent: str | None, data: bytes) -> str:
    if node.type == "call":
        return "test" if _ruby_title(node, data) else ""
    return kind_of(node, listed, parent, data)


def _ruby_name(node: Node, data: bytes) -> str:
    return _ruby_title(node, data) if node.type == "call" else name_of(node, data)


def _ruby_title(node: Node, data: bytes) -> str:
    """Return the title of a Ruby test block, such as `describe "a thing" do ... end`, or ""."""
    if (
        node.child_by_field_name("block") is None
        or text_of(node.child_by_field_name("method"), data, 20) not in _SUITES
    ):
        return ""
    arguments = node.child_by_field_name("arguments")
    first = first_child(arguments) if arguments is not None else None
    return text_of(first, data, _TITLE_LIMIT) if first is not None and first.type in ("string", "constant") else ""


_ELIXIR = {
    "defmodule": "module",
    "defprotocol": "protocol",
    "defimpl": "impl",
    "def": "function",
    "defp": "function",
    "defdelegate": "function",
    "defmacro": "macro",
    "defmacrop": "macro",
    "defguard": "macro",
    "defguardp": "macro",
    "test": "test",
    "describe": "test",
}


def _elixir_kind(node: Node, _listed: str, _parent: str | None, data: bytes) -> str:
    target = node.child_by_field_name("target")
    if target is None or target.type != "identifier":
        return ""
    return _ELIXIR.get(text_of(target, data, 20), "")


def _elixir_name(node: Node, data: bytes) -> str:
    arguments = next((each for each in node.named_children[:3] if each.type == "arguments"), None)
    head = first_child(arguments) if arguments is not None else None
    for _ in range(4):
        inner = None
        if head is not None and head.type == "binary_operator":
            inner = head.child_by_field_name("left")
        elif head is not None and head.type == "call":
            inner = head.child_by_field_name("target")
        head = inner or head
    name = text_of(head, data, _TITLE_LIMIT)
    kinds = ("alias", "identifier", "string", "operator_identifier")
    return name if head is not None and head.type in kinds else ""


_JULIA_PLAIN = frozenset({"identifier", "field_expression", "operator"})


def _julia_kind(node: Node, listed: str, parent: str | None, data: bytes) -> str:
    if node.type != "assignment":
        return kind_of(node, listed, parent, data)
    left = first_child(node)
    depth = 0
    while left is not None and left.type in ("where_expression", "typed_expression") and depth < 4:
        left, depth = first_child(left), depth + 1
    return "function" if left is not None and left.type == "call_expression" else ""


def _julia_name(node: Node, data: bytes) -> str:
    """Return the name of a Julia definition without parameters and types, or "" if it is not found."""
    named = node.child_by_field_name("name")
    inner = named if named is not None else first_child(node)
    for _ in range(8):
        if inner is None or inner.type in _JULIA_PLAIN:
            break
        inner = first_child(inner)
    return text_of(inner, data) if inner is not None and inner.type in _JULIA_PLAIN else ""


def _perl_kind(_node: Node, listed: str, parent: str | None, _data: bytes) -> str:
    return listed if listed != "function" else method_or(listed, parent)


_POWERSHELL_NAMES = frozenset({"function_name", "simple_name"})


def _powershell_name(node: Node, data: bytes) -> str:
    return text_of(next((each for each in node.named_children[:8] if each.type in _POWERSHELL_NAMES), None), data)


GRAMMARS = {
    "python": Grammar(
        "tree_sitter_python",
        """
        class class_definition
        function function_definition
        binding assignment
        """,
        "decorated_definition expression_statement",
        kind=bound_kind,
    ),
    "ruby": Grammar(
        "tree_sitter_ruby",
        """
        class class
        module module
        function method singleton_method
        test call
        """,
        kind=_ruby_kind,
        name=_ruby_name,
    ),
    "php": Grammar(
        "tree_sitter_php",
        """
        namespace namespace_definition
        class class_declaration
        interface interface_declaration
        trait trait_declaration
        enum enum_declaration
        function function_definition method_declaration
        binding assignment_expression
        """,
        "expression_statement",
        function="language_php",
        kind=bound_kind,
    ),
    "bash": Grammar("tree_sitter_bash", "function function_definition"),
    "lua": Grammar(
        "tree_sitter_lua",
        "function function_declaration assignment_statement field",
        "variable_declaration",
        kind=_lua_kind,
        name=_lua_name,
    ),
    "perl": Grammar(
        "tree_sitter_perl",
        """
        package package_statement
        class class_statement role_statement
        function subroutine_declaration_statement method_declaration_statement
        """,
        above="comment pod",
        open="package class",
        kind=_perl_kind,
        extra=EXTRA,
    ),
    "powershell": Grammar(
        "tree_sitter_powershell",
        """
        function function_statement class_method_definition
        class class_statement
        enum enum_statement
        """,
        name=_powershell_name,
        extra=EXTRA,
    ),
    "elixir": Grammar(
        "tree_sitter_elixir",
        "function call",
        above="comment unary_operator",
        clauses="function macro",
        kind=_elixir_kind,
        name=_elixir_name,
        extra=EXTRA,
    ),
    "julia": Grammar(
        "tree_sitter_julia",
        """
        module module_definition
        function function_definition assignment
        macro macro_definition
        struct struct_definition
        type abstract_definition primitive_definition
        """,
        above="line_comment block_comment string_literal",
        kind=_julia_kind,
        name=_julia_name,
        extra=EXTRA,
    ),
}
