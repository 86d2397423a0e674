"""Finds the names and types of definitions in languages whose grammars use the same field names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from citekit.adapters.formats.code.grammar import BINDING, CONTAINERS, PROTOTYPE

if TYPE_CHECKING:
    from tree_sitter import Node

_FUNCTION_VALUES = frozenset(
    ["arrow_function", "function_expression", "generator_function", "function", "lambda", "anonymous_function"]
)
_KEYWORDS = frozenset(["if", "for", "while", "switch", "return", "else", "sizeof", "defined", "catch", "do"])
"""Keywords that appear in the position of a name after text that the C grammar cannot parse."""

_MACRO = re.compile(r"[A-Z][A-Z0-9_]+")
"""Matches the name of a macro that defines a function in C, such as `TEST(Coding, Numbers) { ... }`."""

_CALL_LIMIT = 120
_UNWRAPPED = 4
_AGGREGATES = {"struct_specifier": "struct", "union_specifier": "union", "enum_specifier": "enum"}
_NEEDS_BODY = frozenset({*_AGGREGATES, "class_specifier", "mod_item", "namespace_definition"})
_GO_TYPES = {"struct_type": "struct", "interface_type": "interface"}
_DECLARATOR_LIMIT = 20


def first_child(node: Node) -> Node | None:
    """Return the first named child of a syntax tree node, or None."""
    return node.named_child(0) if node.named_child_count else None


def text_of(node: Node | None, data: bytes, limit: int = 1000) -> str:
    """Return the first `limit` bytes of a node's text, decoded; "" if `node` is None."""
    if node is None:
        return ""
    return data[node.start_byte : min(node.end_byte, node.start_byte + limit)].decode("utf-8", "replace")


def kind_of(node: Node, kind: str, parent: str | None, _data: bytes = b"") -> str:
    """Return the outline type of `node`, or "" if the node defines nothing.

    `kind` is its type in `Grammar.kinds`, and `parent` the outline type of the enclosing definition.
    """
    if node.type in _NEEDS_BODY and node.child_by_field_name("body") is None:
        return ""
    if kind == PROTOTYPE:
        kind = _declared(node, parent)
    elif node.type == "type_spec":
        kind = _GO_TYPES.get(_type_of(node.child_by_field_name("type")), kind)
    if kind != "function":
        return kind
    outside = node.type == "method_declaration" or _type_of(_declarator(node)) == "qualified_identifier"
    return "method" if outside else method_or(kind, parent)


def method_or(kind: str, parent: str | None) -> str:
    """Return `method` if `kind` is a function and `parent` is a class or a similar type, otherwise `kind`."""
    return "method" if kind == "function" and parent in CONTAINERS else kind


def bound_kind(node: Node, kind: str, parent: str | None, data: bytes) -> str:
    """See `kind_of`. This also recognizes a name that is assigned a function or a class."""
    return method_or(_bound(node), parent) if kind == BINDING else kind_of(node, kind, parent, data)


def name_of(node: Node, data: bytes) -> str:
    """Return the name of a definition, which can be qualified, such as `Shape::area` in C++, or ""."""
    if node.type == "impl_item":
        return _implementation(node, data)
    if node.type in ("assignment_expression", "assignment"):
        left = node.child_by_field_name("left")
        return text_of(left.child_by_field_name("property") or left, data) if left is not None else ""
    fields = ("name", "property", "key")
    named = next((each for name in fields if (each := node.child_by_field_name(name)) is not None), None)
    if named is None:
        return _declared_name(node, data)
    if named.type == "template_type":
        named = named.child_by_field_name("name") or named
    return f"~{text_of(named, data)}" if node.type == "destructor_declaration" else text_of(named, data)


def _declared_name(node: Node, data: bytes) -> str:
    """Return the name of a C, C++, or C# definition, or the operator that it overloads."""
    if node.type in ("operator_declaration", "conversion_operator_declaration"):
        sign = node.child_by_field_name("operator") or node.child_by_field_name("type")
        return f"operator {text_of(sign, data)}"
    chain = _declarators(node)
    cast = next((each for each in chain if each.type == "operator_cast"), None)
    bare = text_of(cast, data).partition("(")[0].strip() if cast is not None else text_of(_declarator(node), data)
    if node.type == "function_definition" and node.child_by_field_name("type") is None and _MACRO.fullmatch(bare):
        bare = " ".join(text_of(node.child_by_field_name("declarator"), data, _CALL_LIMIT).split())
    return "" if bare in _KEYWORDS else bare


def owner_of(node: Node, data: bytes) -> str:
    """Return the type that a Go method belongs to, or "" for other definitions."""
    receiver = node.child_by_field_name("receiver")
    if receiver is None:
        return ""
    words = text_of(receiver, data).strip("() ").partition("[")[0].split()
    return words[-1].lstrip("*") if words else ""


def _type_of(node: Node | None) -> str:
    return "" if node is None else node.type


def _bound(node: Node) -> str:
    value = node.child_by_field_name("right" if node.type.startswith("assignment") else "value")
    value = _unwrapped(value)
    if value is None:
        return ""
    if value.type == "class":
        return "" if value.child_by_field_name("name") is not None else "class"
    return "function" if value.type in _FUNCTION_VALUES else ""


def _unwrapped(value: Node | None) -> Node | None:
    """Return the expression inside parentheses and calls, or None.

    In older JavaScript, `(function () { ... })()` may define a class.
    """
    for _ in range(_UNWRAPPED):
        if value is None or value.type not in ("parenthesized_expression", "call_expression"):
            break
        value = first_child(value) if value.type[0] == "p" else value.child_by_field_name("function")
    return value


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


def _declarators(node: Node) -> list[Node]:
    """Return the nested C declarators below a declaration, outermost first. The last is normally the name."""
    chain: list[Node] = []
    inner = node.child_by_field_name("declarator")
    while inner is not None and len(chain) < _DECLARATOR_LIMIT:
        chain.append(inner)
        below = inner.child_by_field_name("declarator")
        if below is None and inner.type in (
            "reference_declarator",
            "parenthesized_declarator",
            "attributed_declarator",
        ):
            last = inner.type != "attributed_declarator"
            below = inner.named_child(inner.named_child_count - 1 if last else 0) if inner.named_child_count else None
        inner = below
    return chain


def _declarator(node: Node) -> Node | None:
    chain = _declarators(node)
    return chain[-1] if chain else None


def _implementation(node: Node, data: bytes) -> str:
    kind = _plain(text_of(node.child_by_field_name("type"), data))
    trait = _plain(text_of(node.child_by_field_name("trait"), data))
    return f"impl {trait} for {kind}" if trait else f"impl {kind}"


def _plain(name: str) -> str:
    """Return a type name without its type parameters, such as `List` for `List<int>`."""
    return name.partition("<")[0].strip()
