"""Grammars of C, C++, Objective-C, and Zig."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citekit.adapters.formats.code.grammar import EXTRA, Grammar
from citekit.adapters.formats.code.names import kind_of, name_of, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_C = """
struct struct_specifier
union union_specifier
enum enum_specifier
function function_definition
prototype declaration type_definition
"""


_MEMBERS = frozenset({"method_declaration", "method_definition"})
_NAMES = frozenset({"identifier", "type_identifier"})


def _objc_kind(node: Node, listed: str, parent: str | None, data: bytes) -> str:
    return "method" if node.type in _MEMBERS else kind_of(node, listed, parent, data)


def _objc_name(node: Node, data: bytes) -> str:
    """Return the name of an Objective-C type, or the selector of a method, such as `insert:at:`."""
    if node.type in _MEMBERS:
        return _selector(node, data)
    if node.type in ("class_interface", "class_implementation", "protocol_declaration"):
        return text_of(next((each for each in node.named_children[:6] if each.type in _NAMES), None), data)
    return name_of(node, data)


def _selector(node: Node, data: bytes) -> str:
    parts = []
    for each in node.named_children[:60]:
        if each.type == "identifier":
            parts.append(text_of(each, data))
        elif each.type == "method_parameter":
            parts.append(":")
    return "".join(parts)


_ZIG = {"struct_declaration": "struct", "enum_declaration": "enum", "union_declaration": "union"}


def _zig_kind(node: Node, listed: str, parent: str | None, data: bytes) -> str:
    if node.type == "variable_declaration":
        return next((_ZIG[each.type] for each in node.named_children[:6] if each.type in _ZIG), "")
    return kind_of(node, listed, parent, data)


def _zig_name(node: Node, data: bytes) -> str:
    if node.type == "function_declaration":
        return name_of(node, data)
    named = ("identifier", "string")
    return text_of(next((each for each in node.named_children[:6] if each.type in named), None), data)


GRAMMARS = {
    "c": Grammar("tree_sitter_c", _C),
    "cpp": Grammar(
        "tree_sitter_cpp",
        f"""{_C}
        class class_specifier
        namespace namespace_definition
        type concept_definition
        prototype field_declaration
        """,
        "template_declaration",
    ),
    "objc": Grammar(
        "tree_sitter_objc",
        f"""{_C}
        class class_interface class_implementation
        protocol protocol_declaration
        method method_declaration method_definition
        """,
        "implementation_definition",
        kind=_objc_kind,
        name=_objc_name,
        extra=EXTRA,
    ),
    "zig": Grammar(
        "tree_sitter_zig",
        """
        function function_declaration
        struct variable_declaration
        test test_declaration
        """,
        kind=_zig_kind,
        name=_zig_name,
        extra=EXTRA,
    ),
}
