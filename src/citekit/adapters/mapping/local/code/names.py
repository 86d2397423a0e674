"""What a definition is called, and what it is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from citekit.adapters.mapping.local.code.grammars import BINDING, CONTAINERS, PROTOTYPE

if TYPE_CHECKING:
    from tree_sitter import Node

_FUNCTION_VALUES = frozenset({"arrow_function", "function_expression", "generator_function", "function"})
_AGGREGATES = {"struct_specifier": "struct", "union_specifier": "union", "enum_specifier": "enum"}
_NEEDS_BODY = frozenset({*_AGGREGATES, "class_specifier", "mod_item", "namespace_definition"})
_GO_TYPES = {"struct_type": "struct", "interface_type": "interface"}
_DECLARATOR_LIMIT = 20
_GENERIC = re.compile(r"\s*<.*", re.DOTALL)
_RECEIVER = re.compile(r"(\w+)\s*(?:\[[^\]]*\])?\s*\)\s*\Z")


def text_of(node: Node | None, data: bytes, limit: int = 1000) -> str:
    """The text of a node of the program `data`, cut to `limit` bytes; empty for none."""
    if node is None:
        return ""
    return data[node.start_byte : min(node.end_byte, node.start_byte + limit)].decode("utf-8", "replace")


def kind_of(node: Node, kind: str, parent: str | None) -> str | None:
    """The type of the draft of `node`, whose type stands in the table as `kind`, inside a draft of type `parent`.

    None where the node defines nothing.
    """
    if node.type in _NEEDS_BODY and node.child_by_field_name("body") is None:
        return None
    if kind == BINDING:
        kind = _bound(node)
    elif kind == PROTOTYPE:
        kind = _declared(node, parent)
    elif node.type == "type_spec":
        kind = _GO_TYPES.get(_type_of(node.child_by_field_name("type")), kind)
    return _method_or(kind, node, parent) or None


def name_of(node: Node, data: bytes) -> str:
    """The bare name of a definition in the program `data`; empty for one without a name."""
    if node.type == "impl_item":
        return _implementation(node, data)
    if node.type == "assignment_expression":
        left = node.child_by_field_name("left")
        return text_of(left.child_by_field_name("property") or left, data) if left is not None else ""
    name = node.child_by_field_name("name") or node.child_by_field_name("property")
    bare = text_of(name if name is not None else _declarator(node), data)
    receiver = node.child_by_field_name("receiver")
    owner = _RECEIVER.search(text_of(receiver, data)) if receiver is not None else None
    return f"{owner[1]}.{bare}" if owner and bare else bare


def _type_of(node: Node | None) -> str:
    return "" if node is None else node.type


def _bound(node: Node) -> str:
    value = node.child_by_field_name("right" if node.type == "assignment_expression" else "value")
    if value is None:
        return ""
    if value.type == "class":
        return "" if value.child_by_field_name("name") is not None else "class"
    return "function" if value.type in _FUNCTION_VALUES else ""


def _declared(node: Node, parent: str | None) -> str:
    if node.type == "type_definition":
        aggregate = node.child_by_field_name("type")
        named = aggregate is None or aggregate.child_by_field_name("name") is not None
        body = None if aggregate is None else aggregate.child_by_field_name("body")
        return "" if named or body is None else _AGGREGATES.get(_type_of(aggregate), "")
    if parent in ("function", "method"):
        return ""
    chain = {each.type for each in _declarators(node)}
    return "function" if "function_declarator" in chain and "parenthesized_declarator" not in chain else ""


def _method_or(kind: str, node: Node, parent: str | None) -> str:
    if kind != "function":
        return kind
    outside = node.type == "method_declaration" or _type_of(_declarator(node)) == "qualified_identifier"
    return "method" if parent in CONTAINERS or outside else kind


def _declarators(node: Node) -> list[Node]:
    """The chain of C declarators below a declaration, its name last."""
    chain: list[Node] = []
    inner = node.child_by_field_name("declarator")
    while inner is not None and len(chain) < _DECLARATOR_LIMIT:
        chain.append(inner)
        below = inner.child_by_field_name("declarator")
        if below is None and inner.type in ("reference_declarator", "parenthesized_declarator"):
            below = inner.named_child(inner.named_child_count - 1) if inner.named_child_count else None
        inner = below
    return chain


def _declarator(node: Node) -> Node | None:
    chain = _declarators(node)
    return chain[-1] if chain else None


def _implementation(node: Node, data: bytes) -> str:
    kind = _GENERIC.sub("", text_of(node.child_by_field_name("type"), data))
    trait = _GENERIC.sub("", text_of(node.child_by_field_name("trait"), data))
    return f"impl {trait} for {kind}" if trait else f"impl {kind}"
